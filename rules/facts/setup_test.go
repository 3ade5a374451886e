package facts_test

import (
	"testing"
	"time"

	"github.com/probedoctor/probedoctor/rules/facts"
	"github.com/probedoctor/probedoctor/sources/evidence"
)

func container(in *facts.Incident, change func(c *evidence.Container)) {
	pod(in, "a", func(p *evidence.Pod) {
		p.Containers[0].ProbesKnown = true
		change(&p.Containers[0])
	})
}

func TestConfiguredWorkers(t *testing.T) {
	for _, tt := range []struct {
		name    string
		command []string
		env     map[string]string
		want    any
	}{
		{"none", []string{"java", "-jar", "app.jar"}, map[string]string{"PORT": "8080"}, unknown{}},
		{"threads with =", []string{"serve", "--threads=20"}, nil, 20},
		{"threads apart", []string{"serve", "--threads", "20"}, nil, 20},
		{"processes times threads", []string{"gunicorn", "-w", "4", "--threads", "8", "app:app"}, nil, 32},
		{"processes alone", []string{"gunicorn", "--workers=3"}, nil, 3},
		{"-t of gunicorn is its timeout", []string{"gunicorn", "-w", "4", "-t", "120", "app:app"}, nil, 4},
		{"-t of puma is its threads", []string{"bundle", "exec", "puma", "-w", "2", "-t", "1:5"}, nil, 10},
		{"connections of a worker are what it serves at once", []string{"gunicorn", "-w", "4", "--worker-connections=100"}, nil, 400},
		{"an option without its value", []string{"serve", "--threads"}, nil, unknown{}},
		{"a value that is no number", []string{"serve", "--threads", "auto"}, nil, unknown{}},
		{"in the environment", nil, map[string]string{"SERVER_TOMCAT_THREADS_MAX": "50"}, 50},
		{"processes and threads in the environment", nil, map[string]string{"WEB_CONCURRENCY": "2", "RAILS_MAX_THREADS": "5"}, 10},
		{"a number beyond all", []string{"serve", "--threads=99999999999999999999"}, nil, unknown{}},
	} {
		checkFacts(t, []factTest{{tt.name, func(in *facts.Incident) {
			container(in, func(c *evidence.Container) { c.Command, c.Env = tt.command, tt.env })
		}, wants{"pool.configured": tt.want}}})
	}
}

func TestExecHeavy(t *testing.T) {
	for command, want := range map[string]bool{
		"cat /tmp/healthy":                                     false,
		"/bin/sh -c test -f /tmp/ready":                        false,
		"curl -sf http://localhost/health || exit 1":           false,
		"sh -c 'ls -l /tmp | grep ready'":                      false,
		"wc -l /var/run/app.pid":                               false,
		"python3 /app/check.py":                                true,
		"/usr/local/bin/node check.js":                         true,
		"sh -c (bundle exec rake ping)":                        true,
		"bash -lc 'check'":                                     true,
		"bash -l -c check":                                     true,
		"/bin/bash --login -c check":                           true,
		"sh -c 'ps aux | grep app | wc -l'":                    true,
		"grpc_health_probe -addr=:8080":                        false,
		"pg_isready -U app":                                    false,
		"rabbitmq-diagnostics ping":                            true,
		"sh -c 'curl a || curl b || curl c'":                   false,
		"sh -c 'java -cp /app.jar Check; exit $?'":             true,
		"/opt/pythonic/check":                                  false,
		"sh -c \"node -e 'require(1)'\"":                       true,
		"redis-cli -h localhost ping":                          false,
		"sh -c 'redis-cli ping | grep PONG || redis-cli INFO'": false,
	} {
		checkFacts(t, []factTest{{command, func(in *facts.Incident) {
			fail(in, "a", func(f *facts.Failure) { f.Command = command })
		}, wants{"exec.command": command, "exec.heavy": want}}})
	}
	checkFacts(t, []factTest{
		{"the specification comes first", func(in *facts.Incident) {
			fail(in, "a", func(f *facts.Failure) { f.Command = "python x" })
			probe(in, evidence.Readiness, &evidence.ProbeSpec{Command: []string{"cat", "/tmp/x"}})
		}, wants{"exec.command": "cat /tmp/x", "exec.heavy": false}},
		{"a probe that does not fail does not count", func(in *facts.Incident) {
			fail(in, "a", nil)
			probe(in, evidence.Liveness, &evidence.ProbeSpec{Command: []string{"cat", "/tmp/x"}})
		}, wants{"exec.command": unknown{}, "exec.heavy": unknown{}}},
	})
}

func TestListening(t *testing.T) {
	on := func(address, port string) func(in *facts.Incident) {
		return func(in *facts.Incident) { healthz(in); listen(in, address, port) }
	}
	checkFacts(t, []factTest{
		{"no sockets", healthz, wants{"config.listensElsewhere": unknown{}, "config.loopbackOnly": unknown{}, "config.familyMismatch": unknown{}}},
		{"on the probed port", on("0.0.0.0", "8080"), wants{"config.listensElsewhere": false, "config.loopbackOnly": false}},
		{"on another port only", on("0.0.0.0", "9090"), wants{"config.listensElsewhere": true, "config.loopbackOnly": unknown{}}},
		{"on loopback", on("127.0.0.1", "8080"), wants{"config.listensElsewhere": false, "config.loopbackOnly": true}},
		{"on the loopback of IPv6", on("[::1]", "8080"), wants{"config.loopbackOnly": true}},
		{"on loopback and beside it", func(in *facts.Incident) { on("127.0.0.1", "8080")(in); listen(in, "10.0.0.7", "8080") },
			wants{"config.loopbackOnly": false}},
		{"an address that was not told is no loopback", on("", "8080"), wants{"config.loopbackOnly": false}},
		{"no port is known to be probed", func(in *facts.Incident) { fail(in, "a", nil); listen(in, "0.0.0.0", "8080") },
			wants{"config.listensElsewhere": unknown{}}},
		{"the port's name leads nowhere", func(in *facts.Incident) {
			probe(in, evidence.Readiness, &evidence.ProbeSpec{Handler: "http", Endpoint: evidence.Endpoint{Path: "/healthz", Port: "http"}})
			listen(in, "0.0.0.0", "8080")
		}, wants{"config.listensElsewhere": unknown{}}},
		{"the port's name resolves", func(in *facts.Incident) {
			container(in, func(c *evidence.Container) { c.Ports = []evidence.Port{{Name: "http", Number: 8080}} })
			probe(in, evidence.Readiness, &evidence.ProbeSpec{Handler: "http", Endpoint: evidence.Endpoint{Path: "/healthz", Port: "http"}})
			listen(in, "0.0.0.0", "9090")
		}, wants{"config.listensElsewhere": true}},
		{"by the failure's text", func(in *facts.Incident) {
			fail(in, "a", func(f *facts.Failure) { f.Target.Port = "8081" })
			probe(in, evidence.Readiness, nil)
			listen(in, "0.0.0.0", "8080")
		}, wants{"config.listensElsewhere": true}},
	})
}

func TestFamilyMismatch(t *testing.T) {
	asked := func(host, address string) func(in *facts.Incident) {
		return func(in *facts.Incident) {
			fail(in, "a", func(f *facts.Failure) { f.Target = evidence.Endpoint{Host: host, Port: "8080"} })
			listen(in, address, "8080")
		}
	}
	checkFacts(t, []factTest{
		{"IPv6 asked, IPv4 bound", asked("fd00::7", "0.0.0.0"), wants{"config.familyMismatch": true}},
		{"IPv6 asked, both bound", asked("fd00::7", "::"), wants{"config.familyMismatch": false}},
		{"IPv4 asked, both bound", asked("10.0.0.7", "*"), wants{"config.familyMismatch": false}},
		{"IPv4 asked, IPv4 bound", asked("10.0.0.7", "0.0.0.0"), wants{"config.familyMismatch": false}},
		{"IPv4 asked, one IPv6 address bound", asked("10.0.0.7", "fd00::7"), wants{"config.familyMismatch": true}},
		{"IPv4 asked, IPv4's loopback bound: another fault", asked("10.0.0.7", "127.0.0.1"), wants{"config.familyMismatch": false}},
		{"another port", func(in *facts.Incident) { asked("fd00::7", "0.0.0.0")(in); in.Listeners[0].Port = "9090" },
			wants{"config.familyMismatch": unknown{}}},
		{"the pod's address is asked", func(in *facts.Incident) {
			pod(in, "a", func(p *evidence.Pod) { p.IP = "fd00::7" })
			healthz(in)
			listen(in, "0.0.0.0", "8080")
		}, wants{"config.familyMismatch": true}},
	})
}

func TestRedirectedTarget(t *testing.T) {
	asked := func(scheme, port, path string) func(in *facts.Incident) {
		return func(in *facts.Incident) {
			fail(in, "a", func(f *facts.Failure) {
				f.Target = evidence.Endpoint{Scheme: scheme, Host: "10.0.0.7", Port: port, Path: path}
			})
			healthz(in)
		}
	}
	checkFacts(t, []factTest{
		{"as configured", asked("http", "8080", "/healthz"), wants{"config.redirectedTarget": false}},
		{"with a query and a slash", asked("http", "8080", "/healthz/?a=b"), wants{"config.redirectedTarget": false}},
		{"another path", asked("http", "8080", "/login"), wants{"config.redirectedTarget": true}},
		{"another port", asked("https", "8443", "/healthz"), wants{"config.redirectedTarget": true}},
		{"the mesh's port", asked("http", "15020", "/app-health/app/readyz"), wants{"config.redirectedTarget": unknown{}}},
		{"no target in the text", asked("http", "", ""), wants{"config.redirectedTarget": unknown{}}},
		{"the specification was not read", func(in *facts.Incident) {
			fail(in, "a", func(f *facts.Failure) { f.Target = evidence.Endpoint{Scheme: "http", Port: "8080", Path: "/x"} })
			probe(in, evidence.Readiness, nil)
		}, wants{"config.redirectedTarget": unknown{}}},
	})
}

func TestProbeSettings(t *testing.T) {
	spec := func(timeout, period, failures int) *evidence.ProbeSpec {
		return &evidence.ProbeSpec{Handler: "http", TimeoutSeconds: timeout, PeriodSeconds: period, FailureThreshold: failures,
			Endpoint: evidence.Endpoint{Path: "/healthz", Port: "8080"}}
	}
	checkFacts(t, []factTest{
		{"not read", func(in *facts.Incident) { fail(in, "a", nil); probe(in, evidence.Readiness, nil) },
			wants{"config.samePath": unknown{}, "config.tightest": unknown{}, "config.window": unknown{}, "config.timeoutSet": unknown{},
				"config.probesPerSecond": unknown{}, "config.hasStartupProbe": unknown{}, "config.portListed": unknown{}}},
		{"two probes and a balancer on one path", func(in *facts.Incident) {
			pod(in, "a", nil)
			pod(in, "b", nil)
			fail(in, "a", nil)
			probe(in, evidence.Startup, spec(1, 1, 30))
			probe(in, evidence.Readiness, spec(0, 0, 0))
			probe(in, evidence.Liveness, spec(5, 20, 2))
			in.HealthChecks = append(in.HealthChecks, &evidence.HealthCheck{Item: evidence.Item{Ref: "healthcheck:0"}, Group: "g",
				Endpoint: evidence.Endpoint{Path: "/healthz", Port: "traffic-port"}, TargetPort: "8080", Interval: 30 * time.Second, Checkers: 3, UnhealthyThreshold: 4})
		}, wants{"config.samePath": 3, "config.proberNames": "readiness, liveness, balancer g", "config.probesPerSecond": 0.25, "config.fleetProbesPerSecond": 0.5,
			"config.tightest": 2, "config.window": 21 * time.Second, "config.timeoutSet": false}},
		{"the failing probe's timeout is what counts", func(in *facts.Incident) {
			fail(in, "a", nil)
			probe(in, evidence.Readiness, spec(3, 10, 3))
			probe(in, evidence.Liveness, spec(1, 10, 3))
		}, wants{"config.timeoutSet": true}},
		{"a period shorter than the timeout", func(in *facts.Incident) { probe(in, evidence.Liveness, spec(5, 2, 3)) },
			wants{"config.window": 15 * time.Second}},
		{"listed by number and by name", func(in *facts.Incident) {
			container(in, func(c *evidence.Container) {
				c.Ports = []evidence.Port{{Name: "http", Number: 8080}}
				c.Probes = []evidence.ProbeSpec{{Probe: evidence.Readiness, Endpoint: evidence.Endpoint{Port: "8080"}}, {Probe: evidence.Startup, Endpoint: evidence.Endpoint{Port: "http"}}}
			})
		}, wants{"config.portListed": true, "config.hasStartupProbe": true}},
		{"not listed", func(in *facts.Incident) {
			container(in, func(c *evidence.Container) {
				c.Ports = []evidence.Port{{Name: "http", Number: 8080}}
				c.Probes = []evidence.ProbeSpec{{Probe: evidence.Readiness, Endpoint: evidence.Endpoint{Port: "8081"}}}
			})
		}, wants{"config.portListed": false, "config.hasStartupProbe": false}},
		{"an exec probe asks no port", func(in *facts.Incident) {
			container(in, func(c *evidence.Container) {
				c.Ports = []evidence.Port{{Name: "http", Number: 8080}}
				c.Probes = []evidence.ProbeSpec{{Probe: evidence.Readiness, Handler: "exec", Command: []string{"true"}}}
			})
		}, wants{"config.portListed": unknown{}}},
		{"limits", func(in *facts.Incident) {
			fail(in, "a", nil)
			container(in, func(c *evidence.Container) { c.CPULimit, c.MemoryLimit = 2, 1000 })
			series(in, "cpu.usage", "a", 0.5, 1.5)
			series(in, "memory.workingSet", "a", 900)
		}, wants{"cpu.limit": 2.0, "cpu.ofLimit": 0.75, "memory.ofLimit": 0.9}},
		{"no limits", func(in *facts.Incident) {
			fail(in, "a", nil)
			container(in, func(c *evidence.Container) {})
			series(in, "cpu.usage", "a", 0.5)
		}, wants{"cpu.limit": 0.0, "cpu.ofLimit": unknown{}, "memory.ofLimit": unknown{}}},
	})
}

func TestMesh(t *testing.T) {
	annotated := func(key, value string) func(in *facts.Incident) {
		return func(in *facts.Incident) {
			pod(in, "a", func(p *evidence.Pod) { p.Annotations = map[string]string{key: value} })
		}
	}
	checkFacts(t, []factTest{
		{"nothing read", nil, wants{"mesh.sidecar": unknown{}, "mesh.rewriteOff": unknown{}, "mesh.failures": unknown{}}},
		{"no sidecar", func(in *facts.Incident) { pod(in, "a", nil); fail(in, "a", nil) }, wants{"mesh.sidecar": false, "mesh.failures": 0}},
		{"by its container", func(in *facts.Incident) {
			pod(in, "a", func(p *evidence.Pod) { p.Containers = append(p.Containers, evidence.Container{Name: "istio-proxy"}) })
		}, wants{"mesh.sidecar": true}},
		{"by an annotation", annotated("sidecar.istio.io/inject", "true"), wants{"mesh.sidecar": true}},
		{"an annotation that keeps it out", annotated("sidecar.istio.io/inject", "false"), wants{"mesh.sidecar": false}},
		{"an annotation that keeps Linkerd out", annotated("linkerd.io/inject", "disabled"), wants{"mesh.sidecar": false}},
		{"rewriting is off", annotated("sidecar.istio.io/rewriteAppHTTPProbers", "false"), wants{"mesh.rewriteOff": true, "mesh.sidecar": true}},
		{"by the port that was probed", func(in *facts.Incident) {
			fail(in, "a", func(f *facts.Failure) { f.Target.Port, f.Count = "15021", 4 })
			fail(in, "a", nil)
		}, wants{"mesh.sidecar": true, "mesh.failures": 4}},
	})
}

func TestEventFacts(t *testing.T) {
	checkFacts(t, []factTest{
		{"not read", nil, wants{"events.volume": unknown{}, "events.evicted": unknown{}, "events.runtime": unknown{}, "events.image": unknown{}, "events.sandbox": unknown{}}},
		{"read, none", func(in *facts.Incident) { covered(in, evidence.SourceEvents) }, wants{"events.volume": 0, "events.image": 0}},
		{"by reason and words", func(in *facts.Incident) {
			covered(in, evidence.SourceEvents)
			event(in, "FailedMount", "MountVolume.SetUp failed", at(1)).Count = 3
			event(in, "Failed", `Failed to pull image "x"`, at(1))
			event(in, "Failed", "Error: failed to create containerd task", at(1)).Count = 2
			event(in, "Evicted", "The node was low on resource: memory.", at(1))
		}, wants{"events.volume": 3, "events.image": 1, "events.runtime": 2, "events.evicted": 1, "events.sandbox": 0}},
		{"a dependency by its name in the path", func(in *facts.Incident) {
			probe(in, evidence.Readiness, &evidence.ProbeSpec{Endpoint: evidence.Endpoint{Path: "/ready/db"}})
		}, wants{"config.pathNamesDependency": true}},
		{"no dependency in the path", healthz, wants{"config.pathNamesDependency": false}},
		{"work under way by a gauge's name", func(in *facts.Incident) {
			in.Set.Series = []evidence.Series{
				{Name: "app_active_sessions", Type: "gauge", Samples: []evidence.Sample{{At: at(1), Value: 40}, {At: at(2), Value: 60}, {At: at(60), Value: 99}}},
				{Name: "http_requests_total", Type: "counter", Samples: []evidence.Sample{{At: at(1), Value: 1e6}}},
			}
		}, wants{"pool.demand": 60.0}},
	})
}
