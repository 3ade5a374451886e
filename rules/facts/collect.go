package facts

import (
	"fmt"

	"github.com/probedoctor/probedoctor/internal/shell"
)

// The functions of this file print the exact command that would gather what a fact lacks, with the incident's own names.
// A name that is not known is a word in capitals.

func (in *Incident) ns() string {
	if in.Namespace == "" {
		return "NAMESPACE"
	}
	return shell.Quote(in.Namespace)
}

func (in *Incident) somePod() string {
	if ps := in.failingPods(); len(ps) > 0 {
		return shell.Quote(ps[0])
	}
	for _, p := range in.Pods {
		if p.Object.Name != "" {
			return shell.Quote(p.Object.Name)
		}
	}
	return "POD"
}

func (in *Incident) containerName() string {
	if in.Container == "" {
		return "CONTAINER"
	}
	return shell.Quote(in.Container)
}

func collectEvents(in *Incident) string {
	return fmt.Sprintf("kubectl -n %s get events -o json", in.ns())
}

func collectPods(in *Incident) string {
	return fmt.Sprintf("kubectl -n %s get pods -o json", in.ns())
}

func collectSpec(in *Incident) string {
	if in.Workload.Kind != "" && in.Workload.Name != "" && in.Workload.Kind != "Pod" {
		return fmt.Sprintf("kubectl -n %s get %s %s -o yaml", in.ns(), shell.Quote(in.Workload.Kind), shell.Quote(in.Workload.Name))
	}
	return fmt.Sprintf("kubectl -n %s get pod %s -o yaml", in.ns(), in.somePod())
}

func collectScaling(in *Incident) string {
	return fmt.Sprintf("kubectl -n %s get hpa,rs -o json; kubectl -n %s get events -o json", in.ns(), in.ns())
}

func collectLogs(in *Incident) string {
	return fmt.Sprintf("kubectl -n %s logs %s -c %s --prefix --timestamps --since=1h", in.ns(), in.somePod(), in.containerName())
}

func collectNodes(in *Incident) string { return "kubectl get nodes -o json" }

func collectSockets(in *Incident) string {
	port := "PORT"
	for i := range in.Probes {
		if s := in.Probes[i].Spec; s != nil && s.Endpoint.Port != "" {
			port = s.Endpoint.Port
			break
		}
		for _, f := range in.Probes[i].Failures {
			if f.Target.Port != "" {
				port = f.Target.Port
			}
		}
	}
	return fmt.Sprintf("kubectl -n %s exec %s -c %s -- ss -ltn %s", in.ns(), in.somePod(), in.containerName(), shell.Quote("sport = :"+port))
}

func collectTargets(in *Incident) string {
	for _, t := range in.Targets {
		switch t.Balancer {
		case "aws":
			return "aws elbv2 describe-target-health --target-group-arn TARGET_GROUP_ARN"
		case "haproxy":
			return "echo 'show stat' | socat stdio unix-connect:/var/run/haproxy.sock"
		case "envoy":
			return "curl -s http://localhost:15000/clusters"
		}
	}
	for _, h := range in.HealthChecks {
		if h.Balancer == "aws" {
			return "aws elbv2 describe-target-health --target-group-arn TARGET_GROUP_ARN"
		}
	}
	return fmt.Sprintf("kubectl -n %s get ingress,service,endpointslices -o yaml", in.ns())
}

// collectSignal asks Prometheus for a canonical signal.
func collectSignal(signal string) func(*Incident) string {
	return func(in *Incident) string { return in.queryFor(signal) }
}
