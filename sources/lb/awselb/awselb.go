// Package awselb reads what the AWS command line prints about ELBv2 target groups: describe-target-health,
// describe-target-groups, describe-target-group-attributes and describe-tags, as JSON, and describe-target-health as the
// table of --output table or text.
//
// The idea: the answers of the API are enough; the package needs no client library and makes no request. It must not fill
// in defaults, which differ between load balancer types and controllers: what the answer does not say stays empty.
package awselb

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/probedoctor/probedoctor/sources/evidence"
)

// balancer is the name of the balancer in evidence.Target and evidence.HealthCheck.
const balancer = "aws"

// ErrUnknown says that the JSON is none of the answers that the package reads.
var ErrUnknown = errors.New("not an answer of aws elbv2")

// Read appends what the decoded answer holds to the set, with base as the place where it was read. An element that cannot
// be read loses only itself; the error then names it, and the others are added all the same.
func Read(tree map[string]any, base evidence.Item, set *evidence.Set) error {
	base.Source = balancer
	var errs []error
	known := false
	each := func(key string, read func(node, evidence.Item, *evidence.Set) error) {
		v, ok := tree[key]
		if !ok {
			return
		}
		known = true
		list, ok := v.([]any)
		if !ok {
			errs = append(errs, fmt.Errorf("%s is no list", key))
			return
		}
		bad := 0
		for _, e := range list {
			m, ok := e.(map[string]any)
			if !ok || read(m, base, set) != nil {
				bad++
			}
		}
		if bad > 0 {
			errs = append(errs, fmt.Errorf("%d of %d elements of %s could not be read", bad, len(list), key))
		}
	}
	group := groupName(node(tree).str("TargetGroupArn"))
	each("TargetHealthDescriptions", func(m node, it evidence.Item, s *evidence.Set) error { return target(m, group, it, s) })
	each("TargetGroups", healthCheck)
	each("TagDescriptions", tags)
	if list, ok := tree["Attributes"].([]any); ok {
		known = true
		attributes(list, group, base, set)
	}
	if !known {
		return ErrUnknown
	}
	return errors.Join(errs...)
}

// target reads an element of TargetHealthDescriptions. The answer does not say which group was asked for.
func target(m node, group string, it evidence.Item, set *evidence.Set) error {
	id := m.sub("Target")
	health := m.sub("TargetHealth")
	t := evidence.Target{
		Item: it, Balancer: balancer, Group: group, ID: id.str("Id"), Port: id.str("Port"), CheckPort: m.str("HealthCheckPort"),
		State: State(health.str("State")), Reason: health.str("Reason"), Description: health.str("Description"),
	}
	if t.ID == "" || t.State == "" {
		return errors.New("no target or no state")
	}
	t.Codes = Codes(t.Description)
	finish(&t)
	set.Targets = append(set.Targets, t)
	return nil
}

// finish writes the locator and the excerpt of a target.
func finish(t *evidence.Target) {
	t.Locator = t.ID
	if t.Port != "" {
		t.Locator += ":" + t.Port
	}
	if t.Group != "" {
		t.Locator = t.Group + "/" + t.Locator
	}
	parts := []string{t.Locator, t.State}
	for _, s := range []string{t.Reason, t.Description} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	t.Excerpt = strings.Join(parts, " ")
}

// State maps the API's TargetHealthState to the states of evidence.Target: "unhealthy.draining" is draining with the
// reason kept elsewhere, "unavailable" is unknown, since no check runs. Empty for what is no state.
func State(s string) string {
	switch s = strings.ToLower(s); s {
	case "healthy", "unhealthy", "draining", "initial", "unused":
		return s
	case "unhealthy.draining":
		return "draining"
	case "unavailable":
		return "unknown"
	}
	return ""
}

// Codes gives the HTTP statuses that a text names in brackets: "Health checks failed with these codes: [500,502]".
func Codes(s string) []int {
	open := strings.IndexByte(s, '[')
	if open < 0 {
		return nil
	}
	list, _, ok := strings.Cut(s[open+1:], "]")
	if !ok {
		return nil
	}
	var codes []int
	for _, f := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' || r == ';' }) {
		n, err := strconv.Atoi(f)
		if err != nil || n < 100 || n > 599 {
			return nil
		}
		codes = append(codes, n)
	}
	return codes
}

// reasons are the codes of TargetHealthReasonEnum with the state that each belongs to.
var reasons = map[string]string{
	"Elb.RegistrationInProgress":      "initial",
	"Elb.InitialHealthChecking":       "initial",
	"Target.ResponseCodeMismatch":     "unhealthy",
	"Target.Timeout":                  "unhealthy",
	"Target.FailedHealthChecks":       "unhealthy",
	"Elb.InternalError":               "unhealthy",
	"Target.NotRegistered":            "unused",
	"Target.NotInUse":                 "unused",
	"Target.InvalidState":             "unused",
	"Target.IpUnusable":               "unused",
	"Target.DeregistrationInProgress": "draining",
	"Target.HealthCheckDisabled":      "unknown",
}

// ReasonLine reads a line of text that is a reason code, with or without its description or the statuses that people write
// behind it: "Target.Timeout", "`Target.ResponseCodeMismatch [401]`", "Target.FailedHealthChecks: Health checks failed
// with these codes: [500,502]". The target itself is not known then.
func ReasonLine(s string, base evidence.Item) (evidence.Target, bool) {
	s = strings.Trim(strings.TrimSpace(s), "`\"'*,")
	s = strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(s, "Reason:"), "Reason code:"))
	end := strings.IndexFunc(s, func(r rune) bool { return r != '.' && (r < 'A' || r > 'z' || r > 'Z' && r < 'a') })
	if end < 0 {
		end = len(s)
	}
	reason := s[:end]
	state, ok := reasons[reason]
	if !ok {
		return evidence.Target{}, false
	}
	rest := strings.TrimSpace(s[end:])
	switch {
	case rest == "", rest[0] == ':', rest[0] == '[', rest[0] == '(', rest[0] == '-':
	default:
		// Prose about the code, not the code.
		return evidence.Target{}, false
	}
	rest = strings.TrimSpace(strings.TrimLeft(rest, ":-"))
	t := evidence.Target{Item: base, Balancer: balancer, State: state, Reason: reason, Description: rest, Codes: Codes(rest)}
	t.Source, t.Locator, t.Excerpt = balancer, reason, s
	return t, true
}

// healthCheck reads an element of TargetGroups.
func healthCheck(m node, it evidence.Item, set *evidence.Set) error {
	name := m.str("TargetGroupName")
	if name == "" {
		name = groupName(m.str("TargetGroupArn"))
	}
	if name == "" {
		return errors.New("a target group without a name")
	}
	if m.str("HealthCheckEnabled") == "false" {
		// A lambda group without checks has no settings that mean anything.
		return nil
	}
	h := evidence.HealthCheck{
		Item: it, Balancer: balancer, Group: name, TargetPort: m.str("Port"), TargetType: m.str("TargetType"),
		Endpoint: evidence.Endpoint{
			Scheme: strings.ToLower(m.str("HealthCheckProtocol")), Port: m.str("HealthCheckPort"), Path: m.str("HealthCheckPath"),
		},
		Interval: m.seconds("HealthCheckIntervalSeconds"), Timeout: m.seconds("HealthCheckTimeoutSeconds"),
		HealthyThreshold: m.integer("HealthyThresholdCount"), UnhealthyThreshold: m.integer("UnhealthyThresholdCount"),
	}
	matcher := m.sub("Matcher")
	if h.Matcher = matcher.str("HttpCode"); h.Matcher == "" {
		h.Matcher = matcher.str("GrpcCode")
	}
	if m.str("ProtocolVersion") == "GRPC" {
		h.Endpoint.Scheme = "grpc"
	}
	h.Locator = name
	h.Excerpt = excerpt(h)
	set.HealthChecks = append(set.HealthChecks, h)
	return nil
}

// excerpt says in one line how the group checks.
func excerpt(h evidence.HealthCheck) string {
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	if h.Endpoint != (evidence.Endpoint{}) {
		add("%s://:%s%s", h.Endpoint.Scheme, h.Endpoint.Port, h.Endpoint.Path)
	}
	if h.Interval > 0 {
		add("every %s", h.Interval)
	}
	if h.Timeout > 0 {
		add("timeout %s", h.Timeout)
	}
	if h.HealthyThreshold > 0 {
		add("healthy after %d", h.HealthyThreshold)
	}
	if h.UnhealthyThreshold > 0 {
		add("unhealthy after %d", h.UnhealthyThreshold)
	}
	if h.Matcher != "" {
		add("expects %s", h.Matcher)
	}
	if h.DeregistrationDelay > 0 {
		add("deregistration delay %s", h.DeregistrationDelay)
	}
	return "target group " + h.Group + ": " + strings.Join(parts, ", ")
}

// attributes reads describe-target-group-attributes. The delay goes to the health check of the same group that the set
// holds already; the answer seldom names the group, so with exactly one group known it is that one.
func attributes(list []any, group string, it evidence.Item, set *evidence.Set) {
	var delay time.Duration
	for _, e := range list {
		m, _ := e.(map[string]any)
		if node(m).str("Key") == "deregistration_delay.timeout_seconds" {
			delay = node(m).seconds("Value")
		}
	}
	if delay == 0 {
		return
	}
	match := -1
	for i := range set.HealthChecks {
		h := &set.HealthChecks[i]
		if h.Balancer != balancer || group != "" && h.Group != group {
			continue
		}
		if match >= 0 {
			match = -2
			break
		}
		match = i
	}
	if match >= 0 {
		set.HealthChecks[match].DeregistrationDelay = delay
		set.HealthChecks[match].Excerpt = excerpt(set.HealthChecks[match])
		return
	}
	h := evidence.HealthCheck{Item: it, Balancer: balancer, Group: group, DeregistrationDelay: delay}
	h.Locator = group
	h.Excerpt = excerpt(h)
	set.HealthChecks = append(set.HealthChecks, h)
}

// tags reads an element of TagDescriptions: the controllers' tags name the service or ingress that a group is for.
func tags(m node, it evidence.Item, set *evidence.Set) error {
	group := groupName(m.str("ResourceArn"))
	if group == "" {
		return nil
	}
	list, _ := m["Tags"].([]any)
	found := map[string]string{}
	for _, e := range list {
		t, _ := e.(map[string]any)
		if k := node(t).str("Key"); strings.Contains(k, "k8s.aws/") || strings.HasPrefix(k, "kubernetes.io/") {
			found[k] = node(t).str("Value")
		}
	}
	if len(found) == 0 {
		return nil
	}
	s := evidence.Service{Item: it, Object: evidence.Object{Kind: "TargetGroup", Name: group}, Annotations: found}
	if name := found["service.k8s.aws/stack"]; name != "" {
		s.Backends = []string{name}
	}
	s.Locator = group
	parts := []string{"target group " + group}
	for _, k := range slices.Sorted(maps.Keys(found)) {
		parts = append(parts, k+"="+found[k])
	}
	s.Excerpt = strings.Join(parts, " ")
	set.Services = append(set.Services, s)
	return nil
}

// groupName gives the name in a target group's ARN ("…:targetgroup/NAME/0123456789abcdef"), empty for anything else.
func groupName(arn string) string {
	_, rest, ok := strings.Cut(arn, ":targetgroup/")
	if !ok {
		return ""
	}
	name, _, _ := strings.Cut(rest, "/")
	return name
}

// node is a JSON object whose fields may be missing or of the wrong type.
type node map[string]any

func (n node) sub(key string) node {
	m, _ := n[key].(map[string]any)
	return m
}

// str gives a field as text, whether it is a text, a number or a truth value.
func (n node) str(key string) string {
	switch v := n[key].(type) {
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case int:
		return strconv.Itoa(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case uint64:
		return strconv.FormatUint(v, 10)
	case json.Number:
		return v.String()
	}
	return ""
}

// integer gives a whole number from 0 to a million, 0 when there is none.
func (n node) integer(key string) int {
	v, err := strconv.Atoi(n.str(key))
	if err != nil || v < 0 || v > 1e6 {
		return 0
	}
	return v
}

func (n node) seconds(key string) time.Duration { return time.Duration(n.integer(key)) * time.Second }
