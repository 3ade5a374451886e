package paste

import (
	"strconv"
	"time"

	"github.com/probedoctor/probedoctor/sources/kubeobj"
)

// element reads one object of a list. Events, of which a list may hold a hundred thousand, go from tokens into a RawEvent;
// whatever else it is becomes a tree.
func (j *jsonReader) element(kind string) error {
	if _, err := j.dec.ReadToken(); err != nil {
		return err
	}
	line := j.line()
	j.raw = kubeobj.RawEvent{}
	isEvent := kind == "Event"
	var obj map[string]any
	apiVersion := ""
	room := budget{left: MaxTree}
	for j.dec.PeekKind() != '}' {
		name, err := j.dec.ReadValue()
		if err != nil {
			return err
		}
		known, err := j.eventMember(unquoted(name), isEvent)
		if err != nil {
			return err
		}
		switch known {
		case memberRead:
			continue
		case memberOfEvent:
			isEvent = true
			continue
		}
		key := j.pool.unquote(name)
		switch {
		case key == "apiVersion" && j.dec.PeekKind() == '"':
			if apiVersion, err = j.text(); err != nil {
				return err
			}
		case key == "kind" && j.dec.PeekKind() == '"':
			k, err := j.text()
			if err != nil {
				return err
			}
			kind, isEvent = k, k == "Event"
		case isEvent:
			if err := j.dec.SkipValue(); err != nil {
				return err
			}
		default:
			v, err := j.tree(&room, key, 1)
			if err != nil {
				return err
			}
			if obj == nil {
				obj = map[string]any{}
			}
			if room.take(len(key)) && v != nil {
				obj[key] = v
			}
		}
	}
	if _, err := j.dec.ReadToken(); err != nil {
		return err
	}
	if isEvent {
		if meta, ok := obj["metadata"].(map[string]any); ok {
			j.raw.Name, _ = meta["name"].(string)
			j.raw.Namespace, _ = meta["namespace"].(string)
			created, _ := meta["creationTimestamp"].(string)
			j.raw.Created = kubeobj.ParseTime(created)
		}
		j.takeEvent(&j.raw, line)
		j.understood++
		return nil
	}
	if room.over {
		j.cut++
	}
	if obj == nil {
		if kind == "" {
			j.unknown++
			return nil
		}
		obj = map[string]any{}
	}
	if kind != "" {
		obj["kind"] = kind
	}
	if apiVersion != "" {
		obj["apiVersion"] = apiVersion
	}
	if j.take(obj, line, room.over) {
		j.understood++
	} else {
		j.unknown++
	}
	return nil
}

// How eventMember dealt with a member.
const (
	memberUnknown = iota // not read
	memberRead           // read into the event
	memberOfEvent        // read, and only events have it
)

// eventMember reads the member of that name into the event. A member that objects of other kinds have as well is read only
// when the object is known to be an event.
func (j *jsonReader) eventMember(name []byte, isEvent bool) (int, error) {
	switch string(name) {
	case "involvedObject", "regarding":
		return memberOfEvent, j.fields(func(name []byte) *string {
			switch string(name) {
			case "kind":
				return &j.raw.Object.Kind
			case "namespace":
				return &j.raw.Object.Namespace
			case "name":
				return &j.raw.Object.Name
			case "uid":
				return &j.raw.Object.UID
			case "fieldPath":
				return &j.raw.FieldPath
			}
			return nil
		})
	case "count", "deprecatedCount":
		return memberRead, j.integer(&j.raw.Count)
	case "eventTime":
		return memberRead, j.time(&j.raw.EventTime)
	case "firstTimestamp", "deprecatedFirstTimestamp":
		return memberRead, j.time(&j.raw.First)
	case "lastTimestamp", "deprecatedLastTimestamp":
		return memberRead, j.time(&j.raw.Last)
	case "reportingComponent", "reportingController":
		return memberRead, j.str(&j.raw.Controller)
	case "reportingInstance":
		return memberRead, j.str(&j.raw.Instance)
	}
	if !isEvent {
		return memberUnknown, nil
	}
	switch string(name) {
	case "metadata":
		return memberRead, j.metadata()
	case "message", "note":
		return memberRead, j.str(&j.raw.Message)
	case "reason":
		return memberRead, j.str(&j.raw.Reason)
	case "type":
		return memberRead, j.str(&j.raw.Type)
	case "source", "deprecatedSource":
		return memberRead, j.fields(func(name []byte) *string {
			switch string(name) {
			case "component":
				return &j.raw.Component
			case "host":
				return &j.raw.Host
			}
			return nil
		})
	case "series":
		return memberRead, j.series()
	}
	return memberUnknown, nil
}

// members calls f for each member of the object that comes next; f must read the value. Anything else is skipped.
func (j *jsonReader) members(f func(name []byte) error) error {
	if j.dec.PeekKind() != '{' {
		return j.dec.SkipValue()
	}
	if _, err := j.dec.ReadToken(); err != nil {
		return err
	}
	for j.dec.PeekKind() != '}' {
		name, err := j.dec.ReadValue()
		if err != nil {
			return err
		}
		if err := f(unquoted(name)); err != nil {
			return err
		}
	}
	_, err := j.dec.ReadToken()
	return err
}

// fields reads the texts of an object into where field says; nil skips one.
func (j *jsonReader) fields(field func(name []byte) *string) error {
	return j.members(func(name []byte) error {
		if p := field(name); p != nil {
			return j.str(p)
		}
		return j.dec.SkipValue()
	})
}

func (j *jsonReader) metadata() error {
	return j.members(func(name []byte) error {
		switch string(name) {
		case "name":
			return j.str(&j.raw.Name)
		case "namespace":
			return j.str(&j.raw.Namespace)
		case "creationTimestamp":
			return j.time(&j.raw.Created)
		}
		return j.dec.SkipValue()
	})
}

func (j *jsonReader) series() error {
	return j.members(func(name []byte) error {
		switch string(name) {
		case "count":
			return j.integer(&j.raw.SeriesCount)
		case "lastObservedTime":
			return j.time(&j.raw.SeriesLast)
		}
		return j.dec.SkipValue()
	})
}

// str reads a text into p; any other value leaves p as it is.
func (j *jsonReader) str(p *string) error {
	if j.dec.PeekKind() != '"' {
		return j.dec.SkipValue()
	}
	s, err := j.text()
	if err == nil {
		*p = s
	}
	return err
}

func (j *jsonReader) text() (string, error) {
	v, err := j.dec.ReadValue()
	if err != nil {
		return "", err
	}
	return j.pool.unquote(v), nil
}

func (j *jsonReader) time(p *time.Time) error {
	if j.dec.PeekKind() != '"' {
		return j.dec.SkipValue()
	}
	v, err := j.dec.ReadValue()
	if err != nil {
		return err
	}
	var t time.Time
	if t.UnmarshalText(unquoted(v)) == nil {
		*p = t.UTC()
	}
	return nil
}

func (j *jsonReader) integer(p *int) error {
	v, err := j.dec.ReadValue()
	if err != nil {
		return err
	}
	if n, convErr := strconv.Atoi(string(unquoted(v))); convErr == nil {
		*p = n
	}
	return nil
}
