// Package kubeobj turns Kubernetes objects into evidence. It is the one conversion that the live source, pasted text and
// snapshots share, so that the same object gives the same evidence wherever it came from.
//
// Objects come as untyped trees (what encoding/json makes of an object), because a paste is often cut, old, edited by hand
// or of a version that no typed client knows: a field that is missing or of the wrong type loses only itself. Events, of
// which there may be a hundred thousand, have a second door, [AddEvent], that needs no tree.
//
// The package keeps only what can bear on a diagnosis: of annotations those of meshes and balancers, of environment
// variables short literals whose name speaks of ports, threads, memory or management endpoints; never managedFields,
// last-applied configurations or anything that looks like a secret. It reads no files and no clock and gives no opinion.
package kubeobj

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/probedoctor/probedoctor/sources/evidence"
)

// ErrNotKubernetes is returned by [Add] for a tree that is neither a Kubernetes object nor a known fragment of one.
var ErrNotKubernetes = errors.New("not a Kubernetes object")

// maxDepth bounds how deep lists within lists and fragments are followed. Real input nests two lists at most.
const maxDepth = 8

// Origin says where objects were read.
type Origin struct {
	// Source is the item's source name: "kubernetes", "paste" and so on.
	Source string
	// File and Line are for messages to a person.
	File string
	Line int
	// Observed is when the object was read from the cluster, zero when not known.
	Observed time.Time
	// Incomplete says that the object was repaired or cut, so that the absence of a field means nothing.
	Incomplete bool
	// Stats, when set, counts what was seen.
	Stats *Stats
}

// Stats counts what became of the objects, so that coverage can tell.
type Stats struct {
	// Events is the number of events seen, LeftOut how many of them cannot bear on a diagnosis.
	Events, LeftOut int
	// Unused counts the objects, by kind, that are valid but carry nothing that the model holds.
	Unused map[string]int
}

func (s *Stats) event() {
	if s != nil {
		s.Events++
	}
}

func (s *Stats) leftOut() {
	if s != nil {
		s.LeftOut++
	}
}

func (s *Stats) unused(kind string) {
	if s == nil {
		return
	}
	if s.Unused == nil {
		s.Unused = map[string]int{}
	}
	// An input of endless invented kinds must not grow the table without end.
	if _, known := s.Unused[kind]; !known && len(s.Unused) >= 256 {
		kind = "other kinds"
	}
	s.Unused[kind]++
}

func (at Origin) item(locator string) evidence.Item {
	return evidence.Item{Source: at.Source, Locator: locator, File: at.File, Line: at.Line, Observed: at.Observed}
}

// Add converts obj and appends what it gives to the set. obj is an object, a List of objects, or a fragment: a pod spec, a
// container, a probe, a status, at any depth.
//
// n is the number of items added; 0 without an error means that the object was understood but carries nothing to keep.
// The error is [ErrNotKubernetes] when obj is nothing that the package knows; parts of a list that are unknown are joined
// into one error, and the others are added all the same.
func Add(set *evidence.Set, obj map[string]any, at Origin) (n int, err error) {
	return add(set, obj, at, "", 0)
}

// add converts one object. kind is that of the list's elements, for lists whose elements name none.
func add(set *evidence.Set, obj tree, at Origin, kind string, depth int) (int, error) {
	if depth > maxDepth {
		return 0, fmt.Errorf("lists nested deeper than %d: %w", maxDepth, ErrNotKubernetes)
	}
	if k := obj.str("kind"); k != "" {
		kind = k
	}
	if items, ok := obj["items"].([]any); ok && (kind == "" || kind == "List" || strings.HasSuffix(kind, "List")) {
		return addList(set, items, at, strings.TrimSuffix(kind, "List"), depth)
	}
	if kind == "" {
		kind = guessKind(obj)
	}
	before := size(set)
	convert, known := converters[kind]
	if len(obj.sub("spec", "template", "spec").list("containers")) > 0 {
		// Whatever its kind (a Knative Service, an operator's own resource): it makes pods of a template.
		convert, known = addWorkload, true
		// Without its head it is a piece of a manifest.
		at.Incomplete = at.Incomplete || kind == ""
	}
	switch {
	case known:
		convert(set, obj, at)
		n := size(set) - before
		if n == 0 && kind != "Event" {
			at.Stats.unused(kind)
		}
		return n, nil
	case kind != "" && obj.has("apiVersion"):
		at.Stats.unused(kind)
		return 0, nil
	}
	if addFragment(set, obj, at, depth) {
		return size(set) - before, nil
	}
	if kind != "" && obj.has("metadata") {
		at.Stats.unused(kind)
		return 0, nil
	}
	return 0, ErrNotKubernetes
}

func addList(set *evidence.Set, items []any, at Origin, kind string, depth int) (n int, err error) {
	bad := 0
	for _, it := range items {
		m, ok := it.(map[string]any)
		if !ok {
			bad++
			continue
		}
		k, err := add(set, m, at, kind, depth+1)
		n += k
		if err != nil {
			bad++
		}
	}
	if bad > 0 {
		return n, fmt.Errorf("%d of %d elements of the list: %w", bad, len(items), ErrNotKubernetes)
	}
	return n, nil
}

// size is the number of items that the set holds.
func size(s *evidence.Set) int {
	return len(s.Events) + len(s.Pods) + len(s.Workloads) + len(s.Autoscalers) + len(s.Nodes) + len(s.Services) +
		len(s.Series) + len(s.Logs) + len(s.Requests) + len(s.Targets) + len(s.HealthChecks) + len(s.Listeners)
}

// guessKind names the kind of an object that does not say it, from fields that no other kind has; empty when there is none.
func guessKind(t tree) string {
	switch {
	case t.has("involvedObject"), t.has("regarding") && (t.has("note") || t.has("reason")):
		return "Event"
	case t.sub("spec").has("containers") && t.sub("status").has("phase"):
		return "Pod"
	case !t.has("metadata"):
		return ""
	case t.has("addressType") && t.has("endpoints"):
		return "EndpointSlice"
	case t.has("subsets"):
		return "Endpoints"
	case t.has("containers") && t.has("window"):
		return "PodMetrics"
	case t.sub("spec").has("containers"):
		return "Pod"
	case t.sub("spec").has("scaleTargetRef"):
		return "HorizontalPodAutoscaler"
	}
	return ""
}

// converters are the kinds that give evidence.
var converters = map[string]func(*evidence.Set, tree, Origin){
	"Event":                   addEventTree,
	"Pod":                     addPod,
	"PodTemplate":             addWorkload,
	"Deployment":              addWorkload,
	"DeploymentConfig":        addWorkload,
	"Rollout":                 addWorkload,
	"ReplicaSet":              addWorkload,
	"ReplicationController":   addWorkload,
	"StatefulSet":             addWorkload,
	"DaemonSet":               addWorkload,
	"Job":                     addWorkload,
	"CronJob":                 addWorkload,
	"HorizontalPodAutoscaler": addAutoscaler,
	"Node":                    addNode,
	"Service":                 addService,
	"Ingress":                 addIngress,
	"Endpoints":               addEndpoints,
	"EndpointSlice":           addEndpointSlice,
	"TargetGroupBinding":      addTargetGroupBinding,
	"BackendConfig":           addBackendConfig,
	"PodMetrics":              addPodMetrics,
}

func addEventTree(set *evidence.Set, t tree, at Origin) {
	raw := rawEvent(t)
	AddEvent(set, &raw, at)
}

// meta is what all kinds share of their metadata.
type meta struct {
	object      evidence.Object
	owner       evidence.Object
	labels      map[string]string
	annotations map[string]string
	created     time.Time
}

func metaOf(t tree, kind string) meta {
	m := t.sub("metadata")
	out := meta{
		object: evidence.Object{
			Namespace: m.str("namespace"), Kind: kind, UID: m.str("uid"),
			Name: m.str("name"),
		},
		labels: m.strMap("labels"), annotations: annotations(m), created: m.time("creationTimestamp"),
	}
	owners := m.list("ownerReferences")
	for i, o := range owners {
		// The controller is the one that replaces a dead pod; without a mark the first owner stands in.
		if i == 0 || o.isTrue("controller") {
			out.owner = evidence.Object{
				Namespace: out.object.Namespace, Kind: o.str("kind"), Name: o.str("name"), UID: o.str("uid"),
			}
			if o.isTrue("controller") {
				break
			}
		}
	}
	return out
}

// locator is "pod shop/cart-0": the kind in lower case and the name with its namespace.
func (m meta) locator() string {
	return cmp.Or(strings.ToLower(m.object.Kind), "workload") + " " + slashed(m.object.Namespace, m.object.Name)
}

func slashed(namespace, name string) string {
	if name == "" {
		name = "(no name)"
	}
	if namespace == "" {
		return name
	}
	return namespace + "/" + name
}

// maxExcerpt bounds an excerpt; a person reads one line.
const maxExcerpt = 400

// oneLine puts a text on one line of at most maxExcerpt bytes.
func oneLine(s string) string {
	if strings.ContainsAny(s, "\r\n\t") {
		s = strings.Join(strings.Fields(s), " ")
	}
	return cut(s, maxExcerpt)
}

// cut shortens a text to at most n bytes without breaking a character, and marks that it did.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}
