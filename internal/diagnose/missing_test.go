package diagnose_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/probedoctor/probedoctor/sources/evidence"
)

// TestTakingEvidenceAway: with fewer objects the incident is less certain, but nothing false is said and no other cause is
// named. Refusals of pods of which nothing is known are noise as likely as not.
func TestTakingEvidenceAway(t *testing.T) {
	starting := []string{"4nwbk", "pd78j", "xq2ls", "6hvzc", "c2kxd", "gr5tm", "zl9fb"}
	for _, c := range []struct {
		name   string
		change func(*evidence.Set)
	}{
		{"no pods", func(s *evidence.Set) { s.Pods = nil }},
		{"only pods that fail", func(s *evidence.Set) {
			s.Pods = slices.DeleteFunc(s.Pods, func(p evidence.Pod) bool {
				return slices.ContainsFunc(starting, func(end string) bool { return strings.HasSuffix(p.Object.Name, end) })
			})
		}},
		{"one pod", func(s *evidence.Set) { s.Pods = s.Pods[:1] }},
		{"no kills", func(s *evidence.Set) {
			s.Events = slices.DeleteFunc(s.Events, func(e evidence.Event) bool { return e.Reason == "Killing" })
		}},
		{"neither pods nor starts nor kills", func(s *evidence.Set) {
			s.Pods = nil
			s.Events = slices.DeleteFunc(s.Events, func(e evidence.Event) bool { return e.Reason == "Killing" || e.Reason == "Started" })
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := run(t, set(t, incidentFiles(t, everything), c.change))
			first(t, d, "worker-pool-saturation")
			for _, rule := range []string{"text-refused", "pool-has-room", "whole-process-silent"} {
				if e := outcome(d, rule); e.Outcome == "true" {
					t.Errorf("%s is true: %s", rule, e.Statement)
				}
			}
			if s := d.Subject; s.Ready >= 0 && s.Desired-s.Ready > 1 {
				t.Errorf("%d of %d replicas are said to be ready; one is not", s.Ready, s.Desired)
			}
		})
	}
}

// TestKillsAlone: a container that a probe killed is a symptom also when no failure is in the input.
func TestKillsAlone(t *testing.T) {
	for text, kind := range map[string]string{
		"LAST SEEN   TYPE     REASON    OBJECT                         MESSAGE\n2m   Normal   Killing   pod/checkout-7d9c5b6f84-k4cwp   Container app failed liveness probe, will be restarted\n": "liveness-restart",
		"Container app failed startup probe, will be restarted\n": "startup-restart",
	} {
		d := run(t, set(t, fstest.MapFS{"a": {Data: []byte(text)}}, nil))
		if len(d.Symptoms) != 1 || d.Symptoms[0].Kind != kind || len(d.Symptoms[0].Refs) == 0 {
			t.Errorf("%q: symptoms %+v, not one %s", text, d.Symptoms, kind)
		}
	}
}

// TestEveryStatementIsCited goes over the recorded incidents: each statement has references, and each opens.
func TestEveryStatementIsCited(t *testing.T) {
	dirs, err := filepath.Glob("../../testdata/cases/*/expected.json")
	if err != nil || len(dirs) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	for _, d := range dirs {
		t.Run(filepath.Base(filepath.Dir(d)), func(t *testing.T) {
			refsResolve(t, run(t, set(t, os.DirFS(filepath.Dir(d)), nil)))
		})
	}
}
