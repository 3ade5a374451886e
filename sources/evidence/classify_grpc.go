package evidence

import "strings"

// grpc reads the texts of the kubelet's gRPC probe (k8s.io/kubernetes pkg/probe/grpc). The program grpc_health_probe,
// run by an exec probe, prints nearly the same.
func (v *Verdict) grpc(s string) bool {
	switch {
	case strings.HasPrefix(s, "timeout: failed to connect service"):
		address := quotedAfter(s, "service ")
		if viaProgram(s, address) {
			return false
		}
		v.grpcTarget(address)
		v.Limit = durationAfter(s, "within ")
		v.grpcConnect(OutcomeTimeout)
	case strings.HasPrefix(s, "error: failed to connect service at"):
		v.grpcTarget(quotedAfter(s, "at "))
		v.grpcConnect(rpcOutcome(s))
	case strings.HasPrefix(s, "error: this server does not implement the grpc health protocol"):
		v.Phase, v.Outcome = PhaseGRPC, OutcomeNoService
	case strings.HasPrefix(s, "timeout: health rpc did not complete"):
		v.Phase, v.Outcome = PhaseGRPC, OutcomeTimeout
		v.Limit = durationAfter(s, "within ")
	case strings.HasPrefix(s, "service unhealthy (responded with"):
		v.Phase, v.Outcome = PhaseGRPC, OutcomeNotServing
		if strings.Contains(s, `"SERVICE_UNKNOWN"`) {
			v.Outcome = OutcomeNoService
		}
	case strings.HasPrefix(s, "error: health rpc probe failed"):
		v.Phase, v.Outcome = PhaseGRPC, rpcOutcome(s)
	default:
		return false
	}
	return true
}

// grpcConnect is for a connection that never became ready: the text is the same for a connect, a TLS server and a
// server that does not speak HTTP/2.
func (v *Verdict) grpcConnect(o Outcome) {
	v.Phase, v.Outcome = PhaseGRPC, o
	v.Possible = []Phase{PhaseConnect, PhaseTLS, PhaseGRPC}
	if isName(v.Target.Host) {
		v.Possible = []Phase{PhaseDNS, PhaseConnect, PhaseTLS, PhaseGRPC}
	}
}

func (v *Verdict) grpcTarget(address string) {
	v.Target.Scheme = "grpc"
	v.Target.supplement(address)
}

// viaProgram tells whether grpc_health_probe printed the text: it runs in the container and dials the loopback, and it
// does not repeat the error at the end.
func viaProgram(s, address string) bool {
	local := strings.HasPrefix(address, ":") || strings.HasPrefix(address, "localhost:") ||
		strings.HasPrefix(address, "127.") || strings.HasPrefix(address, "[::1]") || strings.HasPrefix(address, "unix:")
	return local && !strings.Contains(s, ": context deadline exceeded")
}

// rpcOutcome reads a gRPC error by its code and, where the code says little, by its description.
func rpcOutcome(s string) Outcome {
	_, code, _ := strings.Cut(s, "code = ")
	switch {
	case strings.HasPrefix(code, "NotFound"), strings.HasPrefix(code, "Unimplemented"):
		return OutcomeNoService
	case strings.HasPrefix(code, "DeadlineExceeded"):
		return OutcomeTimeout
	case strings.Contains(s, "connection refused"):
		return OutcomeRefused
	case containsAny(s, "connection reset", "broken pipe"):
		return OutcomeReset
	case containsAny(s, "transport is closing", "EOF", "error reading from server"):
		return OutcomeClosed
	case containsAny(s, "context deadline exceeded", "i/o timeout"):
		return OutcomeTimeout
	}
	return OutcomeUnknown
}

// quotedAfter gives the text in double quotes that follows the phrase.
func quotedAfter(s, phrase string) string {
	_, rest, ok := strings.Cut(s, phrase+`"`)
	if !ok {
		return ""
	}
	q, _, _ := strings.Cut(rest, `"`)
	return q
}
