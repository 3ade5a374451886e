package paste

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/probedoctor/probedoctor/sources/evidence"
	"github.com/probedoctor/probedoctor/sources/kubeobj"
)

// promAnswer reads an answer of the Prometheus HTTP API: instant (vector, scalar), range (matrix) and alerts. An answer
// that reports an error, and warnings, which mean that data is missing, become coverage; a sample that cannot be read
// loses only itself.
func promAnswer(tree map[string]any, o kubeobj.Origin, set *evidence.Set) error {
	cover := func(status evidence.CoverageStatus, detail string) {
		set.Coverage = append(set.Coverage, evidence.Coverage{
			Source: evidence.SourceMetrics, Status: status, Detail: fmt.Sprintf("%s:%d: %s", o.File, o.Line, detail),
		})
	}
	warnings, _ := tree["warnings"].([]any)
	for _, w := range warnings {
		if s, ok := w.(string); ok {
			cover(evidence.CoveragePartial, "Prometheus warns: "+excerpt(s))
		}
	}
	if partial, _ := tree["isPartial"].(bool); partial {
		// VictoriaMetrics says so when a storage node did not answer.
		cover(evidence.CoveragePartial, "the answer says itself that it is partial")
	}
	if tree["status"] == "error" {
		kind, _ := tree["errorType"].(string)
		text, _ := tree["error"].(string)
		status := evidence.CoverageError
		switch kind {
		case "timeout", "canceled":
			status = evidence.CoverageTimeout
		}
		cover(status, "Prometheus answered with an error: "+excerpt(strings.TrimSpace(kind+" "+text)))
		return nil
	}
	data, ok := tree["data"].(map[string]any)
	if !ok {
		data = tree
	}
	if alerts, ok := data["alerts"].([]any); ok {
		for _, a := range alerts {
			promAlert(a, o, set)
		}
		return nil
	}
	query, _ := tree["query"].(string)
	lost := 0
	add := func(metric any, samples []evidence.Sample) {
		r := evidence.Series{Query: query, Samples: samples}
		m, _ := metric.(map[string]any)
		for k, v := range m {
			s, _ := v.(string)
			switch {
			case k == "__name__":
				r.Name = s
			case s != "":
				if r.Labels == nil {
					r.Labels = make(map[string]string, len(m))
				}
				r.Labels[k] = s
			}
		}
		if len(samples) == 0 {
			return
		}
		finishSeries(&r)
		r.File, r.Line, r.Observed = o.File, o.Line, o.Observed
		set.Series = append(set.Series, r)
	}
	if kind, _ := data["resultType"].(string); kind == "scalar" || kind == "string" {
		if v, ok := apiSample(data["result"], &lost); ok {
			add(nil, []evidence.Sample{v})
		}
		return nil
	}
	result, ok := data["result"].([]any)
	if !ok {
		return errors.New("a Prometheus answer without a result")
	}
	histograms := 0
	for _, e := range result {
		m, ok := e.(map[string]any)
		if !ok {
			lost++
			continue
		}
		var samples []evidence.Sample
		values, isRange := m["values"].([]any)
		switch {
		case isRange:
			samples = make([]evidence.Sample, 0, len(values))
			for _, v := range values {
				if s, ok := apiSample(v, &lost); ok {
					samples = append(samples, s)
				}
			}
		case m["value"] != nil:
			if s, ok := apiSample(m["value"], &lost); ok {
				samples = append(samples, s)
			}
		case m["histogram"] != nil || m["histograms"] != nil:
			histograms++
			continue
		default:
			lost++
			continue
		}
		add(m["metric"], samples)
	}
	if lost > 0 {
		cover(evidence.CoveragePartial, fmt.Sprintf("%d values of the answer could not be read", lost))
	}
	if histograms > 0 {
		cover(evidence.CoveragePartial, fmt.Sprintf("%d native histograms were not read; ask for histogram_quantile of them", histograms))
	}
	return nil
}

// apiSample reads [seconds, "value"]. NaN says that there is no value: it is left out and not counted as lost.
func apiSample(v any, lost *int) (evidence.Sample, bool) {
	pair, ok := v.([]any)
	if !ok || len(pair) != 2 {
		*lost++
		return evidence.Sample{}, false
	}
	sec, ok1 := apiNumber(pair[0])
	val, ok2 := apiNumber(pair[1])
	if !ok1 || !ok2 || !(sec > 0 && sec < 1e11) {
		*lost++
		return evidence.Sample{}, false
	}
	if math.IsNaN(val) {
		return evidence.Sample{}, false
	}
	return evidence.Sample{At: time.UnixMilli(int64(math.Round(sec * 1000))).UTC(), Value: val}, true
}

func apiNumber(v any) (float64, bool) {
	switch v := v.(type) {
	case float64:
		return v, true
	case int:
		return float64(v), true
	case int64:
		return float64(v), true
	case uint64:
		return float64(v), true
	case json.Number:
		f, err := v.Float64()
		return f, err == nil
	case string:
		f, err := strconv.ParseFloat(v, 64)
		return f, err == nil
	}
	return 0, false
}

// promAlert turns an active alert into the sample that Prometheus itself keeps of it: ALERTS{alertstate="firing",…} 1.
func promAlert(v any, o kubeobj.Origin, set *evidence.Set) {
	m, _ := v.(map[string]any)
	labels, _ := m["labels"].(map[string]any)
	state, _ := m["state"].(string)
	since, _ := m["activeAt"].(string)
	at, ok := wholeTime(since)
	if len(labels) == 0 || !ok {
		return
	}
	r := evidence.Series{Name: "ALERTS", Labels: map[string]string{"alertstate": state}, Samples: []evidence.Sample{{At: at, Value: 1}}}
	for k, v := range labels {
		if s, ok := v.(string); ok && s != "" {
			r.Labels[k] = s
		}
	}
	finishSeries(&r)
	r.File, r.Line, r.Observed = o.File, o.Line, o.Observed
	set.Series = append(set.Series, r)
}
