package diagnose_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/probedoctor/probedoctor/internal/diagnose"
	"github.com/probedoctor/probedoctor/sources/evidence"
)

// withEvents adds failing pods' event rows to the saturated-pool incident until it has n events.
func withEvents(t testing.TB, n int) *evidence.Set {
	return set(t, incidentFiles(t, everything), func(s *evidence.Set) {
		var old []evidence.Event
		for _, e := range s.Events {
			if e.Reason == "Unhealthy" {
				old = append(old, e)
			}
		}
		for i := 0; len(s.Events) < n; i++ {
			e := old[i%len(old)]
			e.First = e.First.Add(time.Duration(i%900) * time.Second / 4)
			e.Last = e.First.Add(10 * time.Second)
			e.Message += fmt.Sprint(" #", i)
			e.Name = fmt.Sprint("more.", i)
			s.Events = append(s.Events, e)
		}
	})
}

// BenchmarkReevaluate is one diagnosis of an incident with 5,000 events from evidence in memory, as scrubbing through time
// does it.
func BenchmarkReevaluate(b *testing.B) {
	s := withEvents(b, 5000)
	k := knowledge(b)
	asOf := s.End.Add(-time.Minute)
	b.Run("end", func(b *testing.B) {
		for b.Loop() {
			diagnose.Run(s, k, diagnose.Options{})
		}
	})
	b.Run("asOf", func(b *testing.B) {
		for b.Loop() {
			diagnose.Run(s, k, diagnose.Options{AsOf: asOf})
		}
	})
}
