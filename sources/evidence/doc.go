// Package evidence is the waist of probedoctor: plain, immutable data that every source produces and every fact reads.
//
// A source (a file that somebody pasted, a live API server, a Prometheus, a load balancer) turns what it read into the
// items of this package and records in [Coverage] what it could not read. Nothing downstream knows where an item came
// from, so live and offline diagnoses are one path.
//
// The package holds no opinions about causes, does no input or output, reads no clock and imports no other package of
// this module.
//
// # Time
//
// A paste often gives ages ("2m37s") instead of times. [Ago] makes a time on the clock of the paste, whose zero is the
// moment of pasting; [Set.Finish] moves such times onto the wall clock when an anchor is known. A zero time.Time means
// that the time is not known.
//
// # Missing values
//
// "Not known" is never a zero that could be read as a value: counts that may be unknown are pointers or have a Known
// flag beside them. A zero timeoutSeconds does not exist in Kubernetes, so there 0 means "not set".
package evidence
