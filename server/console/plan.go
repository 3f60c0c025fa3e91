package console

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/protocol/client/model"
)

// limited limits a request that may read much.
func (p *page) limited() (context.Context, context.CancelFunc) {
	return context.WithTimeout(p.ctx, queryTime)
}

// planView is the plan of a query.
type planView struct {
	Table, Partitions, Rows, Index, Filter string
	NeedsFiltering                         bool
	Slow                                   []string
}

// plan returns the plan of a query, or nil for other statements and unknown tables.
func (p *page) plan(statement cql.Statement, keyspace string) (*planView, error) {
	q, ok := statement.(*cql.Select)
	if !ok {
		return nil, nil
	}
	if q.Table.Keyspace != "" {
		keyspace = q.Table.Keyspace
	}
	if keyspace == "" {
		return nil, nil
	}
	tables, err := model.Tables(p.ctx, p.query, keyspace, q.Table.Name)
	if err != nil || len(tables) == 0 {
		return nil, err
	}
	of := model.PlanOf(q, tables[0])
	v := &planView{
		Table: keyspace + "." + q.Table.Name, Rows: of.Rows, Index: of.Index, Filter: strings.Join(of.Filters, " AND "), Slow: of.Slow,
		NeedsFiltering: len(of.Filters) > 0 && !q.AllowFiltering,
	}
	switch {
	case of.Partitions > 0:
		v.Partitions = strconv.Itoa(of.Partitions)
	case of.Index != "":
		v.Partitions = "the ones that the index finds"
	case strings.HasSuffix(of.Rows, "range of tokens"):
		v.Partitions = "a range of tokens"
	default:
		v.Partitions = "all"
	}
	return v, nil
}

// traceView is a trace as a timeline.
type traceView struct {
	Request, Coordinator string
	Took                 time.Duration
	Steps                []traceStep
	Incomplete           bool
	Nodes                bool // the steps have their nodes
}

// traceStep is a step with its bar, in thousandths of the whole time.
type traceStep struct {
	Activity, Source, Thread string
	At, Took                 time.Duration
	X, Width                 int64
	Replica                  bool
}

// The server writes a trace after the response.
const (
	traceTime  = 2 * time.Second
	traceRetry = 5 * time.Millisecond
)

// readTrace reads a trace when it is complete.
func (p *page) readTrace(id [16]byte) (*traceView, error) {
	ends := time.Now().Add(traceTime)
	for pause := traceRetry; ; pause *= 2 {
		t, err := model.ReadTrace(p.ctx, p.query, id)
		late := !time.Now().Before(ends)
		if err == nil && (t.Complete || late) {
			return newTraceView(t), nil
		}
		if err != nil && (late || !errors.Is(err, model.ErrNoTrace)) {
			return nil, err
		}
		select {
		case <-time.After(pause):
		case <-p.ctx.Done():
			return nil, p.ctx.Err()
		}
	}
}

// newTraceView makes the bars: each lasts until the next step of the same node.
func newTraceView(t *model.Trace) *traceView {
	v := &traceView{Request: t.Request, Coordinator: t.Coordinator, Took: t.Duration, Incomplete: !t.Complete}
	total := max(t.Duration, 1)
	for _, e := range t.Events {
		total = max(total, e.Elapsed)
	}
	for i, e := range t.Events {
		v.Nodes = v.Nodes || e.Source != ""
		until := e.Elapsed
		if e.Source == t.Coordinator {
			until = total
		}
		for _, next := range t.Events[i+1:] {
			if next.Source == e.Source {
				until = max(e.Elapsed, next.Elapsed)
				break
			}
		}
		v.Steps = append(v.Steps, traceStep{
			Activity: e.Activity, Source: e.Source, Thread: e.Thread, At: e.Elapsed, Took: until - e.Elapsed,
			X: int64(e.Elapsed * 1000 / total), Width: max(int64((until-e.Elapsed)*1000/total), 4), Replica: e.Source != t.Coordinator,
		})
	}
	return v
}
