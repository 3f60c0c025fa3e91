package main

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/cqld/cqld/protocol"
)

// maxTries bounds how often the shrinker runs a scenario.
const maxTries = 150

// shrinker looks for the smallest scenario whose last step still shows a difference.
type shrinker struct {
	r       *runner
	family  *family
	cause   string
	tries   int
	best    *scenario
	last    *difference // of best
	at      *pair       // where the last try ran
	version protocol.Version
	there   string // the CREATE statements that ran there, "" for none, or changed
	rows    bool   // rows may be there
	err     error
}

// changed marks a keyspace in which more than one definition ran.
const changed = "changed"

// shrink reduces a finding's scenario.
func (r *runner) shrink(ctx context.Context, f *finding) (*scenario, *difference, error) {
	h := &shrinker{r: r, family: f.family, cause: f.cause(), best: f.scenario, last: f.difference}
	h.try(ctx, h.best.with(onlyLast(h.best)))
	h.try(ctx, h.best.with(withoutReads(h.best.steps)))
	for size := -1; size != h.best.size(); {
		size = h.best.size()
		h.steps(ctx)
		h.simplify(ctx)
	}
	if h.at != nil {
		h.err = errors.Join(h.err, r.release(h.at))
	}
	return h.best, h.last, h.err
}

// with is the scenario with other steps.
func (s *scenario) with(steps []*step) *scenario { return &scenario{version: s.version, steps: steps} }

// size is the length of all statements, which the shrinker minimizes.
func (s *scenario) size() int {
	n := 0
	for _, st := range s.steps {
		text, _ := st.cql(tableName)
		n += len(text)
	}
	return n
}

// onlyLast leaves the definitions before the last step.
func onlyLast(s *scenario) []*step {
	last := len(s.steps) - 1
	return append(slices.DeleteFunc(slices.Clone(s.steps[:last]), func(st *step) bool { return st.kind != definition }), s.steps[last])
}

// withoutReads leaves out the reads.
func withoutReads(steps []*step) []*step {
	last := len(steps) - 1
	return append(slices.DeleteFunc(slices.Clone(steps[:last]), func(st *step) bool { return st.kind == read }), steps[last])
}

// steps leaves out as many steps before the last as possible.
func (h *shrinker) steps(ctx context.Context) {
	last := h.best.steps[len(h.best.steps)-1]
	without(h.best.steps[:len(h.best.steps)-1], func(kept, _ []*step) bool {
		return h.try(ctx, h.best.with(append(slices.Clone(kept), last)))
	})
}

// without leaves out halves of a list, then quarters and so on, whenever try accepts the rest.
func without[T any](all []T, try func(kept, left []T) bool) {
	for chunk := (len(all) + 1) / 2; chunk > 0; chunk /= 2 {
		for at := 0; at < len(all); {
			end := min(at+chunk, len(all))
			if kept := slices.Delete(slices.Clone(all), at, end); try(kept, all[at:end]) {
				all = kept
			} else {
				at = end
			}
		}
	}
}

// try runs a scenario and makes it the best one if its last step differs for the same cause.
func (h *shrinker) try(ctx context.Context, s *scenario) bool {
	if h.tries++; h.tries > maxTries || h.err != nil || ctx.Err() != nil || len(s.steps) == 0 {
		return false
	}
	rest, err := h.prepare(ctx, s)
	if err != nil {
		h.err = err
		return false
	}
	var d *difference
	for _, st := range rest {
		var cassandra, cqld []*answer
		d, cassandra, cqld = h.at.send(ctx, st)
		if late(cassandra, cqld) {
			h.giveUp()
			return false
		}
		h.rows = h.rows || st.kind == write
		if st.kind == definition && !(refused(cassandra) && refused(cqld)) {
			h.there = changed
		}
		if d != nil && d.end {
			break
		}
	}
	if d == nil || d.tolerated != "" || d.cause() != h.cause {
		return false
	}
	h.best, h.last = s, d
	return true
}

// giveUp releases the pair of the last try, whose connections are closed.
func (h *shrinker) giveUp() {
	h.err = errors.Join(h.err, h.r.release(h.at))
	h.at = nil
}

// refused reports whether a step has failed without doing anything.
func refused(answers []*answer) bool { return answers[len(answers)-1].err != nil }

// prepare returns the steps to run on h.at: all of them in a keyspace without tables, or only the steps after the
// definitions if the last try left the same tables, which are truncated and used again. A cause in warnings needs new
// connections, because the servers send some warnings once per connection.
func (h *shrinker) prepare(ctx context.Context, s *scenario) ([]*step, error) {
	want, rest := "", s.steps
	for len(rest) > 1 && rest[0].production == "table" {
		text, _ := rest[0].cql(tableName)
		want += text + ";\n"
		rest = rest[1:]
	}
	if h.at != nil && !strings.HasPrefix(h.cause, "warnings") && h.version == s.version && h.there == want && h.clear(ctx) {
		return rest, nil
	}
	if h.at != nil {
		if err := h.r.release(h.at); err != nil {
			return nil, err
		}
	}
	var err error
	if h.at, err = h.r.open(ctx, h.family, s.version); err != nil {
		return nil, err
	}
	h.there, h.rows, h.version = want, false, s.version
	for _, st := range s.steps[:len(s.steps)-len(rest)] {
		if _, cassandra, cqld := h.at.send(ctx, st); late(cassandra, cqld) {
			h.giveUp()
			return nil, nil
		}
	}
	return rest, nil
}

// clear removes rows that may be there.
func (h *shrinker) clear(ctx context.Context) bool {
	if !h.rows || h.there == "" {
		return true
	}
	d, a, b := h.at.send(ctx, &step{root: words("TRUNCATE " + tableName)})
	h.rows = false
	return d == nil && !a[0].failed() && !late(b)
}
