package evidence

import "time"

// Kind names the sort of an evidence item; it is the part of a [Ref] before the colon.
type Kind string

// The kinds of items.
const (
	KindEvent       Kind = "event"
	KindFailure     Kind = "failure"
	KindPod         Kind = "pod"
	KindWorkload    Kind = "workload"
	KindAutoscaler  Kind = "autoscaler"
	KindNode        Kind = "node"
	KindService     Kind = "service"
	KindSeries      Kind = "series"
	KindLog         Kind = "log"
	KindRequest     Kind = "request"
	KindTarget      Kind = "target"
	KindHealthCheck Kind = "healthcheck"
	KindListener    Kind = "listener"
)

// Ref cites one item: "kind:hash", where hash is 12 hexadecimal digits of the SHA-256 of the item's normalised content.
// It does not depend on the name of the file, on the order of the input or on the time of reading.
type Ref string

// Item is what every piece of evidence has. It is embedded in the other types.
type Item struct {
	// Ref is set by [Set.Finish].
	Ref Ref `json:"ref,omitempty"`
	// Source is the sort of source: "kubernetes", "prometheus", "logs", "aws", "haproxy", "paste" and so on.
	Source string `json:"source,omitempty"`
	// Locator says how to find the item again in its source, without file names: the object's name, a query, a log's
	// pod and container.
	Locator string `json:"locator,omitempty"`
	// File and Line say where the item was read, for messages to a person. They are no part of the Ref and of no
	// machine-readable output.
	File string `json:"-"`
	Line int    `json:"-"`
	// Observed is when the source was read: the status in the item is true as of then. Zero when not known.
	Observed time.Time `json:"observed,omitzero"`
	// Excerpt is the text to show to a person: the raw line or a short rendering. Untrusted.
	Excerpt string `json:"excerpt,omitempty"`
}

// Object names a Kubernetes object. Empty fields are not known.
type Object struct {
	Cluster   string `json:"cluster,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	// Kind is the API kind in its own spelling: "Pod", "Deployment", "HorizontalPodAutoscaler".
	Kind string `json:"kind,omitempty"`
	Name string `json:"name,omitempty"`
	UID  string `json:"uid,omitempty"`
}

// pasteMoment is the zero of the paste's own clock: no real timestamp of a cluster lies within 292 years of it.
var pasteMoment = time.Date(1000, 1, 1, 0, 0, 0, 0, time.UTC)

// Ago is the time d before the moment at which the text was pasted or read. It stays relative until [Set.Finish].
func Ago(d time.Duration) time.Time { return pasteMoment.Add(-d) }

// IsRelative tells whether t is on the paste's own clock (made by [Ago]).
func IsRelative(t time.Time) bool { return !t.IsZero() && t.Year() > 600 && t.Year() < 1400 }

// Before is how long before the moment of pasting the relative time t lies.
func Before(t time.Time) time.Duration { return pasteMoment.Sub(t) }
