package exec_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/parser"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner"
	"github.com/cqld/cqld/planner/exec"
	"github.com/cqld/cqld/planner/exec/paging"
	"github.com/cqld/cqld/store"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/memory"
	"github.com/cqld/cqld/store/system"
)

// session is an executor on a store in memory, and the keyspace in use.
type session struct {
	t        testing.TB
	store    *store.Store
	executor *exec.Executor
	keyspace string
	version  int
	state    []byte        // the paging state of the next execution
	skew     time.Duration // the clock is that much ahead
}

// smallEngine takes little at once, so that little is needed to be refused.
type smallEngine struct{ engine.Engine }

// Limits are those of a small engine.
func (e smallEngine) Limits() engine.Limits {
	return engine.Limits{Key: e.Engine.Limits().Key, Value: 1 << 20, CommitBytes: 1 << 20, CommitOps: 10_000}
}

func newSession(t testing.TB) *session {
	return newSessionOn(t, func(e engine.Engine) engine.Engine { return e })
}

// newSessionOn is newSession with something in front of the engine.
func newSessionOn(t testing.TB, wrap func(engine.Engine) engine.Engine) *session {
	t.Helper()
	s := &session{t: t, version: 4}
	st, err := store.Open(store.Options{
		Engine: func(f engine.Fold) (engine.Engine, error) {
			return wrap(smallEngine{memory.Open(f)}), nil
		},
		Now:    func() time.Time { return time.Now().Add(s.skew) },
		Log:    zerolog.Nop(),
		System: system.Definitions(),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	system.Register(st, system.Options{})
	s.store, s.executor = st, exec.New(st, nil, nil, zerolog.Nop())
	return s
}

// prepare parses and plans a statement.
func (s *session) prepare(text string) (*planner.Prepared, error) {
	stmt, _, err := parser.Parse(text)
	if err != nil {
		return nil, err
	}
	return planner.Make(stmt, planner.Env{Catalog: s.store.Catalog(), Keyspace: s.keyspace})
}

// answer is a result whose rows were copied.
type answer struct {
	exec.Result
	err error
}

// execute runs a prepared statement and waits for its answer.
func (s *session) execute(p *planner.Prepared, o exec.Options, values ...types.Value) (exec.Result, error) {
	done := make(chan answer, 1)
	o.Version, o.Keyspace = s.version, s.keyspace
	if state := s.state; state != nil {
		s.state = nil
		var err error
		if o.PagingState, err = paging.Decode(state, s.version); err != nil {
			return nil, err
		}
	}
	if o.Consistency == cqlerr.Any {
		o.Consistency = cqlerr.One
	}
	r := &exec.Request{Prepared: p, Values: values, Options: o}
	s.executor.Execute(context.Background(), r, func(r exec.Result, err error) { done <- answer{copied(r), err} })
	a := <-done
	if k, ok := a.Result.(*exec.SetKeyspace); ok {
		s.keyspace = k.Keyspace
	}
	return a.Result, a.err
}

// copied keeps rows beyond the callback they were given to.
func copied(r exec.Result) exec.Result {
	rows, ok := r.(*exec.Rows)
	if !ok {
		return r
	}
	c := *rows
	c.Cells = append([]byte(nil), rows.Cells...)
	return &c
}

// run runs a statement written as text.
func (s *session) run(text string, o exec.Options) (exec.Result, error) {
	p, err := s.prepare(text)
	if err != nil {
		return nil, err
	}
	return s.execute(p, o)
}

// must runs a statement that has to succeed.
func (s *session) must(text string) exec.Result {
	s.t.Helper()
	r, err := s.run(text, exec.Options{})
	if err != nil {
		s.t.Fatalf("%s: %v", text, err)
	}
	return r
}

// text is what a statement answers in the form of the scripts.
func (s *session) text(statement string, page int) string {
	var b strings.Builder
	o := exec.Options{PageSize: page}
	for i := 0; ; i++ {
		r, err := s.run(statement, o)
		if err != nil {
			return b.String() + errorText(err)
		}
		rows, ok := r.(*exec.Rows)
		if !ok {
			return "ok\n" + warnings(r)
		}
		if i == 0 {
			b.WriteString(header(rows))
			b.WriteString(warnings(r))
		} else {
			b.WriteString("-- page\n")
		}
		for _, row := range decode(rows) {
			b.WriteString(strings.Join(row, " | ") + "\n")
		}
		if rows.PagingState == nil {
			return b.String()
		}
		s.state = rows.PagingState
	}
}

// warnings are those of any result, a line each.
func warnings(r exec.Result) string {
	var all []string
	switch r := r.(type) {
	case *exec.Void:
		all = r.Warnings
	case *exec.Rows:
		all = r.Warnings
	case *exec.SchemaChange:
		all = r.Warnings
	}
	var b strings.Builder
	for _, w := range all {
		b.WriteString("warning: " + w + "\n")
	}
	return b.String()
}

func errorText(err error) string {
	e, ok := cqlerr.As(err)
	if !ok {
		return "internal error: " + err.Error() + "\n"
	}
	if e.Code == cqlerr.AlreadyExists {
		return "error 2400\n"
	}
	return fmt.Sprintf("error %04x: %s\n", uint32(e.Code), e.Message)
}

func header(r *exec.Rows) string {
	var names []string
	for _, c := range r.Columns {
		names = append(names, c.Name)
	}
	return strings.Join(names, " | ") + "\n"
}

// decode turns cells into CQL literals.
func decode(r *exec.Rows) [][]string {
	var rows [][]string
	b := slices.Concat(append(slices.Clone(r.Before), r.Cells)...)
	for range r.Count {
		var row []string
		for _, c := range r.Columns {
			n := int32(binary.BigEndian.Uint32(b))
			b = b[4:]
			if n < 0 {
				row = append(row, "null")
				continue
			}
			row = append(row, c.Type.Format(b[:n:n]))
			b = b[n:]
		}
		rows = append(rows, row)
	}
	if len(b) > 0 {
		rows = append(rows, []string{fmt.Sprintf("%d bytes too many", len(b))})
	}
	return rows
}

var pageOf = regexp.MustCompile(`^\[page (\d+)\] `)

// TestPages runs what testdata/pages.txt has. A line that begins with > is a statement, perhaps with a page
// size; what follows is the answer.
func TestPages(t *testing.T) {
	content, err := os.ReadFile("testdata/pages.txt")
	if err != nil {
		t.Fatal(err)
	}
	s := newSession(t)
	s.must("CREATE KEYSPACE script WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
	s.must("USE script")
	for _, block := range strings.Split("\n"+string(content), "\n> ")[1:] {
		statement, want, _ := strings.Cut(block, "\n")
		var lines []string
		for _, l := range strings.Split(want, "\n") {
			if l != "" && !strings.HasPrefix(l, "#") {
				lines = append(lines, l)
			}
		}
		want = strings.Join(lines, "\n") + "\n"
		page, text := 0, statement
		if m := pageOf.FindStringSubmatch(statement); m != nil {
			page, _ = strconv.Atoi(m[1])
			text = statement[len(m[0]):]
		}
		got := s.text(text, page)
		if got != want {
			t.Errorf("%s\ngot:\n%swant:\n%s", statement, got, want)
		}
	}
}
