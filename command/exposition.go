package command

import (
	"bytes"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// exposition is one answer of /metrics, in Prometheus' text format:
//
//	# HELP cqld_table_rows Rows, about.
//	# TYPE cqld_table_rows gauge
//	cqld_table_rows{keyspace="ks",table="t"} 2
//
// It keeps the lines of a metric together, because the format wants them so, and the tables of a scrape come one after
// the other, each with lines for many metrics.
type exposition map[string]*family

// family is a metric, with a line for each combination of its labels.
type family struct {
	kind, help string
	lines      []byte
}

// writeTo answers a request with the metrics, sorted by name.
func (e exposition) writeTo(w http.ResponseWriter) {
	var all bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(e)) {
		f := e[name]
		all.WriteString("# HELP " + name + " " + f.help + "\n# TYPE " + name + " " + f.kind + "\n")
		all.Write(f.lines)
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = w.Write(all.Bytes()) // fails only if the client has gone
}

// sample adds metrics to an exposition, all with the same labels.
type sample struct {
	to     exposition
	labels string // for example keyspace="ks",table="t"
}

// inLabels escapes the value of a label.
var inLabels = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// with returns a sample whose metrics have more labels: names and values in turn.
func (s sample) with(labels ...string) sample {
	for i := 0; i < len(labels); i += 2 {
		if s.labels != "" {
			s.labels += ","
		}
		s.labels += labels[i] + `="` + inLabels.Replace(labels[i+1]) + `"`
	}
	return s
}

// take adds a line. suffix follows the name of the metric in the line, as in those of a histogram.
func (s sample) take(kind, name, suffix, help string, value float64) {
	f := s.to[name]
	if f == nil {
		f = &family{kind: kind, help: help}
		s.to[name] = f
	}
	f.lines = append(append(f.lines, name...), suffix...)
	if s.labels != "" {
		f.lines = append(append(append(f.lines, '{'), s.labels...), '}')
	}
	f.lines = append(strconv.AppendFloat(append(f.lines, ' '), value, 'g', -1, 64), '\n')
}

func (s sample) counter(name, help string, value uint64) {
	s.take("counter", "cqld_"+name, "", help, float64(value))
}

func (s sample) counters(name, help, label string, values map[string]uint64) {
	for _, of := range slices.Sorted(maps.Keys(values)) {
		s.with(label, of).counter(name, help, values[of])
	}
}

func (s sample) gauge(name, help string, value int64) {
	s.take("gauge", "cqld_"+name, "", help, float64(value))
}

// histogram adds durations in seconds. buckets are how many were not longer than a bound, for ascending bounds.
func (s sample) histogram(name, help string, buckets []bucket, count uint64, total float64) {
	name = "cqld_" + name
	for _, b := range buckets {
		s.with("le", strconv.FormatFloat(b.bound, 'g', -1, 64)).take("histogram", name, "_bucket", help, float64(b.count))
	}
	s.with("le", "+Inf").take("histogram", name, "_bucket", help, float64(count))
	s.take("histogram", name, "_sum", help, total)
	s.take("histogram", name, "_count", help, float64(count))
}

type bucket struct {
	bound float64
	count uint64
}
