package console

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cqld/cqld/server"
)

// history has the rates of requests while pages of activity are open, one sample a second.
type history struct {
	mu      sync.Mutex
	samples []rateSample
}

// rateSample is the state of the counters at a time.
type rateSample struct {
	at               time.Time
	requests, errors uint64
}

// The samples that are kept, and the least time that the chart shows.
const (
	historyTime    = 2 * time.Minute
	sampleInterval = 900 * time.Millisecond
	minWindow      = 20 * time.Second
)

// ratesView is the chart of requests per second.
type ratesView struct {
	PerSecond, Errors float64
	Max               float64
	Line, Area        string // points of SVG
	ErrorLine         string
	Total             uint64
	Window            time.Duration // the width of the chart
}

// The size of the chart.
const (
	chartWidth  = 600
	chartHeight = 120
)

// ownRequests counts the queries of the pages themselves, which the chart leaves out.
type ownRequests struct{ requests, errors atomic.Uint64 }

func (o *ownRequests) add(err error) {
	o.requests.Add(1)
	if err != nil {
		o.errors.Add(1)
	}
}

// sample adds the counters of now, unless they were added just before, and returns the chart.
func (h *history) sample(now time.Time, m server.Metrics, own *ownRequests) ratesView {
	s := rateSample{at: now}
	for _, opcode := range []string{"QUERY", "EXECUTE", "BATCH", "PREPARE"} {
		s.requests += m.Requests[opcode]
	}
	for _, n := range m.Errors {
		s.errors += n
	}
	s.requests -= min(s.requests, own.requests.Load())
	s.errors -= min(s.errors, own.errors.Load())
	h.mu.Lock()
	defer h.mu.Unlock()
	if n := len(h.samples); n == 0 || now.Sub(h.samples[n-1].at) >= sampleInterval {
		h.samples = append(h.samples, s)
	}
	h.samples = slices.DeleteFunc(h.samples, func(old rateSample) bool { return now.Sub(old.at) > historyTime })
	return newRatesView(h.samples, s)
}

func newRatesView(samples []rateSample, now rateSample) ratesView {
	v := ratesView{Total: now.requests, Max: 1, Window: minWindow}
	if len(samples) > 1 {
		v.Window = max(v.Window, now.at.Sub(samples[1].at))
	}
	type point struct{ x, requests, errors float64 }
	var points []point
	for i := 1; i < len(samples); i++ {
		a, b := samples[i-1], samples[i]
		seconds := b.at.Sub(a.at).Seconds()
		if seconds > 10 { // no page was open
			continue
		}
		age := now.at.Sub(b.at).Seconds() / v.Window.Seconds()
		rate := func(from, to uint64) float64 { return float64(to-min(from, to)) / seconds }
		one := point{(1 - age) * chartWidth, rate(a.requests, b.requests), rate(a.errors, b.errors)}
		points = append(points, one)
		v.Max = max(v.Max, one.requests, one.errors)
		v.PerSecond, v.Errors = one.requests, one.errors
	}
	if len(points) == 0 {
		return v
	}
	y := func(rate float64) float64 { return chartHeight - rate/v.Max*(chartHeight-8) }
	var line, errors strings.Builder
	for _, p := range points {
		fmt.Fprintf(&line, "%.1f,%.1f ", p.x, y(p.requests))
		fmt.Fprintf(&errors, "%.1f,%.1f ", p.x, y(p.errors))
	}
	v.Line, v.ErrorLine = line.String(), errors.String()
	v.Area = fmt.Sprintf("%.1f,%d %s%.1f,%d", points[0].x, chartHeight, v.Line, points[len(points)-1].x, chartHeight)
	return v
}

// RateText prints a rate with its unit.
func (v ratesView) RateText() string { return rateText(v.PerSecond) }

// ErrorText prints the rate of errors.
func (v ratesView) ErrorText() string { return rateText(v.Errors) }

// WindowText prints the age of the left end of the chart.
func (v ratesView) WindowText() string { return v.Window.Round(time.Second).String() }

// MaxText prints the rate at the top of the chart.
func (v ratesView) MaxText() string { return rateText(v.Max) }

func rateText(rate float64) string {
	if rate > 0 && rate < 10 {
		return fmt.Sprintf("%.1f", rate)
	}
	return countText(int64(math.Round(rate)))
}

// latencyView is the histogram of a kind of statements of a table.
type latencyView struct {
	Statement, Table string
	Count            uint64
	Mean, P50, P99   time.Duration
	Bars             []bar
}

// bar is a bar of a histogram, in the units of its SVG.
type bar struct {
	X, Y, Height float64
	Title        string
}

const (
	barHeight = 24.0
	barStep   = 6.0
)

// ChartWidth is the width of the histogram.
func (v latencyView) ChartWidth() float64 { return float64(len(v.Bars)) * barStep }

func newLatencyView(l *server.StatementLatency) latencyView {
	v := latencyView{Statement: l.Statement, Count: l.Count, Mean: l.Total / time.Duration(l.Count)}
	switch {
	case l.Table != "":
		v.Table = l.Keyspace + "." + l.Table
	case l.Statement != "definition" && l.Statement != "describe" && l.Statement != "use":
		v.Table = "other tables"
	}
	bounds := slices.Sorted(maps.Keys(l.Buckets))
	v.P50, v.P99 = quantile(l, bounds, 0.5), quantile(l, bounds, 0.99)
	counts := make([]uint64, 0, len(bounds)+1)
	before := uint64(0)
	for _, bound := range bounds {
		counts = append(counts, l.Buckets[bound]-before)
		before = l.Buckets[bound]
	}
	counts = append(counts, l.Count-min(l.Count, before))
	highest := max(slices.Max(counts), 1)
	for i, n := range counts {
		height := 0.0
		if n > 0 {
			height = max(2, barHeight*math.Sqrt(float64(n)/float64(highest)))
		}
		title := "more than " + tookText(bounds[len(bounds)-1])
		if i < len(bounds) {
			title = "up to " + tookText(bounds[i])
		}
		v.Bars = append(v.Bars, bar{
			X: float64(i) * barStep, Y: barHeight - height, Height: height, Title: fmt.Sprintf("%s: %s", title, countText(int64(n))),
		})
	}
	return v
}

// quantile is the upper bound of the bucket in which a share of the statements is reached.
func quantile(l *server.StatementLatency, bounds []time.Duration, share float64) time.Duration {
	for _, bound := range bounds {
		if float64(l.Buckets[bound]) >= share*float64(l.Count) {
			return bound
		}
	}
	return bounds[len(bounds)-1]
}

// ringView is a ring of nodes as SVG draws it.
type ringView struct {
	Arcs  []arc
	Marks []mark
}

// arc is a range of tokens that a node has.
type arc struct {
	Path, Class, Title string
}

// mark is the number of a node.
type mark struct {
	X, Y         float64
	Number       int64
	Class, Title string
}

// The circles of the ring.
const (
	ringCentre = 120.0
	ringRadius = 80.0
	markRadius = 105.0
)

// newRing draws the token ranges of nodes, and the nodes around them at the middle of their longest range.
func newRing(nodes []nodeView) ringView {
	type token struct {
		at   int64
		node *nodeView
	}
	var tokens []token
	for i := range nodes {
		for _, t := range nodes[i].Tokens {
			tokens = append(tokens, token{t, &nodes[i]})
		}
	}
	slices.SortFunc(tokens, func(a, b token) int { return cmp.Compare(a.at, b.at) })
	angle := func(t int64) float64 { return (float64(t)/(1<<64) + 0.5) * 2 * math.Pi }
	point := func(angle, radius float64) (x, y float64) {
		return ringCentre + radius*math.Sin(angle), ringCentre - radius*math.Cos(angle)
	}
	var v ringView
	for i, t := range tokens { // a node has the tokens up to its own
		from := tokens[(i+len(tokens)-1)%len(tokens)]
		a, b := angle(from.at), angle(t.at)
		if b <= a {
			b += 2 * math.Pi
		}
		b = min(b, a+2*math.Pi-0.001) // a whole circle is no arc
		long := 0
		if b-a > math.Pi {
			long = 1
		}
		x1, y1 := point(a, ringRadius)
		x2, y2 := point(b, ringRadius)
		v.Arcs = append(v.Arcs, arc{
			Path:  fmt.Sprintf("M%.1f %.1fA%g %g 0 %d 1 %.1f %.1f", x1, y1, ringRadius, ringRadius, long, x2, y2),
			Class: t.node.Class(), Title: fmt.Sprintf("node %d: (%d, %d]", t.node.Number, from.at, t.at),
		})
	}
	for i := range nodes {
		x, y := point(float64(i)*2*math.Pi/float64(len(nodes)), markRadius)
		v.Marks = append(v.Marks, mark{X: x, Y: y, Number: nodes[i].Number, Class: nodes[i].Class(), Title: nodes[i].Address})
	}
	return v
}
