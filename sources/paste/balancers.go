package paste

import (
	"strings"

	"github.com/probedoctor/probedoctor/sources/evidence"
	"github.com/probedoctor/probedoctor/sources/kubeobj"
	"github.com/probedoctor/probedoctor/sources/lb/awselb"
	"github.com/probedoctor/probedoctor/sources/lb/envoy"
	"github.com/probedoctor/probedoctor/sources/lb/haproxy"
)

// isELB tells whether a decoded object is an answer of aws elbv2.
func isELB(obj map[string]any) bool {
	for _, key := range []string{"TargetHealthDescriptions", "TargetGroups", "TagDescriptions"} {
		if _, ok := obj[key].([]any); ok {
			return true
		}
	}
	list, _ := obj["Attributes"].([]any)
	if len(list) == 0 {
		return false
	}
	first, _ := list[0].(map[string]any)
	key, _ := first["Key"].(string)
	return strings.IndexByte(key, '.') > 0
}

// elbAnswer reads an answer of aws elbv2 as JSON.
func elbAnswer(tree map[string]any, o kubeobj.Origin, set *evidence.Set) error {
	return awselb.Read(tree, evidence.Item{File: o.File, Line: o.Line, Observed: o.Observed}, set)
}

// envoyAnswer reads Envoy's clusters as JSON.
func envoyAnswer(tree map[string]any, o kubeobj.Origin, set *evidence.Set) error {
	return envoy.Read(tree, evidence.Item{File: o.File, Line: o.Line, Observed: o.Observed}, set)
}

// tables reads the line formats that machines print over many lines and that are no kubectl tables: HAProxy's statistics,
// Envoy's clusters, the tables of aws elbv2, and values over time as CSV. Each is known by its first line.
type tables struct {
	file    string
	set     *evidence.Set
	haproxy *haproxy.Reader
	envoy   *envoy.Text
	elb     *awselb.Table
	csv     *csvReader
}

func newTables(file string, set *evidence.Set) *tables {
	base := evidence.Item{File: file}
	return &tables{
		file: file, set: set, haproxy: haproxy.NewReader(base, set), envoy: envoy.NewText(base, set), elb: awselb.NewTable(base, set),
		csv: &csvReader{file: file, set: set},
	}
}

// line takes a line and says whether it belongs to one of the formats; err says what is wrong with one that does.
func (m *tables) line(n int, s string) (taken bool, err error) {
	if s == "" {
		return false, nil
	}
	if taken, err = m.haproxy.Line(n, s); taken {
		return true, err
	}
	if m.elb.Line(n, s) || m.csv.line(n, s) {
		return true, nil
	}
	if strings.Contains(s, "::") && m.envoy.Line(n, s) {
		return true, nil
	}
	if strings.Contains(s, "Target.") || strings.Contains(s, "Elb.") {
		if t, ok := awselb.ReasonLine(s, evidence.Item{File: m.file, Line: n}); ok {
			m.set.Targets = append(m.set.Targets, t)
			return true, nil
		}
	}
	if strings.Contains(s, "Health check for ") || strings.Contains(s, " is DOWN") || strings.Contains(s, " is UP") {
		// HAProxy's verdict; the line stays a line of a log too.
		if l, _, ok := logLine(s); ok {
			if t, ok := haproxy.LogLine(l.Message, l.At, evidence.Item{File: m.file, Line: n}); ok {
				m.set.Targets = append(m.set.Targets, t)
			}
		}
	}
	return false, nil
}

func (m *tables) close() {
	m.envoy.Close()
	m.elb.Close()
	m.csv.close()
}

// balancerLine gives the line to the readers of machines' tables.
func (t *text) balancerLine(_, trimmed string) bool {
	if t.machines == nil {
		t.machines = newTables(t.file, t.set)
	}
	taken, err := t.machines.line(t.n, trimmed)
	if !taken {
		return false
	}
	t.closeRow()
	if err != nil {
		t.complain(err.Error())
	}
	return true
}
