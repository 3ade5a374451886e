package diagnose

import (
	"cmp"
	"slices"
	"strings"

	"github.com/probedoctor/probedoctor/sources/evidence"
)

// owners finds the workload of a pod: by owner references, else by the names that controllers give.
type owners struct {
	pods      map[podKey]*evidence.Pod
	workloads map[podKey]*evidence.Workload // by namespace and "Kind/name"
	byPrefix  []*evidence.Workload
	memo      map[podKey]ownership
}

type ownership struct {
	workload evidence.Object
	inferred string
}

type podKey struct{ namespace, name string }

func newOwners(set *evidence.Set) *owners {
	o := &owners{pods: map[podKey]*evidence.Pod{}, workloads: map[podKey]*evidence.Workload{}, memo: map[podKey]ownership{}}
	for i := range set.Pods {
		p := &set.Pods[i]
		k := podKey{p.Object.Namespace, p.Object.Name}
		// Several readings of one pod (a watch, a table beside a describe): the one that says more stands, merged with the rest.
		if old, ok := o.pods[k]; ok {
			p = mergePods(old, p)
		}
		o.pods[k] = p
	}
	o.completeNames(set)
	for i := range set.Workloads {
		w := &set.Workloads[i]
		k := podKey{w.Object.Namespace, w.Object.Kind + "/" + w.Object.Name}
		if old, ok := o.workloads[k]; ok && len(old.Containers) >= len(w.Containers) {
			continue
		}
		o.workloads[k] = w
	}
	for i := range set.Workloads {
		if k := set.Workloads[i].Object.Kind; k != "ReplicaSet" {
			o.byPrefix = append(o.byPrefix, &set.Workloads[i])
		}
	}
	return o
}

// completeNames gives pods whose names were cut at the front, as a selection with the mouse does, or elided in the middle,
// the name of the only object in events that ends and begins like it.
func (o *owners) completeNames(set *evidence.Set) {
	names := map[string]string{} // to the namespace
	for i := range set.Events {
		if e := &set.Events[i]; (e.Object.Kind == "Pod" || e.Object.Kind == "") && e.Object.Name != "" {
			names[e.Object.Name] = e.Object.Namespace
		}
	}
	if len(names) == 0 || len(names) > 1000 {
		return // a paste by hand is small
	}
	read := map[string]bool{}
	for k := range o.pods {
		read[k.name] = true
	}
	for _, k := range sortedPodKeys(o.pods) {
		// What comes from the API, or is described in full, has its whole name.
		if p := o.pods[k]; p.Object.UID != "" || len(p.Containers) > 0 {
			continue
		}
		if _, named := names[k.name]; named || len(k.name) < 6 {
			continue
		}
		head, tail, elided := strings.Cut(strings.ReplaceAll(k.name, "…", "..."), "...")
		if !elided {
			head, tail = "", k.name
		}
		whole := ""
		for n, ns := range names {
			if len(tail) >= 2 && len(n) > len(head)+len(tail) && strings.HasSuffix(n, tail) && strings.HasPrefix(n, head) && sameNamespace(ns, k.namespace) {
				if whole != "" {
					whole = ""
					break
				}
				whole = n
			}
		}
		// A pod of its own may have a name that ends another's: cache-0 beside redis-cache-0.
		if whole == "" || read[whole] && !elided {
			continue
		}
		p := *o.pods[k]
		p.Object.Name = whole
		delete(o.pods, k)
		k.name = whole
		if old, ok := o.pods[k]; ok {
			o.pods[k] = mergePods(old, &p)
		} else {
			o.pods[k] = &p
		}
	}
}

func sortedPodKeys(m map[podKey]*evidence.Pod) []podKey {
	keys := make([]podKey, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b podKey) int {
		return cmp.Or(cmp.Compare(a.namespace, b.namespace), cmp.Compare(a.name, b.name))
	})
	return keys
}

// pod finds a pod by namespace and name; without a namespace on either side the name alone must do.
func (o *owners) pod(ns, name string) *evidence.Pod {
	if name == "" {
		return nil
	}
	if p, ok := o.pods[podKey{ns, name}]; ok {
		return p
	}
	if p, ok := o.pods[podKey{"", name}]; ok {
		return p
	}
	if ns == "" {
		var found *evidence.Pod
		for k, p := range o.pods {
			if k.name == name {
				if found != nil {
					return nil
				}
				found = p
			}
		}
		return found
	}
	return nil
}

// workload gives the controller of a pod and how it was found; the text is empty when owner references named it.
func (o *owners) workload(ns, pod string) (evidence.Object, string) {
	k := podKey{ns, pod}
	if m, ok := o.memo[k]; ok {
		return m.workload, m.inferred
	}
	w, inferred := o.find(ns, pod)
	o.memo[k] = ownership{w, inferred}
	return w, inferred
}

func (o *owners) find(ns, pod string) (evidence.Object, string) {
	if p := o.pod(ns, pod); p != nil {
		if ns == "" {
			ns = p.Object.Namespace
		}
		if p.Owner.Name != "" {
			return o.root(ns, p.Owner, p.TemplateHash)
		}
	}
	if pod == "" {
		return evidence.Object{}, ""
	}
	kind, name := controllerByName(pod)
	// A workload that was read and whose name the pod's begins with; the longest of them, of the kind that makes such names.
	var best *evidence.Workload
	ambiguous := false
	for _, w := range o.byPrefix {
		if !strings.HasPrefix(pod, w.Object.Name+"-") || !sameNamespace(w.Object.Namespace, ns) ||
			kind == "Deployment" && strings.HasPrefix(name, w.Object.Name+"-") { // web-api's pod is not web's
			continue
		}
		better := -1
		if best != nil {
			better = cmp.Or(cmp.Compare(len(best.Object.Name), len(w.Object.Name)), cmp.Compare(likeness(best, kind), likeness(w, kind)))
		}
		switch {
		case better < 0:
			best, ambiguous = w, false
		case better == 0 && w.Object.Namespace != best.Object.Namespace:
			ambiguous = true
		}
	}
	if best != nil {
		obj := best.Object
		if obj.Namespace == "" || ambiguous {
			obj.Namespace = ns
		}
		obj.UID = ""
		return obj, "by the pod's name, which begins with the workload's"
	}
	if kind == "" {
		return evidence.Object{Namespace: ns, Kind: "Pod", Name: pod}, ""
	}
	return evidence.Object{Namespace: ns, Kind: kind, Name: name}, "by the pod's name, as controllers form it"
}

// likeness is 1 for a workload of the kind and 0 for another.
func likeness(w *evidence.Workload, kind string) int {
	if w.Object.Kind == kind {
		return 1
	}
	return 0
}

// root follows a ReplicaSet to its Deployment and a Job to its CronJob.
func (o *owners) root(ns string, owner evidence.Object, hash string) (evidence.Object, string) {
	obj := evidence.Object{Namespace: ns, Kind: owner.Kind, Name: owner.Name}
	if w, ok := o.workloads[podKey{ns, owner.Kind + "/" + owner.Name}]; ok && w.Owner.Name != "" {
		return evidence.Object{Namespace: ns, Kind: w.Owner.Kind, Name: w.Owner.Name}, ""
	}
	if owner.Kind == "ReplicaSet" {
		if hash != "" && strings.HasSuffix(owner.Name, "-"+hash) {
			obj.Kind, obj.Name = "Deployment", strings.TrimSuffix(owner.Name, "-"+hash)
			return obj, "by the ReplicaSet's name and the pod-template-hash"
		}
		if i := strings.LastIndexByte(owner.Name, '-'); i > 0 && isHash(owner.Name[i+1:]) {
			obj.Kind, obj.Name = "Deployment", owner.Name[:i]
			return obj, "by the ReplicaSet's name"
		}
	}
	return obj, ""
}

// controllerByName reads the workload from a pod's name: DEPLOYMENT-HASH-RANDOM, STATEFULSET-ORDINAL, DAEMONSET-RANDOM.
func controllerByName(pod string) (kind, name string) {
	// A person who shortens a list elides the middle: NAME-...-RANDOM.
	if head, _, elided := strings.Cut(strings.ReplaceAll(pod, "…", "..."), "-...-"); elided && head != "" {
		return "Deployment", head
	}
	parts := strings.Split(pod, "-")
	n := len(parts)
	if n >= 3 && isHash(parts[n-2]) && isRandom(parts[n-1]) {
		return "Deployment", strings.Join(parts[:n-2], "-")
	}
	if n >= 2 {
		last := parts[n-1]
		if isOrdinal(last) {
			return "StatefulSet", strings.Join(parts[:n-1], "-")
		}
		if len(last) == 5 && isRandom(last) {
			return "DaemonSet", strings.Join(parts[:n-1], "-")
		}
	}
	return "", ""
}

func isOrdinal(s string) bool {
	return s != "" && len(s) <= 4 && strings.Trim(s, "0123456789") == ""
}

// isHash tells whether s can be a pod-template-hash. Kubernetes makes it of "bcdfghjklmnpqrstvwxz2456789" (apimachinery
// util/rand.SafeEncodeString); people who mask names are less exact, so any letters and digits with at least one digit do.
func isHash(s string) bool {
	if len(s) < 4 || len(s) > 10 {
		return false
	}
	digit := false
	for _, c := range s {
		switch {
		case c >= '0' && c <= '9':
			digit = true
		case c >= 'a' && c <= 'z':
		default:
			return false
		}
	}
	return digit || strings.Trim(s, "bcdfghjklmnpqrstvwxz2456789") == ""
}

func isRandom(s string) bool {
	if len(s) < 2 || len(s) > 5 {
		return false
	}
	for _, c := range s {
		if (c < '0' || c > '9') && (c < 'a' || c > 'z') {
			return false
		}
	}
	return len(s) < 5 || strings.Trim(s, "bcdfghjklmnpqrstvwxz2456789") == "" || strings.ContainsAny(s, "0123456789")
}

// mergePods joins two readings of one pod. The later one stands for what changes; what only one of them has is kept.
func mergePods(a, b *evidence.Pod) *evidence.Pod {
	if richness(b) >= richness(a) {
		a, b = b, a // b was read later
	}
	m := *a
	if m.IP == "" {
		m.IP = b.IP
	}
	if m.Node == "" {
		m.Node = b.Node
	}
	if m.Created.IsZero() {
		m.Created = b.Created
	}
	if m.TotalContainers == 0 {
		m.ReadyContainers, m.TotalContainers = b.ReadyContainers, b.TotalContainers
	}
	if m.Restarts < b.Restarts {
		m.Restarts = b.Restarts
	}
	if m.LastRestart.IsZero() {
		m.LastRestart = b.LastRestart
	}
	if m.Phase == "" {
		m.Phase = b.Phase
	}
	if len(m.Containers) == 0 {
		m.Containers = b.Containers
	}
	if len(m.Conditions) == 0 {
		m.Conditions = b.Conditions
	}
	if m.Owner.Name == "" {
		m.Owner = b.Owner
	}
	if m.TemplateHash == "" {
		m.TemplateHash = b.TemplateHash
	}
	if m.Started.IsZero() {
		m.Started = b.Started
	}
	// A deletion is final, but a StatefulSet makes a new pod of the same name.
	if m.Deleted.IsZero() && (m.Object.UID == b.Object.UID || m.Object.UID == "" || b.Object.UID == "") {
		m.Deleted, m.GraceSeconds = b.Deleted, b.GraceSeconds
	}
	if a.Phase == "OOMKilled" || b.Phase == "OOMKilled" || a.Reason == "OOMKilled" || b.Reason == "OOMKilled" {
		m.Reason = "OOMKilled" // a watch shows it only for a moment
	}
	return &m
}

func richness(p *evidence.Pod) int {
	n := len(p.Containers)*4 + len(p.Conditions)*2
	if p.Node != "" {
		n++
	}
	if !p.Created.IsZero() {
		n++
	}
	return n
}
