package kubeobj

import (
	"fmt"
	"strings"

	"github.com/probedoctor/probedoctor/sources/evidence"
)

// addWorkload converts every controller of pods, and the PodTemplate.
func addWorkload(set *evidence.Set, t tree, at Origin) {
	kind := t.str("kind")
	m := metaOf(t, kind)
	spec, status := t.sub("spec"), t.sub("status")
	template := spec.sub("template")
	switch kind {
	case "CronJob":
		template = spec.sub("jobTemplate", "spec", "template")
	case "PodTemplate":
		template = t.sub("template")
	}
	w := evidence.Workload{
		Item: at.item(m.locator()), Object: m.object, Owner: m.owner, Labels: m.labels, Annotations: m.annotations,
		Selector: selector(spec), Created: m.created, Revision: m.annotations["deployment.kubernetes.io/revision"],
		Containers:   podContainers(template.sub("spec"), at),
		GraceSeconds: template.sub("spec").intOr("terminationGracePeriodSeconds", 0),
		// The template's annotations are those of the pods: that is where a mesh reads its own.
		MinReadySeconds: spec.intOr("minReadySeconds", 0), Conditions: conditions(status),
	}
	for k, v := range annotations(template.sub("metadata")) {
		if w.Annotations == nil {
			w.Annotations = map[string]string{}
		}
		if _, own := w.Annotations[k]; !own {
			w.Annotations[k] = v
		}
	}
	w.Desired, w.ReadyCount, w.Updated, w.Available = counts(kind, spec, status)
	w.Excerpt = workloadExcerpt(&w)
	set.Workloads = append(set.Workloads, w)
}

func selector(spec tree) map[string]string {
	if s := spec.sub("selector").strMap("matchLabels"); s != nil {
		return s
	}
	// A ReplicationController's selector is the map itself.
	if spec.sub("selector").sub("matchLabels") == nil && spec.sub("selector")["matchExpressions"] == nil {
		return spec.strMap("selector")
	}
	return nil
}

// counts gives the numbers of pods, -1 for those that are not known. The API leaves a count of zero out of a status, so
// with a status that a controller wrote a missing one is zero.
func counts(kind string, spec, status tree) (desired, ready, updated, available int) {
	zero := -1
	for _, key := range []string{"observedGeneration", "replicas", "currentNumberScheduled", "desiredNumberScheduled"} {
		if status.has(key) {
			zero = 0
		}
	}
	switch kind {
	case "DaemonSet":
		return status.intOr("desiredNumberScheduled", zero), status.intOr("numberReady", zero),
			status.intOr("updatedNumberScheduled", zero), status.intOr("numberAvailable", zero)
	case "Job":
		return spec.intOr("parallelism", -1), status.intOr("ready", -1), -1, -1
	case "CronJob", "PodTemplate":
		return -1, -1, -1, -1
	}
	updated = status.intOr("updatedReplicas", zero)
	if kind == "ReplicaSet" || kind == "ReplicationController" {
		updated = -1
	}
	return spec.intOr("replicas", -1), status.intOr("readyReplicas", zero), updated, status.intOr("availableReplicas", zero)
}

func workloadExcerpt(w *evidence.Workload) string {
	var b strings.Builder
	b.WriteString(w.Locator)
	if w.Desired >= 0 {
		fmt.Fprintf(&b, " %s/%d ready", count(w.ReadyCount), w.Desired)
	}
	return oneLine(b.String() + containersExcerpt(w.Containers))
}

// count prints a number that may not be known.
func count(n int) string {
	if n < 0 {
		return "?"
	}
	return itoa(n)
}

func addAutoscaler(set *evidence.Set, t tree, at Origin) {
	m := metaOf(t, "HorizontalPodAutoscaler")
	spec, status := t.sub("spec"), t.sub("status")
	ref := spec.sub("scaleTargetRef")
	a := evidence.Autoscaler{
		Item: at.item(m.locator()), Object: m.object,
		Target: evidence.Object{Namespace: m.object.Namespace, Kind: ref.str("kind"), Name: ref.str("name")},
		Min:    spec.intOr("minReplicas", -1), Max: spec.intOr("maxReplicas", -1),
		Current: status.intOr("currentReplicas", -1), Desired: status.intOr("desiredReplicas", -1),
		LastScale: status.time("lastScaleTime"), Metrics: metrics(spec, status), Conditions: conditions(status),
	}
	if len(a.Conditions) == 0 {
		// autoscaling/v1 carries the conditions as JSON in an annotation.
		a.Conditions = conditions(tree{"conditions": jsonText(m.annotations["autoscaling.alpha.kubernetes.io/conditions"])})
	}
	a.Excerpt = oneLine(fmt.Sprintf("%s %s replicas, wants %s, between %s and %s; %s", a.Locator,
		count(a.Current), count(a.Desired), count(a.Min), count(a.Max), strings.Join(a.Metrics, ", ")))
	a.Excerpt = strings.TrimSuffix(a.Excerpt, "; ")
	set.Autoscalers = append(set.Autoscalers, a)
}

// metrics prints each metric as "cpu: 81%/60%", the current value against the target; "?" where one is not known.
func metrics(spec, status tree) []string {
	var out []string
	if target, ok := spec.integer("targetCPUUtilizationPercentage"); ok { // autoscaling/v1
		current := "?"
		if n, ok := status.integer("currentCPUUtilizationPercentage"); ok {
			current = itoa(n) + "%"
		}
		out = append(out, "cpu: "+current+"/"+itoa(target)+"%")
	}
	current := map[string]string{}
	for _, c := range status.list("currentMetrics") {
		name, source := metricSource(c)
		current[name] = metricValue(source.sub("current"), source, "current")
	}
	for _, s := range spec.list("metrics") {
		name, source := metricSource(s)
		if name == "" {
			continue
		}
		now := current[name]
		if now == "" {
			now = "?"
		}
		target := metricValue(source.sub("target"), source, "target")
		if target == "" {
			target = "?"
		}
		out = append(out, name+": "+now+"/"+target)
	}
	return out
}

// metricSource gives the part of a metric under the key that its type names, with the metric's name.
func metricSource(t tree) (name string, source tree) {
	for _, key := range []string{"resource", "containerResource", "pods", "object", "external"} {
		if s := t.sub(key); s != nil {
			name = s.str("name")
			if name == "" {
				name = s.sub("metric").str("name")
			}
			if name == "" {
				name = s.str("metricName") // v2beta1
			}
			return name, s
		}
	}
	return "", nil
}

// metricValue prints the value of a v2 metric, or of a v2beta1 one, whose values lie flat in the source.
func metricValue(v, source tree, prefix string) string {
	for _, key := range []string{"averageUtilization", "utilization"} {
		if n, ok := v.integer(key); ok {
			return itoa(n) + "%"
		}
	}
	for _, key := range []string{"averageValue", "value"} {
		if s := v.str(key); s != "" {
			return s
		}
	}
	if n, ok := source.integer(prefix + "AverageUtilization"); ok {
		return itoa(n) + "%"
	}
	for _, key := range []string{prefix + "AverageValue", prefix + "Value"} {
		if s := source.str(key); s != "" {
			return s
		}
	}
	return ""
}
