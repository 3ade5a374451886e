// Package catalog is the metric catalog: how a software stack is recognised by its metrics, and what each canonical
// signal ("pool.utilisation", "handler.latency") is made of in that stack.
//
// The one idea: a signal is structure, not query text. From the same structure come the PromQL that an engineer pastes
// into Grafana ([Catalog.PromQL]) and the values computed from scrapes and range results at hand ([Catalog.Apply]), so
// that live and offline evidence mean the same.
//
// The package must not talk to a Prometheus, must not read a clock, and must not guess values: a sample whose partner is
// missing gives no ratio, and nothing is interpolated in time.
//
// # Stacks
//
// Stacks are YAML: those embedded here and those of a user's folder pass through the same strict loader.
//
//	stacks:
//	  - id: our-server                # lower-case words joined by hyphens
//	    title: Our server
//	    family: jvm                   # stacks that occur together
//	    common: true                  # asked for when nothing is known about the software
//	    note: What a reader must know.
//	    scope: pod                    # matchers that queries get: pod (namespace and pod), namespace, node or none
//	    by: [pod]                     # labels that queries group by
//	    prefer: ['container!=""']     # left out where labels allow it
//	    fallback: false               # true: recognised only from series that no other stack uses
//	    recognise: [our_workers]      # any is enough; without it, any series that the signals use
//	    hints: {images: [], threads: [], loggers: [], env: [], commands: []} # regular expressions
//	    signals:
//	      pool.busy: our_workers{state="busy"}                 # a gauge
//	      pool.utilisation: {kind: ratio, of: 'our_workers{state="busy"}', to: our_workers, collapse: true}
//	      request.rate: {kind: rate, of: our_requests_total}
//	      handler.latency:                                     # alternatives, the first that gives a value counts
//	        - {kind: quantile, quantile: 0.99, of: 'our_seconds{route|path=~"{healthPath}"}'}
//	        - {kind: max, scale: 0.001, of: 'our_max_millis{route=~"{healthPath}"}'}
//
// The kinds are gauge, max, sum (of, minus), rate, ratio (of, minus, to; counter for counters), quantile (of a classic
// histogram, named without _bucket) and count (count: '== 1'). With collapse, labels other than the target's are summed
// away before anything else. A selector's name may be a regular expression.
package catalog
