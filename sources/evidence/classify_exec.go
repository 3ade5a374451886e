package evidence

import "strings"

// exec reads what an exec probe's command printed, or why it could not be run.
func (v *Verdict) exec(s string) {
	v.Phase = PhaseExec
	if v.commandTimeout(s) {
		return
	}
	lower := lowerASCII(s)
	if v.runtimeError(s, lower) {
		return
	}
	if v.Result == Errored {
		// No text of a container runtime and none of an HTTP body.
		v.Phase, v.Outcome = PhaseUnknown, OutcomeUnknown
		switch {
		case containsAny(lower, "deadline exceeded", "timed out"):
			v.Phase, v.Outcome = PhaseExec, OutcomeTimeout
		case strings.Contains(lower, "exec"):
			v.Phase, v.Outcome = PhaseExec, OutcomeRuntime
		}
		return
	}
	v.clientOutput(s, lower)
}

// commandTimeout reads the kubelet's and the runtimes' words for a command that ran too long:
//
//	command timed out: "sh -c /probe" timed out after 2s   (1.25 and later)
//	command "sh -c /probe" timed out                       (1.24)
//	command timed out                                      (CRI-O)
func (v *Verdict) commandTimeout(s string) bool {
	rest, ok := strings.CutPrefix(s, "command ")
	if !ok {
		return false
	}
	if tail, ok := strings.CutPrefix(rest, "timed out"); ok {
		if quoted, ok := strings.CutPrefix(tail, `: "`); ok {
			command, _, closed := strings.Cut(quoted, `" timed out after `)
			if closed {
				v.Limit = durationAfter(quoted[len(command):], "timed out after ")
			} else {
				command, _, _ = strings.Cut(command, "\n")
			}
			v.Command = strings.TrimSuffix(command, `"`)
		}
	} else if quoted, ok := strings.CutPrefix(rest, `"`); ok {
		command, tail, closed := strings.Cut(quoted, `" timed out`)
		if !closed {
			return false
		}
		v.Command = command
		v.Limit = durationAfter(tail, "after ")
	} else {
		return false
	}
	v.Phase, v.Outcome = PhaseExec, OutcomeTimeout
	return true
}

// runtimeMarks are in the errors of container runtimes and not in what a command prints.
var runtimeMarks = []string{
	"oci runtime", "exec failed:", "failed to exec in container", "failed to start exec", "failed to run in container",
	"exec setup failed", "container_linux.go", "exec_linux.go", "failed to load task", "failed to create exec", "no running task",
	"is not created or running", "in container_exited state", "in container_unknown state", "failed to drain exec process", "error executing in docker container",
	"cannot exec in a stopped", "cannot exec a container that has", "grpc: the connection is unavailable", "docker daemon",
}

// goneMarks are in the errors about a container that has ended.
var goneMarks = []string{
	"no running task", "is not running", "container not running", "not created or running", "in container_exited state",
	"cannot exec in a stopped", "cannot exec a container that has", "failed to load task", "no such container", "container not found",
	"in a stopped state", "process already finished", "task not found",
}

// runtimeError reads the errors of containerd, CRI-O, dockershim and runc. Those of dockershim come as output of a failed
// probe, the others as errored. lower is s in lower case.
func (v *Verdict) runtimeError(s, lower string) bool {
	rpc := strings.HasPrefix(lower, "rpc error: code =")
	if !rpc && !containsAny(lower, runtimeMarks...) && !(v.Result == Errored && containsAny(lower, goneMarks...)) {
		return false
	}
	v.Phase = PhaseExec
	v.Command = executed(s)
	switch {
	case containsAny(lower, goneMarks...):
		v.Outcome = OutcomeGone
	case strings.Contains(lower, "executable file not found"),
		containsAny(lower, "no such file or directory", "not a directory") && containsAny(lower, "stat ", `exec: "`, "exec /", "chdir"):
		v.Outcome = OutcomeNotFound
	case strings.HasPrefix(lower, "rpc error: code = deadlineexceeded"), strings.Contains(lower, "deadline exceeded"),
		strings.Contains(lower, "timed out"):
		v.Outcome = OutcomeTimeout
		v.Limit = durationAfter(s, "timeout ")
	default:
		v.Outcome = OutcomeRuntime
	}
	return true
}

// executed gives the command in runc's `exec: "command": reason`.
func executed(s string) string {
	_, rest, ok := strings.Cut(s, `exec: "`)
	if !ok {
		return ""
	}
	command, _, closed := strings.Cut(rest, `": `)
	if !closed || strings.Contains(command, "\n") {
		return ""
	}
	return command
}

// clientOutput reads the error of a client program that the command ran against the application.
func (v *Verdict) clientOutput(s, lower string) {
	v.Phase, v.Outcome = PhaseExec, OutcomeExit
	if i := strings.LastIndex(lower, "curl: ("); i >= 0 {
		v.curl(s[i+len("curl: ("):], lower[i+len("curl: ("):])
		return
	}
	if i := strings.LastIndex(s, "failed to connect service "); i >= 0 {
		// grpc_health_probe
		v.Outcome = rpcOutcome(s[i:])
		if strings.HasSuffix(s[:i], "timeout: ") {
			v.Outcome = OutcomeTimeout
		}
		if v.Outcome == OutcomeUnknown {
			v.Outcome = OutcomeExit
		}
		v.Limit = durationAfter(s[i:], "within ")
		address := quotedAfter(s[i:], "service ")
		if address == "" {
			address = quotedAfter(s[i:], "at ")
		}
		v.grpcTarget(address)
		return
	}
	switch {
	case notFound(lower):
		v.Outcome = OutcomeNotFound
	case containsAny(lower, "not_serving"):
		v.Outcome = OutcomeNotServing
	case containsAny(lower, "does not implement the grpc health protocol", "unknown service"):
		v.Outcome = OutcomeNoService
	case strings.Contains(lower, "server returned error: http/"): // wget
		v.httpError(lower, "server returned error: http/")
	default:
		v.Outcome = said(lower)
	}
}

// curl reads curl's error by its exit code (curl.se/libcurl/c/libcurl-errors.html).
func (v *Verdict) curl(s, lower string) {
	switch number(s) {
	case 7:
		v.Outcome = OutcomeRefused
		if o := said(lower); o != OutcomeExit {
			v.Outcome = o
		}
		if _, rest, ok := strings.Cut(s, "connect to "); ok {
			host, port, ok := strings.Cut(rest, " port ")
			if ok && !isMasked(host) && len(host) < 256 && !strings.ContainsAny(host, " \n") {
				v.Target.Host = host
			}
			if n := number(port); ok && n > 0 && n <= 65535 {
				v.Target.Port = port[:digits(port)]
			}
		}
	case 6:
		v.Outcome = OutcomeNoSuchHost
	case 28:
		v.Outcome = OutcomeTimeout
	case 22:
		v.httpError(lower, "returned error: ")
	case 52:
		v.Outcome = OutcomeClosed
	case 55, 56:
		v.Outcome = OutcomeReset
	case 35, 60:
		v.Outcome = OutcomeTLSHandshake
		if containsAny(lower, "wrong version number", "unknown protocol") {
			v.Outcome = OutcomeTLSMismatch
		}
	case 1, 8:
		v.Outcome = OutcomeMalformed
	}
}

func digits(s string) int {
	i := 0
	for i < len(s) && isDigit(s[i]) {
		i++
	}
	return i
}

// httpError reads the status that a client program prints behind the phrase, with or without the protocol's version.
func (v *Verdict) httpError(lower, phrase string) {
	_, rest, _ := strings.Cut(lower, phrase)
	if version, code, ok := strings.Cut(rest, " "); ok && strings.Contains(version, ".") {
		rest = code
	}
	if n := number(rest); n >= 100 && n < 1000 {
		v.Outcome, v.Status = OutcomeStatus, n
	}
}

// notFound tells whether a shell says that there is no such command. A file that the command itself misses, as in
// "cat: /tmp/ready: No such file or directory", is the probe's answer and not a missing command.
func notFound(lower string) bool {
	line, _, _ := strings.Cut(lower, "\n")
	if strings.HasSuffix(line, "command not found") || strings.HasPrefix(line, "executable file not found") {
		return true
	}
	shell := false
	for _, sh := range [...]string{"sh:", "bash:", "ash:", "dash:", "/bin/sh:", "/bin/bash:", "/bin/ash:", "env:", "/usr/bin/env:", "exec "} {
		shell = shell || strings.HasPrefix(line, sh)
	}
	return shell && containsAny(line, "not found", "no such file or directory")
}

// said reads what any client program says about its connection; OutcomeExit when it says nothing of the kind.
func said(lower string) Outcome {
	switch {
	case strings.Contains(lower, "connection refused"):
		return OutcomeRefused
	case containsAny(lower, "connection reset", "broken pipe"):
		return OutcomeReset
	case containsAny(lower, "timed out", "i/o timeout", "deadline exceeded", "timeout was reached", "timeout expired", "timeout exceeded",
		"timeout: health rpc did not complete"):
		return OutcomeTimeout
	case containsAny(lower, "no route to host", "host is unreachable"):
		return OutcomeNoRoute
	case strings.Contains(lower, "network is unreachable"):
		return OutcomeUnreachable
	case containsAny(lower, "no such host", "could not resolve host", "name or service not known", "temporary failure in name resolution",
		"bad address", "could not translate host name"):
		return OutcomeNoSuchHost
	case containsAny(lower, "too many open files", "cannot allocate memory", "resource temporarily unavailable", "cannot fork"):
		return OutcomeNoResources
	case containsAny(lower, "transport is closing", "server closed the connection unexpectedly", "empty reply from server"):
		return OutcomeClosed
	}
	return OutcomeExit
}
