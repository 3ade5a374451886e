package catalog

import "testing"

func TestLoadSmoke(t *testing.T) {
	c, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	q, _ := c.PromQL("pool.utilisation", "tomcat-micrometer", Hints{Namespace: "shop", PodRegex: "checkout-.+"})
	t.Log(q)
	for _, s := range c.stacks {
		for _, n := range s.Provides() {
			q, _ := c.PromQL(n, s.ID, Hints{Namespace: "shop", PodRegex: "checkout-.+", HealthPath: "/actuator/health/readiness"})
			t.Log(s.ID, n, q)
		}
	}
}
