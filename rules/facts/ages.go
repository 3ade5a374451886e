package facts

import (
	"time"

	"github.com/probedoctor/probedoctor/sources/evidence"
)

// Which pods fail by age: older ones that are full or leak, newer ones that are cold.

// aged are the workload's live pods with a known creation time, split into those that fail and those that do not.
type aged struct {
	failing, healthy []*evidence.Pod
}

func (in *Incident) aged() aged {
	return once(in, "aged", func() aged {
		var a aged
		for _, p := range in.livePods() {
			if p.Created.IsZero() {
				continue
			}
			if in.isFailing(p.Object.Name) {
				a.failing = append(a.failing, p)
			} else {
				a.healthy = append(a.healthy, p)
			}
		}
		return a
	})
}

func podRefs(ps []*evidence.Pod) []evidence.Ref {
	refs := make([]evidence.Ref, len(ps))
	for i, p := range ps {
		refs[i] = p.Ref
	}
	return refs
}

// createdInWindow are the live pods that were created after the incident began or up to ten minutes before.
func (in *Incident) createdInWindow() []*evidence.Pod {
	var out []*evidence.Pod
	if in.Start.IsZero() {
		return nil
	}
	for _, p := range in.livePods() {
		if !p.Created.IsZero() && p.Created.After(in.Start.Add(-10*time.Minute)) {
			out = append(out, p)
		}
	}
	return out
}

var ageFacts = []Fact{
	{
		Name: "ages.olderShare", Doc: "Chance that a failing pod is older than a pod that does not fail, over all pairs (the area under the ROC curve): 1 when all failing pods are older than all healthy ones, 0 when all are younger, 0.5 when age plays no part.",
		Type: Double, Unit: "ratio", Scope: ScopeIncident, Needs: []string{evidence.SourcePods, evidence.SourceEvents},
		Why: "older pods first points to saturation or leaks, newer ones first to cold starts", Collect: collectPods,
		Compute: func(in *Incident) Value {
			a := in.aged()
			if len(a.failing) == 0 || len(a.healthy) == 0 {
				return Unknown
			}
			older := 0.0
			for _, f := range a.failing {
				for _, h := range a.healthy {
					switch f.Created.Compare(h.Created) {
					case -1:
						older++
					case 0:
						older += 0.5
					}
				}
			}
			return known(older/float64(len(a.failing)*len(a.healthy)), append(podRefs(a.failing), podRefs(a.healthy)...)...)
		},
	},
	{
		Name: "ages.failing", Doc: "Age of the youngest failing pod when the incident began.",
		Type: Duration, Scope: ScopeIncident, Needs: []string{evidence.SourcePods, evidence.SourceEvents},
		Why: "old pods do not fail by starting", Collect: collectPods,
		Compute: func(in *Incident) Value {
			a := in.aged()
			if len(a.failing) == 0 || in.Start.IsZero() {
				return Unknown
			}
			var youngest time.Duration
			for i, p := range a.failing {
				if d := in.Start.Sub(p.Created); i == 0 || d < youngest {
					youngest = d
				}
			}
			return known(max(youngest, 0).Round(time.Second), podRefs(a.failing)...)
		},
	},
	{
		Name: "ages.newGreen", Doc: "Pods created during the incident, or up to ten minutes before, that are Ready and never failed once they had started.",
		Type: Int, Unit: "pods", Scope: ScopeIncident, Needs: []string{evidence.SourcePods, evidence.SourceEvents},
		Why: "new replicas that stay green beside failing old ones point to what fills up with use", Collect: collectPods,
		Compute: func(in *Incident) Value {
			if len(in.livePods()) == 0 || in.Start.IsZero() {
				return Unknown
			}
			n := int64(0)
			var refs []evidence.Ref
			for _, p := range in.createdInWindow() {
				if ready, ok := p.Ready(); ok && ready && !in.isFailing(p.Object.Name) {
					n++
					refs = append(refs, p.Ref)
				}
			}
			return known(n, refs...)
		},
	},
	{
		Name: "ages.newFailing", Doc: "Pods created during the incident, or up to ten minutes before, that fail after their start.",
		Type: Int, Unit: "pods", Scope: ScopeIncident, Needs: []string{evidence.SourcePods, evidence.SourceEvents},
		Why: "new replicas that fail point to cold starts or to the new version", Collect: collectPods,
		Compute: func(in *Incident) Value {
			if len(in.livePods()) == 0 || in.Start.IsZero() {
				return Unknown
			}
			n := int64(0)
			var refs []evidence.Ref
			for _, p := range in.createdInWindow() {
				if in.isFailing(p.Object.Name) {
					n++
					refs = append(refs, p.Ref)
				}
			}
			return known(n, refs...)
		},
	},
	{
		Name: "ages.onlyNewTemplate", Doc: "Whether only pods of the newest template fail while pods of an older template are healthy. Unknown when there is only one template.",
		Type: Bool, Scope: ScopeIncident, Needs: []string{evidence.SourcePods, evidence.SourceEvents},
		Why: "then the new version is at fault and rolling back helps at once", Collect: collectPods,
		Compute: onlyNewTemplate,
	},
}

func onlyNewTemplate(in *Incident) Value {
	newest := map[string]time.Time{}
	for _, p := range in.Pods {
		hash := template(p)
		if hash == "" || p.Created.IsZero() {
			continue
		}
		if t, ok := newest[hash]; !ok || p.Created.After(t) {
			newest[hash] = p.Created
		}
	}
	if len(newest) < 2 {
		return Unknown
	}
	latest := ""
	for _, h := range sortedKeys(newest) {
		if latest == "" || newest[h].After(newest[latest]) {
			latest = h
		}
	}
	failNew, failOld, okOld := 0, 0, 0
	var refs []evidence.Ref
	for _, p := range in.livePods() {
		ready, ok := p.Ready()
		bad := in.isFailing(p.Object.Name) || ok && !ready
		refs = append(refs, p.Ref)
		switch {
		case template(p) == latest && bad:
			failNew++
		case template(p) != latest && bad:
			failOld++
		case template(p) != latest && ok && ready:
			okOld++
		}
	}
	if failNew == 0 && failOld == 0 || okOld == 0 && failOld == 0 {
		return Unknown
	}
	return known(failNew > 0 && failOld == 0 && okOld > 0, refs...)
}
