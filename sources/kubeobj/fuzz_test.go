package kubeobj

import (
	"encoding/json"
	"testing"
	"unicode/utf8"

	"github.com/probedoctor/probedoctor/sources/evidence"
)

// FuzzKubeobj gives any tree to Add: it must neither panic nor add items that break the model's promises.
func FuzzKubeobj(f *testing.F) {
	f.Add([]byte(podJSON))
	f.Add([]byte(`{"kind":"List","items":[{"kind":"Event","type":"Warning","count":-3,"message":"spec.containers{a}: x"}]}`))
	f.Add([]byte(`{"kind":"EndpointSlice","apiVersion":"v1","endpoints":[{"addresses":[1,"a"],"conditions":[]}],"ports":[{"port":"x"}]}`))
	f.Add([]byte(`{"kind":"HorizontalPodAutoscaler","spec":{"metrics":[{"resource":{"name":"cpu"}}]},"status":{"currentMetrics":[{}]}}`))
	f.Add([]byte(`{"probes":{"liveness":{"spec":{"periodSeconds":1e308}}},"items":{"items":[[[]]]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var obj map[string]any
		if json.Unmarshal(data, &obj) != nil {
			return
		}
		var stats Stats
		set := &evidence.Set{}
		n, _ := Add(set, obj, Origin{Source: "kubernetes", Stats: &stats})
		if n != size(set) {
			t.Errorf("%d items reported, %d added", n, size(set))
		}
		if stats.Events-stats.LeftOut != len(set.Events) {
			t.Errorf("%d events seen, %d left out, %d kept", stats.Events, stats.LeftOut, len(set.Events))
		}
		for _, e := range set.Events {
			if e.Count < 1 || e.Last.Before(e.First) {
				t.Errorf("event with count %d from %v to %v", e.Count, e.First, e.Last)
			}
			if e.Combined && e.Container != "" {
				t.Error("a combined event names a container")
			}
			if utf8.Valid(data) && !utf8.ValidString(e.Excerpt) {
				t.Errorf("invalid UTF-8 in %q", e.Excerpt)
			}
		}
		set.Finish(evidence.FinishOptions{})
	})
}
