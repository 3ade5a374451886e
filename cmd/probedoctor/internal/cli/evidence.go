package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/probedoctor/probedoctor/internal/diagnose"
	"github.com/probedoctor/probedoctor/internal/report"
	"github.com/probedoctor/probedoctor/rules"
	"github.com/probedoctor/probedoctor/rules/facts"
	"github.com/probedoctor/probedoctor/rules/pack"
	"github.com/probedoctor/probedoctor/runbooks"
	"github.com/probedoctor/probedoctor/sources/catalog"
	"github.com/probedoctor/probedoctor/sources/evidence"
	"github.com/probedoctor/probedoctor/sources/paste"
)

// knowledge loads the built-in pack and runbooks and the user's.
func (a *app) knowledge() (diagnose.Knowledge, error) {
	p, err := a.pack()
	if err != nil {
		return diagnose.Knowledge{}, err
	}
	lib, err := runbooks.Load(subfolders(a.knowledgeDirs(), "runbooks")...)
	if err != nil {
		return diagnose.Knowledge{}, err
	}
	return diagnose.Knowledge{Pack: p, Runbooks: lib}, nil
}

// knowledgeSoon loads the knowledge while the evidence is being read.
func (a *app) knowledgeSoon() func() (diagnose.Knowledge, error) {
	load := sync.OnceValues(a.knowledge)
	go load()
	return load
}

// builtIn stands before the names of our own files in messages about rules.
const builtIn = "built-in"

func (a *app) pack() (*rules.Pack, error) {
	sources := []rules.Source{{Name: builtIn, FS: pack.FS}}
	for _, d := range a.rulesDirs {
		if err := holdsKnowledge(d); err != nil {
			return nil, usagef("--rules: %w", err)
		}
	}
	for _, d := range a.knowledgeDirs() {
		sources = append(sources, rules.Source{Name: d, FS: os.DirFS(d)})
	}
	return rules.Load(sources...)
}

// holdsKnowledge fails for a folder in which nothing would be found, so that a typing error does not pass for knowledge.
func holdsKnowledge(dir string) error {
	if _, err := os.Stat(dir); err != nil {
		return err
	}
	parts := []string{"rules/*.yaml", "diagnoses.yaml", "signatures.yaml", "catalog/*.yaml", "runbooks/*.md"}
	for _, part := range parts {
		if found, _ := fs.Glob(os.DirFS(dir), part); len(found) > 0 {
			return nil
		}
	}
	return fmt.Errorf("%s has none of %s", dir, strings.Join(parts, ", "))
}

// scope says which evidence and which incidents a command is about.
type scope struct {
	files     []string
	at, asOf  string
	namespace string
	target    string // TYPE/NAME
}

// read reads the files and prepares the evidence: canonical metric series, resolved times, references.
func (a *app) read(s scope) (*evidence.Set, error) {
	if len(s.files) == 0 {
		return nil, usagef("no evidence: name files or folders with -f, or - for what is piped in (kubectl get events,pods -o json | %s diagnose -f -)", a.name)
	}
	at, err := parseTime("--at", s.at)
	if err != nil {
		return nil, err
	}
	set, err := paste.Read(s.files, a.in, paste.Options{Observed: at})
	if err != nil {
		return nil, err
	}
	for _, c := range set.Coverage {
		if c.Status == evidence.CoverageError {
			fmt.Fprintf(a.err, "%s: not read: %s\n", a.name, report.Safe(c.Detail))
		}
	}
	return set, a.prepare(set, at)
}

// someEvidence fails when there was nothing at all in what was read, so that a broken pipe does not pass for a healthy
// cluster.
func someEvidence(set *evidence.Set) error {
	for _, c := range set.Coverage {
		if c.Source != evidence.SourceInput {
			return nil
		}
	}
	return errors.New("the input holds no evidence, so this says nothing about the health of anything")
}

// prepare completes a set that a source has filled.
func (a *app) prepare(set *evidence.Set, at time.Time) error {
	cat, err := catalog.Load(subfolders(a.knowledgeDirs(), "catalog")...)
	if err != nil {
		return err
	}
	cat.Apply(set, catalog.Hints{Namespace: facts.QueryNamespace, PodRegex: facts.QueryPods})
	set.Finish(evidence.FinishOptions{At: at})
	return nil
}

func parseTime(flag, s string) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02 15:04"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t, nil
		}
	}
	return time.Time{}, usagef("%s %q: use a time like 2026-11-29T14:03:00Z", flag, s)
}

func parseZone(s string) (*time.Location, error) {
	switch s {
	case "", "UTC":
		return time.UTC, nil
	case "local", "Local":
		return time.Local, nil
	}
	z, err := time.LoadLocation(s)
	if err != nil {
		return nil, usagef("--tz %q: use UTC, local or a zone such as Europe/Berlin", s)
	}
	return z, nil
}

// options turns the scope into what a diagnosis needs.
func (s scope) options() (diagnose.Options, error) {
	asOf, err := parseTime("--as-of", s.asOf)
	if err != nil {
		return diagnose.Options{}, err
	}
	kind, name, ok := strings.Cut(s.target, "/")
	if s.target != "" && (!ok || name == "") {
		return diagnose.Options{}, usagef("%q: name the workload as TYPE/NAME, for example deploy/checkout", s.target)
	}
	if kind != "" {
		full, known := kinds[strings.ToLower(kind)]
		if !known {
			return diagnose.Options{}, usagef("%q: the type is none of deployment, statefulset, daemonset, replicaset, job, pod", kind)
		}
		kind = full
	}
	return diagnose.Options{AsOf: asOf, Namespace: s.namespace, Match: func(x rules.Subject) bool {
		if s.namespace != "" && x.Namespace != "" && x.Namespace != s.namespace {
			return false
		}
		if (kind == "Pod" || kind == "ReplicaSet") && x.Kind != kind && x.Name != "" && strings.HasPrefix(name, x.Name+"-") {
			return true // the incident is of the pod's workload
		}
		return s.target == "" || x.Name == name && (x.Kind == kind || x.Kind == "")
	}}, nil
}

// kinds are the types of workloads with kubectl's short names.
var kinds = map[string]string{
	"deploy": "Deployment", "deployment": "Deployment", "deployments": "Deployment", "deployment.apps": "Deployment",
	"sts": "StatefulSet", "statefulset": "StatefulSet", "statefulsets": "StatefulSet", "statefulset.apps": "StatefulSet",
	"ds": "DaemonSet", "daemonset": "DaemonSet", "daemonsets": "DaemonSet", "daemonset.apps": "DaemonSet",
	"rs": "ReplicaSet", "replicaset": "ReplicaSet", "replicasets": "ReplicaSet",
	"job": "Job", "jobs": "Job", "po": "Pod", "pod": "Pod", "pods": "Pod",
}

// matched reports that a named workload has no incident, so that a typing error does not read as health.
func matched(list *rules.DiagnosisList, s scope) error {
	if s.target == "" && s.namespace == "" || len(list.Items) > 0 {
		return nil
	}
	return fmt.Errorf("no symptom of %s in the evidence; without the filter, all that there is is listed", strings.Trim(s.namespace+" "+s.target, " "))
}
