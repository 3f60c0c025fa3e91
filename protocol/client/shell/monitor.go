package shell

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/cqld/cqld/protocol/client/model"
)

// recordedStatements reads the statements that a cqld has recorded, in order.
func (s *Session) recordedStatements(ctx context.Context) ([]model.Statement, error) {
	all, err := model.Statements(ctx, s.all)
	if errors.Is(err, model.ErrNotRecorded) {
		return nil, shown("This needs a cqld that was started with --test-controls, which records statements.")
	}
	return all, err
}

// How often \live and \top look for statements.
const (
	liveInterval = 200 * time.Millisecond
	topInterval  = 2 * time.Second
)

// repeat calls run at intervals, and writes its output, until ctx ends.
func (s *Session) repeat(ctx context.Context, interval time.Duration, run func() error) error {
	for {
		if err := errors.Join(run(), s.console.Flush()); err != nil {
			if errors.Is(err, context.Canceled) {
				return nil
			}
			return err
		}
		select {
		case <-time.After(interval):
		case <-ctx.Done():
			return nil
		}
	}
}

// liveCommand prints statements as clients run them.
func (s *Session) liveCommand(ctx context.Context, rest string) error {
	if rest != "" {
		return shown(`\live has no arguments.`)
	}
	before, err := s.recordedStatements(ctx)
	if err != nil {
		return err
	}
	last := int64(0)
	if len(before) > 0 {
		last = before[len(before)-1].Number
	}
	s.print("%10s %8s %10s  statement\n", "took", "rows", "tombstones")
	return s.repeat(ctx, liveInterval, func() error {
		all, err := s.recordedStatements(ctx)
		if err != nil {
			return err
		}
		if len(all) > 0 && all[len(all)-1].Number < last {
			last = 0 // the statements were forgotten, and numbers begin again
		}
		for _, r := range all {
			if r.Number <= last {
				continue
			}
			last = r.Number
			text := s.style.withoutColor(r.Text)
			if r.Err != "" {
				text += "  " + s.style.paint(r.Err, red)
			}
			s.print("%10s %8d %10d  %s\n", r.Took.Round(time.Microsecond), r.Rows, r.Tombstones, text)
		}
		return nil
	})
}

// load is the cost of all statements of one form.
type load struct {
	form             string
	count            int64
	took             time.Duration
	rows, tombstones int64
}

// topCommand prints the statements and tables that cost most: once, or on a terminal again and again.
func (s *Session) topCommand(ctx context.Context, rest string) error {
	if rest != "" {
		return shown(`\top has no arguments.`)
	}
	show := func() error {
		all, err := s.recordedStatements(ctx)
		if err != nil {
			return err
		}
		if s.o.Terminal {
			s.print("\x1b[H\x1b[2J")
		}
		s.print("%s, of the last %d statements\n", time.Now().Format(time.TimeOnly), len(all))
		s.printLoads("table", loads(all, func(r model.Statement) string { return r.Table }))
		s.printLoads("statement", loads(all, func(r model.Statement) string { return model.Form(r.Text) }))
		return nil
	}
	if !s.o.Terminal {
		return show()
	}
	return s.repeat(ctx, topInterval, show)
}

// topLines is how many lines each list of \top has.
const topLines = 10

func (s *Session) printLoads(title string, all []load) {
	s.print("\n%10s %8s %10s %10s  %s\n", "took", "count", "rows", "tombstones", title)
	for _, l := range all[:min(topLines, len(all))] {
		s.print("%10s %8d %10d %10d  %s\n", l.took.Round(time.Microsecond), l.count, l.rows, l.tombstones,
			s.style.withoutColor(l.form))
	}
}

// loads adds up the costs of statements with the same key, without those that have none; the highest come first.
func loads(all []model.Statement, key func(model.Statement) string) (sums []load) {
	byKey := map[string]*load{}
	for _, r := range all {
		k := key(r)
		if k == "" {
			continue
		}
		l := byKey[k]
		if l == nil {
			l = &load{form: k}
			byKey[k] = l
		}
		l.count++
		l.took += r.Took
		l.rows += r.Rows
		l.tombstones += r.Tombstones
	}
	for _, l := range byKey {
		sums = append(sums, *l)
	}
	slices.SortFunc(sums, func(a, b load) int {
		return cmp.Or(cmp.Compare(b.took, a.took), strings.Compare(a.form,
			b.form))
	})
	return sums
}
