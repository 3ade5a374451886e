package evidence

import "time"

// Verdict is what a probe's message says by itself.
type Verdict struct {
	Probe  ProbeKind `json:"probe,omitempty"` // empty when the text does not say
	Result Result    `json:"result,omitempty"`
	// Phase is the step the probe had reached; when the text cannot tell several apart it is the one the text names and
	// Possible lists all of them.
	Phase    Phase   `json:"phase,omitempty"`
	Possible []Phase `json:"possible,omitempty"`
	Outcome  Outcome `json:"outcome,omitempty"`
	// Status is the HTTP status, the gRPC code's number is never used here; 0 when there is none.
	Status int `json:"status,omitempty"`
	// Target is what the message says was probed.
	Target Endpoint `json:"target,omitzero"`
	// Redirected is true when the message itself proves that the kubelet followed a redirect.
	Redirected bool `json:"redirected,omitempty"`
	// Limit is the timeout that the text names ("within 1s"), 0 when it names none.
	Limit time.Duration `json:"limit,omitempty"`
	// Command is the exec probe's command where the text prints it.
	Command string `json:"command,omitempty"`
}
