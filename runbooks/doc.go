// Package runbooks holds what to do about a diagnosis: one Markdown file a diagnosis id, whose front matter is data that is
// rendered with the values of one incident, and whose body is read by a person.
//
// The one idea: a remedy is only worth printing when it can be copied. So every text may name a value of the incident in
// braces, and a value is inserted in the way that its place demands: quoted for the shell in a command, escaped inside a
// JSON patch or a PromQL query, plain in prose. A name that an attacker chose stays one shell word.
//
// The package imports nothing of this project but the quoting of shell words, runs nothing and reads no clock. It never invents a value: a command whose
// values are not known is left out and says which ones it lacks; prose falls back to a generic word.
//
// # A runbook
//
// The file is named after its diagnosis, ID.md. Between two lines of three dashes stands YAML, decoded strictly:
//
//	diagnosis: worker-pool-saturation
//	title: Worker pool saturation
//	steps:
//	  - id: raise-timeout            # steps that share an id are variants of one step: see stacks
//	    horizon: now                 # now, next or later
//	    step: Raise timeoutSeconds   # an imperative sentence
//	    does: what it achieves
//	    doesNot: what it leaves as it is
//	    risk: what it may break
//	    undo: how to take it back
//	    undoCommand: the command for it
//	    command: |
//	      kubectl -n {namespace|NAMESPACE} get {kind}/{workload}
//	    when: {needs: [workload]}    # more values the command wants than it names
//	    stacks: [tomcat]             # only for these stacks
//	verify:
//	  - {step: what to look at, command: how}
//	notAFix:
//	  - {step: what people try, why: why it does not help}
//
// A step has at least one of does, doesNot and risk. Of the variants that share an id, the first whose stacks match is
// taken, else the one without stacks; with no stack known only steps without stacks are rendered. A stack matches its own name
// and its varieties: tomcat matches tomcat-jmx.
//
// # Placeholders
//
// {name} or {name|fallback}, with a name of the table below; \{ is a literal brace. Anything else in braces, such as a
// PromQL matcher, is left alone. In prose an unknown value becomes the fallback, or the table's generic words. In a
// command the fallback is an upper-case word, or a whole number; without one the command is left out.
//
// In a command a placeholder may stand in the open, where it becomes one shell word or a part of one; in the single-quoted
// JSON after -p or --patch; or in the single-quoted query= after --data-urlencode. In the latter two a text stands in
// double quotes and is escaped for them, after =~ and !~ for a regular expression too; a number may stand bare. It may not
// stand in double quotes, in a comment or in the script of a nested shell: pass it there as an argument.
//
// # Values
//
// The caller gives a flat map with these keys. A missing key, nil, "" and an empty list all mean: not known.
//
//	namespace               text    namespace of the workload
//	kind                    text    kind of the workload, as kubectl takes it: Deployment, StatefulSet
//	workload                text    name of the workload
//	container               text    name of the container that fails
//	containerIndex          number  its index in spec.containers of the pod template
//	pod                     text    a failing pod; when missing, the first of failingPods
//	failingPods             list    names of the pods whose probes fail
//	pods                    list    names of all pods of the workload
//	probe.kind              text    readiness, liveness or startup
//	probe.path              text    path of an HTTP probe
//	probe.port              text    port of the probe, a number or a name
//	probe.scheme            text    HTTP or HTTPS
//	probe.timeout           number  timeoutSeconds
//	probe.period            number  periodSeconds
//	probe.failureThreshold  number  failureThreshold
//	probe.initialDelay      number  initialDelaySeconds
//	probes                  list    the probes of the workload: maps of kind, path, port, timeoutSeconds and index, the container's
//	newTimeout              number  the timeoutSeconds to suggest
//	pool.max                number  workers the server may have
//	pool.busy               number  workers busy at the worst moment
//	pool.queue              number  requests that wait for a worker
//	dependency              text    name of the slow or failing dependency, such as Redis
//	dependency.routes       list    routes that use it
//	hpa                     text    name of the HorizontalPodAutoscaler
//	hpa.min                 number  its minReplicas
//	hpa.max                 number  its maxReplicas
//	node                    text    name of the node
//	targetGroup             text    target group or backend of the load balancer, a name or an ARN
//	lb                      text    load balancer, as a person calls it
//	stack                   text    server stack, as a person calls it
//	service                 text    name of the Service
//	image                   text    image of the container
//	port.listening          text    address that the server really listens on, such as 127.0.0.1:8080
//	memory.limit            text    memory limit, such as 512Mi
//	cpu.limit               text    CPU limit, such as 500m
//	exitCode                number  exit code of the last termination
//
// Derived from them, not to be given:
//
//	podTemplate             text    JSON pointer of the pod template's spec; known for kinds whose template can be patched
//	targetGroup.arn         text    targetGroup where it is an ARN
//	probe.port.number       number  probe.port where it is no name
//	patch.timeouts          text    JSON patch that raises timeoutSeconds to newTimeout on each of probes that is below it
//	patch.timeouts.undo     text    the opposite patch
package runbooks
