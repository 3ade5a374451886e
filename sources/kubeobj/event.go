package kubeobj

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/probedoctor/probedoctor/sources/evidence"
)

// RawEvent holds the fields of an event that matter, of either API, before they are brought into one form. Streaming and
// live sources fill it without building an object tree.
type RawEvent struct {
	// Namespace and Name are the event object's own; Created its creationTimestamp.
	Namespace, Name string
	Created         time.Time
	// Object is involvedObject or regarding, with its FieldPath.
	Object    evidence.Object
	FieldPath string
	Type      string
	Reason    string
	// Message is message or note.
	Message string
	// Count is count or deprecatedCount; SeriesCount is series.count.
	Count, SeriesCount int
	// First and Last are firstTimestamp and lastTimestamp (or deprecated…); SeriesLast is series.lastObservedTime.
	EventTime, First, Last, SeriesLast time.Time
	// Component and Host are those of source or deprecatedSource; Controller is reportingComponent or
	// reportingController, Instance reportingInstance.
	Component, Host, Controller, Instance string
}

// rawEvent reads an event of core/v1 or events.k8s.io/v1 from a tree.
func rawEvent(t tree) RawEvent {
	meta := t.sub("metadata")
	object := t.sub(present(t, "involvedObject", "regarding"))
	source := t.sub(present(t, "source", "deprecatedSource"))
	series := t.sub("series")
	return RawEvent{
		Namespace: meta.str("namespace"), Name: meta.str("name"), Created: meta.time("creationTimestamp"),
		Object: evidence.Object{
			Namespace: object.str("namespace"), Kind: object.str("kind"), Name: object.str("name"), UID: object.str("uid"),
		},
		FieldPath:   object.str("fieldPath"),
		Type:        t.str("type"),
		Reason:      t.str("reason"),
		Message:     t.str(present(t, "message", "note")),
		Count:       t.intOr(present(t, "count", "deprecatedCount"), 0),
		SeriesCount: series.intOr("count", 0),
		EventTime:   t.time("eventTime"),
		First:       t.time(present(t, "firstTimestamp", "deprecatedFirstTimestamp")),
		Last:        t.time(present(t, "lastTimestamp", "deprecatedLastTimestamp")),
		SeriesLast:  series.time("lastObservedTime"),
		Component:   source.str("component"),
		Host:        source.str("host"),
		Controller:  t.str(present(t, "reportingComponent", "reportingController")),
		Instance:    t.str("reportingInstance"),
	}
}

// present gives the first of the keys that has a value, else the first.
func present(t tree, keys ...string) string {
	for _, k := range keys {
		if t.has(k) {
			return k
		}
	}
	return keys[0]
}

// keptNormal are the reasons of Normal events that can bear on a diagnosis: the life of pods and containers, scaling,
// rollouts, nodes, disruption and load balancers. The texts are those of domain knowledge about the kubelet, the
// controllers, the autoscalers and karpenter. Reasons that begin with "Node" are kept as well. All others of type Normal
// (image pulls, leader elections, volume attachments) are left out and counted.
var keptNormal = func() map[string]bool {
	kept := map[string]bool{}
	for _, reason := range []string{
		// kubelet
		"Killing", "Created", "Started", "BackOff", "SandboxChanged", "Shutdown", "Rebooted", "Starting",
		"Preempting", "ExceededGracePeriod",
		// scheduler
		"Scheduled", "Preempted",
		// controllers
		"ScalingReplicaSet", "SuccessfulCreate", "SuccessfulDelete", "SuccessfulRescale", "TaintManagerEviction",
		"DeploymentRollback", "RecreatingFailedPod", "RecreatingTerminatedPod",
		// cluster-autoscaler
		"TriggeredScaleUp", "NotTriggerScaleUp", "ScaleDown", "ScaleDownEmpty", "ScaledUpGroup",
		// karpenter
		"Nominated", "Evicted", "Disrupted", "DisruptionLaunching", "DisruptionWaitingReadiness", "DisruptionTerminating",
		"DisruptionBlocked", "Unconsolidatable", "ConsolidationCandidate", "ConsolidationApproved", "ConsolidationRejected",
		"TerminationGracePeriodExpiring", "InstanceTerminating", "SpotInterrupted", "SpotRebalanceRecommendation",
		// vertical pod autoscaler, descheduler
		"EvictedByVPA", "EvictedPod", "Descheduled", "InPlaceResizedByVPA", "ResizeStarted", "ResizeCompleted",
		// load balancers
		"SuccessfullyReconciled", "EnsuringLoadBalancer", "EnsuredLoadBalancer", "UpdatedLoadBalancer", "DeletedLoadBalancer",
	} {
		kept[reason] = true
	}
	return kept
}()

// Kept tells whether an event of that type and reason can bear on a diagnosis: every event that is not Normal, and the
// Normal ones that the package lists.
func Kept(typ, reason string) bool {
	return typ != "Normal" || keptNormal[reason] || strings.HasPrefix(reason, "Node")
}

// AddEvent adds the event to the set if it can bear on a diagnosis, and says whether it did. It never changes raw.
//
// Times and counts are brought into one form as kubectl does (k8s.io/kubernetes pkg/printers/internalversion): first is
// eventTime, else firstTimestamp; last is series.lastObservedTime, else lastTimestamp, else first; count is series.count,
// else count, else 1.
func AddEvent(set *evidence.Set, raw *RawEvent, at Origin) bool {
	at.Stats.event()
	if !Kept(raw.Type, raw.Reason) {
		at.Stats.leftOut()
		return false
	}
	e := evidence.Event{
		Object: raw.Object, Type: raw.Type, Reason: raw.Reason, Message: raw.Message, Name: raw.Name,
		Count:     max(1, cmp.Or(raw.SeriesCount, raw.Count)),
		First:     firstTime(raw.EventTime, raw.First, raw.Created, raw.Last, raw.SeriesLast),
		Component: cmp.Or(raw.Component, raw.Controller), Host: raw.Host,
	}
	e.Last = firstTime(raw.SeriesLast, raw.Last, e.First)
	if e.Last.Before(e.First) {
		// Clocks of two writers disagree: the row is an interval all the same.
		e.First, e.Last = e.Last, e.First
	}
	if e.Object.Namespace == "" && e.Object.Kind != "Node" {
		e.Object.Namespace = raw.Namespace
	}
	if e.Object.Kind == "Node" {
		// Events about nodes are kept in the namespace "default" and name the node as its own UID.
		e.Object.Namespace = ""
	}
	if e.Host == "" && e.Component == "kubelet" {
		e.Host = raw.Instance
	}
	e.Container = containerOf(raw.FieldPath)
	StripMessage(&e)
	e.Item = at.item("event " + slashed(raw.Namespace, cmp.Or(raw.Name, e.Object.Name)))
	// Texts that are part of others share their memory: a list may hold a hundred thousand events.
	if raw.Name != "" {
		e.Name = e.Locator[len(e.Locator)-len(raw.Name):]
	}
	e.Excerpt = EventExcerpt(&e)
	if strings.HasSuffix(e.Excerpt, e.Message) {
		e.Message = e.Excerpt[len(e.Excerpt)-len(e.Message):]
	}
	if len(set.Events) == cap(set.Events) {
		// Append grows a long slice by a quarter and copies it each time; an event is half a kilobyte.
		set.Events = slices.Grow(set.Events, max(len(set.Events), 64))
	}
	set.Events = append(set.Events, e)
	return true
}

func firstTime(ts ...time.Time) time.Time {
	for _, t := range ts {
		if !t.IsZero() {
			return t
		}
	}
	return time.Time{}
}

// combinedPrefix is put before the newest message by client-go's event aggregator (tools/record/events_cache.go).
const combinedPrefix = "(combined from similar events): "

// StripMessage takes the prefixes "(combined from similar events): " and "spec.containers{c}: " off the event's message
// and sets Combined and Container accordingly. A combined row names no container: its message is the newest of any.
func StripMessage(e *evidence.Event) {
	for {
		if rest, ok := strings.CutPrefix(e.Message, combinedPrefix); ok {
			e.Message, e.Combined = rest, true
			continue
		}
		if rest, ok := strings.CutPrefix(e.Message, strings.TrimSuffix(combinedPrefix, " ")); ok {
			e.Message, e.Combined = rest, true
			continue
		}
		path, rest, ok := strings.Cut(e.Message, "}: ")
		if !ok {
			path, ok = strings.CutSuffix(e.Message, "}:")
			rest = ""
		}
		if c := containerOf(path + "}"); ok && c != "" {
			e.Message = rest
			if e.Container == "" {
				e.Container = c
			}
			continue
		}
		break
	}
	if e.Combined {
		e.Container = ""
	}
}

// containerOf gives the name in a field path "spec.containers{name}", "spec.initContainers{name}" or
// "spec.ephemeralContainers{name}" (k8s.io/kubernetes pkg/kubelet/container/ref.go); empty for any other.
func containerOf(fieldPath string) string {
	rest, ok := strings.CutPrefix(fieldPath, "spec.")
	if !ok {
		return ""
	}
	list, name, ok := strings.Cut(rest, "{")
	if !ok || !slices.Contains([]string{"containers", "initContainers", "ephemeralContainers"}, list) {
		return ""
	}
	name, ok = strings.CutSuffix(name, "}")
	if !ok || strings.ContainsAny(name, "{} ") {
		return ""
	}
	return name
}

// EventExcerpt renders an event on one line: "Warning Unhealthy pod/cart-0 x9 Readiness probe failed: …".
func EventExcerpt(e *evidence.Event) string {
	var b strings.Builder
	b.Grow(len(e.Type) + len(e.Reason) + len(e.Object.Kind) + len(e.Object.Name) + len(e.Message) + 16)
	word := func(parts ...string) {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		for _, p := range parts {
			b.WriteString(p)
		}
	}
	if e.Type != "" {
		word(e.Type)
	}
	if e.Reason != "" {
		word(e.Reason)
	}
	if e.Object.Name != "" {
		word(strings.ToLower(e.Object.Kind), "/", e.Object.Name)
	}
	if e.Count > 1 {
		word("x", strconv.Itoa(e.Count))
	}
	word(oneLine(e.Message))
	return b.String()
}
