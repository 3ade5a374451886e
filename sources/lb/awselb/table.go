package awselb

import (
	"strings"

	"github.com/probedoctor/probedoctor/sources/evidence"
)

// Table reads the answer of describe-target-health line by line as --output table or --output text prints it. One target
// is spread over several rows: the health check's port, the target, and its health.
type Table struct {
	set  *evidence.Set
	base evidence.Item
	open bool
	cur  evidence.Target
	// section and keys are the heading of the rows that follow, in the table form.
	section string
	keys    []string
}

// NewTable makes a reader that appends to the set; base says where the text was read.
func NewTable(base evidence.Item, set *evidence.Set) *Table {
	base.Source = balancer
	return &Table{set: set, base: base}
}

// Line takes the line n and says whether it belongs to the answer.
func (t *Table) Line(n int, s string) bool {
	s = strings.TrimSpace(s)
	if text, ok := strings.CutPrefix(s, "TARGETHEALTHDESCRIPTIONS"); ok && (text == "" || text[0] == '\t') {
		t.flush()
		t.begin(n)
		t.cur.CheckPort = strings.TrimSpace(text)
		return true
	}
	if strings.Trim(s, "|-+") == "" && len(s) > 10 {
		return t.open
	}
	if t.open && strings.HasPrefix(s, "TARGET") && strings.IndexByte(s, '\t') > 0 {
		return t.textRow(s)
	}
	if !strings.HasPrefix(s, "|") || !strings.HasSuffix(s, "|") || len(s) < 3 {
		return false
	}
	cells := strings.Split(s[1:len(s)-1], "|")
	for len(cells) > 0 && strings.TrimSpace(cells[0]) == "" {
		// Nested tables are indented by empty cells of the outer ones.
		cells = cells[1:]
	}
	for len(cells) > 0 && strings.TrimSpace(cells[len(cells)-1]) == "" {
		cells = cells[:len(cells)-1]
	}
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	if len(cells) == 1 {
		switch name := strings.Trim(cells[0], "| "); name {
		case "DescribeTargetHealth":
			t.open = true
			t.section, t.keys = "", nil
			return true
		case "TargetHealthDescriptions":
			if !t.open {
				return false
			}
			t.flush()
			t.begin(n)
			t.section, t.keys = name, nil
			return true
		case "Target", "TargetHealth", "AnomalyDetection", "AdministrativeOverride":
			if !t.open {
				return false
			}
			t.section, t.keys = name, nil
			return true
		}
	}
	if !t.open || t.section == "" || len(cells) == 0 {
		return t.open
	}
	if len(cells) == 2 && isKey(cells[0]) && !isKey(cells[1]) {
		// A single field is printed as a row of key and value.
		t.field(cells[0], cells[1])
		return true
	}
	if t.keys == nil {
		for _, c := range cells {
			if !isKey(c) {
				return true
			}
		}
		t.keys = cells
		return true
	}
	for i, c := range cells {
		if i < len(t.keys) {
			t.field(t.keys[i], c)
		}
	}
	t.keys = nil
	return true
}

// Close appends the last target.
func (t *Table) Close() {
	t.flush()
	t.open = false
}

func isKey(s string) bool {
	switch s {
	case "Id", "Port", "AvailabilityZone", "State", "Reason", "Description", "HealthCheckPort", "MitigationInEffect", "Result":
		return true
	}
	return false
}

func (t *Table) begin(n int) {
	t.open = true
	t.cur = evidence.Target{Item: t.base, Balancer: balancer}
	t.cur.Line = n
}

func (t *Table) field(key, value string) {
	switch key {
	case "Id":
		t.cur.ID = value
	case "Port":
		t.cur.Port = value
	case "HealthCheckPort":
		t.cur.CheckPort = value
	case "State":
		if t.section == "TargetHealth" {
			t.cur.State = State(value)
		}
	case "Reason":
		if t.section == "TargetHealth" {
			t.cur.Reason = value
		}
	case "Description":
		if t.section == "TargetHealth" {
			t.cur.Description = value
		}
	}
}

// textRow reads "TARGET <tab> id <tab> port" and "TARGETHEALTH [<tab> description <tab> reason] <tab> state"; the text form
// prints the fields in the order of their names.
func (t *Table) textRow(s string) bool {
	f := strings.Split(s, "\t")
	for i := range f {
		f[i] = strings.TrimSpace(f[i])
	}
	switch f[0] {
	case "TARGET":
		for _, v := range f[1:] {
			switch {
			case v != "" && strings.Trim(v, "0123456789") == "":
				t.cur.Port = v
			case strings.ContainsAny(v, ".:") || strings.HasPrefix(v, "i-"):
				t.cur.ID = v
			}
		}
	case "TARGETHEALTH":
		t.cur.State = State(f[len(f)-1])
		for _, v := range f[1 : len(f)-1] {
			if _, ok := reasons[v]; ok {
				t.cur.Reason = v
			} else {
				t.cur.Description = v
			}
		}
	default:
		return false
	}
	return true
}

func (t *Table) flush() {
	if t.cur.ID != "" && t.cur.State != "" {
		t.cur.Codes = Codes(t.cur.Description)
		finish(&t.cur)
		t.set.Targets = append(t.set.Targets, t.cur)
	}
	t.cur = evidence.Target{}
}
