// Package catalog is the metric catalog: how a software stack is recognised by its metrics, and what each canonical
// signal ("pool.utilisation", "handler.latency") is made of in that stack.
//
// The one idea: a signal is structure, not query text. From the same structure come the PromQL that an engineer pastes
// into Grafana ([Catalog.PromQL]) and the values computed from scrapes and range results at hand ([Catalog.Apply]), so
// that live and offline evidence mean the same.
//
// Stacks are YAML: those embedded here and those of a user's folder pass through the same strict loader.
//
// The package must not talk to a Prometheus, must not read a clock, and must not guess values: a sample whose partner is
// missing gives no ratio, and nothing is interpolated.
package catalog
