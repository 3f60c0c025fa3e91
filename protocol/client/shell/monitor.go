package shell

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/protocol/client"
)

// statementsQuery reads the statements that a cqld has recorded.
const statementsQuery = "SELECT * FROM cqld_control.statements"

// recorded is a statement that a client has run.
type recorded struct {
	number           int64
	statement, table string
	client, err      string
	took             time.Duration
	rows, tombstones int64
}

// recordedStatements reads the statements that a cqld has recorded, in order, without those that read them.
func (s *Session) recordedStatements(ctx context.Context) (all []recorded, err error) {
	o := client.QueryOptions{Consistency: cqlerr.LocalOne, PageSize: 5000}
	for {
		r, err := s.query(ctx, statementsQuery, &o)
		if _, fromServer := cqlerr.As(err); fromServer {
			return nil, shown("This needs a cqld that was started with --test-controls, which records statements.")
		}
		if err != nil {
			return nil, err
		}
		for row := range records(r) {
			one := recorded{
				number: row.number("number"), statement: row.text("statement"), client: row.text("client"),
				err:  row.text("error"),
				rows: row.number("rows_read"), tombstones: row.number("tombstones_read"),
			}
			if one.table = row.text("table_name"); one.table != "" {
				one.table = row.text("keyspace_name") + "." + one.table
			}
			if b, _ := row.value("took"); b != nil {
				_, _, nanos := types.DecodeDuration(b)
				one.took = time.Duration(nanos)
			}
			if one.statement != statementsQuery {
				all = append(all, one)
			}
		}
		if o.PagingState = r.PagingState; o.PagingState == nil {
			break
		}
	}
	slices.SortFunc(all, func(a, b recorded) int { return cmp.Compare(a.number, b.number) })
	return all, nil
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
		last = before[len(before)-1].number
	}
	s.print("%10s %8s %10s  statement\n", "took", "rows", "tombstones")
	return s.repeat(ctx, liveInterval, func() error {
		all, err := s.recordedStatements(ctx)
		if err != nil {
			return err
		}
		if len(all) > 0 && all[len(all)-1].number < last {
			last = 0 // the statements were forgotten, and numbers begin again
		}
		for _, r := range all {
			if r.number <= last {
				continue
			}
			last = r.number
			text := s.style.withoutColor(r.statement)
			if r.err != "" {
				text += "  " + s.style.paint(r.err, red)
			}
			s.print("%10s %8d %10d  %s\n", r.took.Round(time.Microsecond), r.rows, r.tombstones, text)
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
		s.printLoads("table", loads(all, func(r recorded) string { return r.table }))
		s.printLoads("statement", loads(all, func(r recorded) string { return form(r.statement) }))
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
func loads(all []recorded, key func(recorded) string) (sums []load) {
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
		l.took += r.took
		l.rows += r.rows
		l.tombstones += r.tombstones
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

// form is a statement with ? instead of its constants.
func form(statement string) string {
	tokens, err := lex(statement)
	if err != nil {
		return fmt.Sprintf("%.60s", statement)
	}
	var b strings.Builder
	for i, t := range tokens {
		switch {
		case t.kind == terminal || t.kind == lineEnd:
			continue
		case i > 0 && t.start > tokens[i-1].end && b.Len() > 0:
			b.WriteByte(' ')
		}
		if t.kind == text || t.kind == number {
			b.WriteByte('?')
			continue
		}
		b.WriteString(t.text)
	}
	return b.String()
}
