package kubeobj

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/probedoctor/probedoctor/sources/evidence"
)

// addJSON converts one object given as JSON.
func addJSON(t *testing.T, text string, at Origin) *evidence.Set {
	t.Helper()
	var obj map[string]any
	if err := json.Unmarshal([]byte(text), &obj); err != nil {
		t.Fatal(err)
	}
	set := &evidence.Set{}
	if _, err := Add(set, obj, at); err != nil {
		t.Fatal(err)
	}
	return set
}

func at(s string) time.Time { return ParseTime(s) }

// noExcerpt leaves out what a test does not look at.
var noExcerpt = cmpopts.IgnoreFields(evidence.Item{}, "Excerpt", "Locator")

const podJSON = `{
 "apiVersion":"v1","kind":"Pod",
 "metadata":{"name":"cart-6d8f-2xk","namespace":"shop","uid":"u1","creationTimestamp":"2024-05-06T07:00:00Z",
  "deletionTimestamp":"2024-05-06T08:00:30Z","deletionGracePeriodSeconds":30,
  "labels":{"app":"cart","pod-template-hash":"6d8f"},
  "annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{}","sidecar.istio.io/inject":"true","team/owner":"x",
   "proxy.istio.io/token":"abc"},
  "ownerReferences":[{"kind":"ConfigMap","name":"other"},{"kind":"ReplicaSet","name":"cart-6d8f","uid":"u2","controller":true}]},
 "spec":{"nodeName":"n1","terminationGracePeriodSeconds":60,"readinessGates":[{"conditionType":"target-health.elbv2.k8s.aws/k8s-cart"}],
  "initContainers":[{"name":"proxy","image":"proxy:1","restartPolicy":"Always"},{"name":"migrate","image":"m:1"}],
  "containers":[{"name":"app","image":"cart:1","command":["java"],"args":["-jar","app.jar"],
   "ports":[{"name":"http","containerPort":8080,"protocol":"TCP"}],
   "env":[{"name":"SERVER_PORT","value":"8080"},{"name":"DB_PASSWORD","value":"hunter2"},{"name":"POOL_TOKEN","value":"t"},
    {"name":"JAVA_OPTS","value":"-Xmx512m -Ddb.password=hunter2"},{"name":"REDIS_HOST","value":"user:pw@redis"},{"name":"COLOR","value":"red"}],
   "resources":{"limits":{"cpu":"1500m","memory":"1Gi"},"requests":{"cpu":0.25,"memory":"512Mi"}},
   "lifecycle":{"preStop":{"exec":{"command":["sleep","10"]}}},
   "readinessProbe":{"httpGet":{"path":"/health","port":"http","scheme":"HTTP","httpHeaders":[{"name":"Host","value":"cart"},{"name":"Authorization","value":"Bearer x"}]},
    "periodSeconds":10,"timeoutSeconds":1,"failureThreshold":3},
   "livenessProbe":{"tcpSocket":{"port":8080},"initialDelaySeconds":"30"},
   "startupProbe":{"grpc":{"port":9090,"service":"ready"}}}]},
 "status":{"phase":"Running","podIP":"10.0.0.7","startTime":"2024-05-06T07:00:01Z",
  "conditions":[{"type":"Ready","status":"False","reason":"ContainersNotReady","lastTransitionTime":"2024-05-06T07:50:00Z"}],
  "initContainerStatuses":[{"name":"proxy","ready":true,"restartCount":0,"state":{"running":{"startedAt":"2024-05-06T07:00:02Z"}}},
   {"name":"migrate","ready":true,"restartCount":4,"state":{"terminated":{"exitCode":0,"reason":"Completed","finishedAt":"2024-05-06T07:00:04Z"}}}],
  "containerStatuses":[{"name":"app","ready":false,"started":true,"restartCount":2,"image":"cart:1",
   "state":{"running":{"startedAt":"2024-05-06T07:40:00Z"}},
   "lastState":{"terminated":{"exitCode":137,"reason":"OOMKilled","startedAt":"2024-05-06T07:00:05Z","finishedAt":"2024-05-06T07:39:58Z"}}}]}}`

func TestPod(t *testing.T) {
	set := addJSON(t, podJSON, Origin{Source: "kubernetes", File: "f", Line: 3})
	zero, oom, yes := 0, 137, true
	want := []evidence.Pod{{
		Item:   evidence.Item{Source: "kubernetes", File: "f", Line: 3},
		Object: evidence.Object{Namespace: "shop", Kind: "Pod", Name: "cart-6d8f-2xk", UID: "u1"},
		Owner:  evidence.Object{Namespace: "shop", Kind: "ReplicaSet", Name: "cart-6d8f", UID: "u2"},
		Labels: map[string]string{"app": "cart", "pod-template-hash": "6d8f"}, TemplateHash: "6d8f",
		Annotations: map[string]string{"sidecar.istio.io/inject": "true"},
		Node:        "n1", IP: "10.0.0.7", Phase: "Running",
		Created: at("2024-05-06T07:00:00Z"), Started: at("2024-05-06T07:00:01Z"), Deleted: at("2024-05-06T08:00:30Z"), GraceSeconds: 30,
		Gates:           []string{"target-health.elbv2.k8s.aws/k8s-cart"},
		Conditions:      []evidence.Condition{{Type: "Ready", Status: "False", Reason: "ContainersNotReady", Transition: at("2024-05-06T07:50:00Z")}},
		ReadyContainers: 1, TotalContainers: 2, Restarts: 2, LastRestart: at("2024-05-06T07:40:00Z"),
		Containers: []evidence.Container{
			{
				Name: "proxy", Init: true, Sidecar: true, Image: "proxy:1", ProbesKnown: true, StatusKnown: true, Ready: true,
				State: evidence.ContainerState{Status: "running", Started: at("2024-05-06T07:00:02Z")},
			},
			{
				Name: "migrate", Init: true, Image: "m:1", ProbesKnown: true, StatusKnown: true, Ready: true, Restarts: 4,
				State: evidence.ContainerState{Status: "terminated", Reason: "Completed", ExitCode: &zero, Finished: at("2024-05-06T07:00:04Z")},
			},
			{
				Name: "app", Image: "cart:1", Command: []string{"java", "-jar", "app.jar"},
				Ports:       []evidence.Port{{Name: "http", Number: 8080, Protocol: "TCP"}},
				Env:         map[string]string{"SERVER_PORT": "8080", "JAVA_OPTS": "", "REDIS_HOST": ""},
				ProbesKnown: true, CPURequest: 0.25, CPULimit: 1.5, MemoryRequest: 512 << 20, MemoryLimit: 1 << 30,
				PreStop: "exec sleep 10",
				Probes: []evidence.ProbeSpec{
					{Probe: evidence.Startup, Handler: "grpc", Endpoint: evidence.Endpoint{Scheme: "grpc", Port: "9090"}, Service: "ready"},
					{
						Probe: evidence.Readiness, Handler: "http",
						Endpoint: evidence.Endpoint{Scheme: "http", Port: "http", Path: "/health"},
						Headers:  map[string]string{"Host": "cart", "Authorization": ""}, PeriodSeconds: 10, TimeoutSeconds: 1, FailureThreshold: 3,
					},
					{Probe: evidence.Liveness, Handler: "tcp", Endpoint: evidence.Endpoint{Scheme: "tcp", Port: "8080"}, InitialDelaySeconds: 30},
				},
				StatusKnown: true, Started: &yes, Restarts: 2,
				State: evidence.ContainerState{Status: "running", Started: at("2024-05-06T07:40:00Z")},
				LastState: evidence.ContainerState{
					Status: "terminated", Reason: "OOMKilled", ExitCode: &oom,
					Started: at("2024-05-06T07:00:05Z"), Finished: at("2024-05-06T07:39:58Z"),
				},
			},
		},
	}}
	if diff := cmp.Diff(want, set.Pods, noExcerpt); diff != "" {
		t.Error(diff)
	}
	if got, want := set.Pods[0].Locator, "pod shop/cart-6d8f-2xk"; got != want {
		t.Errorf("locator %q, want %q", got, want)
	}
}

// A field of the wrong type must lose nothing but itself.
func TestBadFieldLosesOnlyItself(t *testing.T) {
	set := addJSON(t, `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","labels":"none","creationTimestamp":"yesterday","ownerReferences":{}},
	 "spec":{"nodeName":["n"],"containers":[7,null,{"name":"app","ports":"x","resources":{"limits":{"cpu":"lots","memory":"1Gi"}},
	  "readinessProbe":{"httpGet":{"port":{}, "path":"/ok"},"periodSeconds":"often","timeoutSeconds":2}}]},
	 "status":{"phase":"Running","conditions":[1,{"status":"True"}],"containerStatuses":[{"name":"app","restartCount":"3","state":"up"}]}}`, Origin{})
	p := set.Pods[0]
	if p.Object.Name != "a" || p.Phase != "Running" || p.Restarts != 3 || len(p.Containers) != 1 || !p.Created.IsZero() || p.Node != "" {
		t.Errorf("pod %+v", p)
	}
	c := p.Containers[0]
	want := []evidence.ProbeSpec{{Probe: evidence.Readiness, Handler: "http", Endpoint: evidence.Endpoint{Scheme: "http", Path: "/ok"}, TimeoutSeconds: 2}}
	if diff := cmp.Diff(want, c.Probes); diff != "" {
		t.Error(diff)
	}
	if c.MemoryLimit != 1<<30 || c.CPULimit != 0 {
		t.Errorf("limits: cpu %v, memory %v", c.CPULimit, c.MemoryLimit)
	}
}

func TestUnknownIsNotZero(t *testing.T) {
	set := addJSON(t, `{"kind":"List","items":[
	 {"kind":"Pod","apiVersion":"v1","metadata":{"name":"manifest"},"spec":{"containers":[{"name":"a"}]}},
	 {"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"manifest"},"spec":{}},
	 {"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"live"},"spec":{"replicas":3},"status":{"observedGeneration":4,"replicas":3}},
	 {"kind":"HorizontalPodAutoscaler","apiVersion":"autoscaling/v2","metadata":{"name":"h"},"spec":{"maxReplicas":5}}]}`, Origin{})
	if got := set.Pods[0].Restarts; got != -1 {
		t.Errorf("restarts of a manifest: %d, want -1", got)
	}
	if w := set.Workloads[0]; w.Desired != -1 || w.ReadyCount != -1 || w.Updated != -1 || w.Available != -1 {
		t.Errorf("counts of a manifest: %+v", w)
	}
	// The API leaves zeros out of a status.
	if w := set.Workloads[1]; w.Desired != 3 || w.ReadyCount != 0 || w.Updated != 0 || w.Available != 0 {
		t.Errorf("counts of a live deployment: %+v", w)
	}
	if a := set.Autoscalers[0]; a.Min != -1 || a.Max != 5 || a.Current != -1 || a.Desired != -1 {
		t.Errorf("autoscaler: %+v", a)
	}
}

func TestWorkloadKinds(t *testing.T) {
	template := `"template":{"metadata":{"annotations":{"sidecar.istio.io/rewriteAppHTTPProbers":"false"}},"spec":{"terminationGracePeriodSeconds":5,"containers":[{"name":"app","image":"x"}]}}`
	for _, c := range []struct {
		kind, spec, status string
		counts             [4]int
	}{
		{"Deployment", `"replicas":4,"minReadySeconds":3,"selector":{"matchLabels":{"app":"x"}},` + template, `"observedGeneration":1,"readyReplicas":2,"updatedReplicas":1,"availableReplicas":2`, [4]int{4, 2, 1, 2}},
		{"ReplicaSet", `"replicas":4,` + template, `"replicas":4,"readyReplicas":2`, [4]int{4, 2, -1, 0}},
		{"StatefulSet", `"replicas":1,` + template, `"replicas":1`, [4]int{1, 0, 0, 0}},
		{"DaemonSet", template, `"desiredNumberScheduled":7,"numberReady":6,"updatedNumberScheduled":7,"numberAvailable":6`, [4]int{7, 6, 7, 6}},
		{"Job", `"parallelism":2,` + template, `"ready":1`, [4]int{2, 1, -1, -1}},
		{"CronJob", `"jobTemplate":{"spec":{` + template + `}}`, ``, [4]int{-1, -1, -1, -1}},
		{"ReplicationController", `"replicas":2,"selector":{"app":"x"},` + template, `"replicas":2,"readyReplicas":2`, [4]int{2, 2, -1, 0}},
		{"CloneSet", `"replicas":2,` + template, `"replicas":2`, [4]int{2, 0, 0, 0}},
	} {
		t.Run(c.kind, func(t *testing.T) {
			set := addJSON(t, `{"apiVersion":"x/v1","kind":"`+c.kind+`","metadata":{"name":"w","namespace":"ns"},"spec":{`+c.spec+`},"status":{`+c.status+`}}`, Origin{})
			w := set.Workloads[0]
			if got := [4]int{w.Desired, w.ReadyCount, w.Updated, w.Available}; got != c.counts {
				t.Errorf("desired, ready, updated, available: %v, want %v", got, c.counts)
			}
			if w.Object.Kind != c.kind || len(w.Containers) != 1 || w.GraceSeconds != 5 {
				t.Errorf("workload %+v", w)
			}
			if w.Annotations["sidecar.istio.io/rewriteAppHTTPProbers"] != "false" {
				t.Errorf("the template's annotations are lost: %v", w.Annotations)
			}
		})
	}
}

func TestAutoscaler(t *testing.T) {
	set := addJSON(t, `{"kind":"List","items":[
	{"apiVersion":"autoscaling/v2","kind":"HorizontalPodAutoscaler","metadata":{"name":"cart","namespace":"shop"},
	 "spec":{"minReplicas":2,"maxReplicas":10,"scaleTargetRef":{"kind":"Deployment","name":"cart"},"metrics":[
	  {"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":60}}},
	  {"type":"Pods","pods":{"metric":{"name":"rps"},"target":{"type":"AverageValue","averageValue":"100"}}}]},
	 "status":{"currentReplicas":4,"desiredReplicas":6,"lastScaleTime":"2024-05-06T07:00:00Z",
	  "currentMetrics":[{"type":"Resource","resource":{"name":"cpu","current":{"averageUtilization":81,"averageValue":"405m"}}}],
	  "conditions":[{"type":"ScalingLimited","status":"False","reason":"DesiredWithinRange"}]}},
	{"apiVersion":"autoscaling/v1","kind":"HorizontalPodAutoscaler","metadata":{"name":"old","annotations":{
	  "autoscaling.alpha.kubernetes.io/conditions":"[{\"type\":\"ScalingActive\",\"status\":\"True\",\"lastTransitionTime\":\"2024-05-06T07:00:00Z\"}]"}},
	 "spec":{"maxReplicas":3,"targetCPUUtilizationPercentage":50,"scaleTargetRef":{"kind":"Deployment","name":"old"}},
	 "status":{"currentReplicas":1,"desiredReplicas":1}}]}`, Origin{})
	want := []evidence.Autoscaler{
		{
			Object: evidence.Object{Namespace: "shop", Kind: "HorizontalPodAutoscaler", Name: "cart"},
			Target: evidence.Object{Namespace: "shop", Kind: "Deployment", Name: "cart"},
			Min:    2, Max: 10, Current: 4, Desired: 6, LastScale: at("2024-05-06T07:00:00Z"),
			Metrics:    []string{"cpu: 81%/60%", "rps: ?/100"},
			Conditions: []evidence.Condition{{Type: "ScalingLimited", Status: "False", Reason: "DesiredWithinRange"}},
		},
		{
			Object: evidence.Object{Kind: "HorizontalPodAutoscaler", Name: "old"}, Target: evidence.Object{Kind: "Deployment", Name: "old"},
			Min: -1, Max: 3, Current: 1, Desired: 1, Metrics: []string{"cpu: ?/50%"},
			Conditions: []evidence.Condition{{Type: "ScalingActive", Status: "True", Transition: at("2024-05-06T07:00:00Z")}},
		},
	}
	if diff := cmp.Diff(want, set.Autoscalers, noExcerpt); diff != "" {
		t.Error(diff)
	}
}

func TestClusterObjects(t *testing.T) {
	set := addJSON(t, `{"kind":"List","apiVersion":"v1","items":[
	{"apiVersion":"v1","kind":"Node","metadata":{"name":"n1","creationTimestamp":"2024-01-01T00:00:00Z"},
	 "spec":{"unschedulable":true,"taints":[{"key":"dedicated","value":"db","effect":"NoSchedule"},{"key":"x","effect":"NoExecute"}]},
	 "status":{"allocatable":{"cpu":"3920m","memory":"15Gi"},"nodeInfo":{"kubeletVersion":"v1.31.1"},
	  "conditions":[{"type":"Ready","status":"Unknown"},{"type":"DiskPressure","status":"False"}]}},
	{"apiVersion":"v1","kind":"Service","metadata":{"name":"cart","namespace":"shop","annotations":{
	  "service.beta.kubernetes.io/aws-load-balancer-healthcheck-path":"/up","service.beta.kubernetes.io/aws-load-balancer-healthcheck-interval":"10"}},
	 "spec":{"type":"LoadBalancer","externalTrafficPolicy":"Local","healthCheckNodePort":32211,"selector":{"app":"cart"},"ports":[{"name":"http","port":80,"targetPort":"web"}]}},
	{"apiVersion":"networking.k8s.io/v1","kind":"Ingress","metadata":{"name":"front","namespace":"shop","annotations":{
	  "alb.ingress.kubernetes.io/healthcheck-path":"/h","alb.ingress.kubernetes.io/healthcheck-timeout-seconds":"5","alb.ingress.kubernetes.io/success-codes":"200-399"}},
	 "spec":{"defaultBackend":{"service":{"name":"fallback"}},"rules":[{"http":{"paths":[{"backend":{"service":{"name":"cart"}}},{"backend":{"service":{"name":"cart"}}}]}}]}},
	{"apiVersion":"extensions/v1beta1","kind":"Ingress","metadata":{"name":"old","namespace":"knn","annotations":{"ingress.kubernetes.io/backends":"{\"k8s-be-31577--5e20\":\"UNHEALTHY\",\"k8s-be-30001--5e20\":\"HEALTHY\"}"}},
	 "spec":{"backend":{"serviceName":"vec","servicePort":80}}},
	{"apiVersion":"discovery.k8s.io/v1","kind":"EndpointSlice","metadata":{"name":"cart-x","namespace":"shop","labels":{"kubernetes.io/service-name":"cart"}},
	 "ports":[{"port":8080}],"endpoints":[
	  {"addresses":["10.0.0.1"],"conditions":{},"targetRef":{"kind":"Pod","name":"a","namespace":"shop"}},
	  {"addresses":["10.0.0.2"],"conditions":{"ready":false,"serving":false}},
	  {"addresses":["10.0.0.3"],"conditions":{"ready":false,"serving":true,"terminating":true}}]},
	{"apiVersion":"v1","kind":"Endpoints","metadata":{"name":"db","namespace":"shop"},"subsets":[{"ports":[{"port":5432}],"addresses":[{"ip":"10.0.1.1"}],"notReadyAddresses":[{"ip":"10.0.1.2","targetRef":{"kind":"Pod","name":"db-1"}}]}]},
	{"apiVersion":"elbv2.k8s.aws/v1beta1","kind":"TargetGroupBinding","metadata":{"name":"tgb","namespace":"shop"},"spec":{"targetGroupARN":"arn:x","targetType":"ip","serviceRef":{"name":"cart","port":80}}},
	{"apiVersion":"cloud.google.com/v1","kind":"BackendConfig","metadata":{"name":"bc"},"spec":{"healthCheck":{"checkIntervalSec":15,"timeoutSec":5,"requestPath":"/","port":8080,"type":"HTTP"}}},
	{"apiVersion":"metrics.k8s.io/v1beta1","kind":"PodMetrics","metadata":{"name":"cart-0","namespace":"shop"},"timestamp":"2024-05-06T07:00:00Z","window":"30s","containers":[{"name":"app","usage":{"cpu":"250m","memory":"128Mi"}}]}
	]}`, Origin{})
	if diff := cmp.Diff([]evidence.Node{{
		Object: evidence.Object{Kind: "Node", Name: "n1"}, KubeletVersion: "v1.31.1", Unschedulable: true,
		Conditions: []evidence.Condition{{Type: "Ready", Status: "Unknown"}, {Type: "DiskPressure", Status: "False"}},
		Taints:     []string{"dedicated=db:NoSchedule", "x:NoExecute"}, CPU: 3.92, Memory: 15 << 30, Created: at("2024-01-01T00:00:00Z"),
	}}, set.Nodes, noExcerpt); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]evidence.Service{
		{
			Object: evidence.Object{Namespace: "shop", Kind: "Service", Name: "cart"}, Selector: map[string]string{"app": "cart"},
			Ports: []evidence.Port{{Name: "http", Number: 80, Target: "web"}}, Policy: "Local", NodePort: 32211,
		},
		{Object: evidence.Object{Namespace: "shop", Kind: "Ingress", Name: "front"}, Backends: []string{"fallback", "cart"}},
		{Object: evidence.Object{Namespace: "knn", Kind: "Ingress", Name: "old"}, Backends: []string{"vec"}},
	}, set.Services, noExcerpt, cmpopts.IgnoreFields(evidence.Service{}, "Annotations")); diff != "" {
		t.Error(diff)
	}
	cart := func(id, state string, pod evidence.Object) evidence.Target {
		return evidence.Target{Balancer: "endpointslice", Group: "shop/cart", ID: id, Port: "8080", State: state, Pod: pod}
	}
	if diff := cmp.Diff([]evidence.Target{
		{Balancer: "gke", Group: "knn/old", ID: "k8s-be-30001--5e20", Port: "30001", State: "healthy", Reason: "HEALTHY"},
		{Balancer: "gke", Group: "knn/old", ID: "k8s-be-31577--5e20", Port: "31577", State: "unhealthy", Reason: "UNHEALTHY"},
		cart("10.0.0.1", "healthy", evidence.Object{Namespace: "shop", Kind: "Pod", Name: "a"}),
		cart("10.0.0.2", "unhealthy", evidence.Object{}),
		cart("10.0.0.3", "draining", evidence.Object{}),
		{Balancer: "endpointslice", Group: "shop/db", ID: "10.0.1.1", Port: "5432", State: "healthy"},
		{Balancer: "endpointslice", Group: "shop/db", ID: "10.0.1.2", Port: "5432", State: "unhealthy", Pod: evidence.Object{Namespace: "shop", Kind: "Pod", Name: "db-1"}},
	}, set.Targets, noExcerpt); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]evidence.HealthCheck{
		{Balancer: "aws", Group: "service shop/cart", Endpoint: evidence.Endpoint{Path: "/up"}, Interval: 10 * time.Second},
		{Balancer: "aws", Group: "ingress shop/front", Endpoint: evidence.Endpoint{Path: "/h"}, Timeout: 5 * time.Second, Matcher: "200-399"},
		{Balancer: "aws", Group: "arn:x", TargetPort: "80", TargetType: "ip"},
		{Balancer: "gke", Group: "backendconfig bc", Endpoint: evidence.Endpoint{Scheme: "http", Port: "8080", Path: "/"}, Interval: 15 * time.Second, Timeout: 5 * time.Second},
	}, set.HealthChecks, noExcerpt); diff != "" {
		t.Error(diff)
	}
	if len(set.Series) != 2 || set.Series[0].Samples[0].Value != 0.25 || set.Series[1].Samples[0].Value != 128<<20 {
		t.Errorf("series %+v", set.Series)
	}
}

func TestUnusedAndUnknown(t *testing.T) {
	var stats Stats
	set := &evidence.Set{}
	n, err := Add(set, map[string]any{"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "spec": map[string]any{}}, Origin{Stats: &stats})
	if n != 0 || err != nil || stats.Unused["NetworkPolicy"] != 1 {
		t.Errorf("NetworkPolicy: %d items, error %v, unused %v", n, err, stats.Unused)
	}
	if n, err := Add(set, map[string]any{"name": "x", "level": "info"}, Origin{}); n != 0 || !errors.Is(err, ErrNotKubernetes) {
		t.Errorf("a log record: %d items, error %v", n, err)
	}
	list := map[string]any{"kind": "PodList", "items": []any{
		"text", map[string]any{"metadata": map[string]any{"name": "a"}, "spec": map[string]any{}},
	}}
	if n, err := Add(set, list, Origin{}); n != 1 || !errors.Is(err, ErrNotKubernetes) || set.Pods[0].Object.Name != "a" {
		t.Errorf("a list with a bad element: %d items, error %v", n, err)
	}
}

func TestFragments(t *testing.T) {
	for _, c := range []struct {
		name, text string
		container  string
		probes     int
	}{
		{"pod specification", `{"containers":[{"name":"a","livenessProbe":{"exec":{"command":["/probe"]}}}]}`, "a", 1},
		{"container", `{"name":"a","image":"x:1","ports":[{"containerPort":80}]}`, "a", 0},
		{"probe under its name", `{"livenessProbe":{"exec":{"command":["/probe"]},"periodSeconds":7}}`, "", 1},
		{"bare probe", `{"httpGet":{"path":"/","port":80},"periodSeconds":7}`, "", 1},
		{"chart values", `{"web":{"probes":{"liveness":{"spec":{"periodSeconds":6,"timeoutSeconds":2}},"readiness":{"spec":{"periodSeconds":6}}}}}`, "", 2},
		{"template without its head", `{"spec":{"template":{"spec":{"containers":[{"name":"a","readinessProbe":{"handler":{"tcpSocket":{"port":"x"}}}}]}}}}`, "a", 1},
		{"resources", `{"limits":{"cpu":"250m"},"requests":{"cpu":"50m"}}`, "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			set := addJSON(t, c.text, Origin{})
			if len(set.Workloads) != 1 || len(set.Workloads[0].Containers) != 1 {
				t.Fatalf("workloads %+v", set.Workloads)
			}
			got := set.Workloads[0].Containers[0]
			if got.Name != c.container || len(got.Probes) != c.probes {
				t.Errorf("container %+v", got)
			}
			if got.ProbesKnown {
				t.Error("a fragment claims to know all probes")
			}
		})
	}
	set := addJSON(t, `{"type":"Ready","status":"False","reason":"ReadinessGatesNotReady","lastTransitionTime":"2024-02-02T02:02:02Z"}`, Origin{})
	if len(set.Pods) != 1 || set.Pods[0].Conditions[0].Reason != "ReadinessGatesNotReady" || set.Pods[0].Restarts != -1 {
		t.Errorf("a lone condition: %+v", set.Pods)
	}
}

func TestQuantity(t *testing.T) {
	for _, c := range []struct {
		in   string
		want float64
		ok   bool
	}{
		{"250m", 0.25, true}, {"1Gi", 1 << 30, true}, {"1.5", 1.5, true}, {"2e3", 2000, true}, {"1E3", 1000, true}, {"2E", 2e18, true},
		{"100M", 1e8, true}, {"0.1Ki", 102.4, true}, {"123456789n", 0.123456789, true}, {"-1", -1, true}, {"5k", 5000, true},
		{"", 0, false}, {"lots", 0, false}, {"1e999999999", 0, false}, {"1/2", 0, false}, {"0x10", 0, false}, {".", 0, false}, {"Inf", 0, false},
	} {
		got, ok := ParseQuantity(c.in)
		if got != c.want || ok != c.ok {
			t.Errorf("%q: %v, %v; want %v, %v", c.in, got, ok, c.want, c.ok)
		}
	}
}
