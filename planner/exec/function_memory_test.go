package exec_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner/exec"
	"github.com/cqld/cqld/store/pace"
)

// Calls wait while others have the memory that all share, until the time of their statement is over. One may have more
// than there is, so that those which have some do not wait for each other.
func TestFunctionsShareMemory(t *testing.T) {
	s := withTable(t, "k int PRIMARY KEY")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 20*time.Millisecond, errNoBody)
	defer cancel()
	first, second := s.executor.FunctionMemory(t.Context(), nil), s.executor.FunctionMemory(t.Context(), nil)
	third := s.executor.FunctionMemory(ctx, nil)
	const all = 1 << 30 // the limit does not matter to the first
	if err := first(all); err != nil {
		t.Fatal(err)
	}
	if err := second(1); err != nil {
		t.Errorf("no call may have more than there is: %v", err)
	}
	if err := third(1); !errors.Is(err, errNoBody) {
		t.Errorf("a definition waits for memory and ends with %v", err)
	}
	onTurn(t, 1, 20*time.Millisecond, func(turn *pace.Turn) {
		if err := s.executor.FunctionMemory(t.Context(), turn)(1); !errors.Is(err, pace.ErrTimeout) {
			t.Errorf("a statement waits for memory and ends with %v", err)
		}
	})
	_ = first(-all)
	_ = second(-1)
	onTurn(t, 1, 0, func(turn *pace.Turn) {
		hold := s.executor.FunctionMemory(t.Context(), turn)
		if err := hold(all); err != nil {
			t.Error(err)
		}
		_ = hold(-all)
	})
}

// What functions return to one statement is bounded, also where a statement of a hundred bytes has all of it at a time.
// Rows are computed one after the other.
func TestManyLongResults(t *testing.T) {
	exec.SetMaxHeld(t, 1<<20)
	s := withFunctions(t, "k int PRIMARY KEY, v text, w text")
	define := func(name string, fn schema.GoFunc, args ...types.Type) {
		err := s.store.Define(func(c *schema.Catalog) (*schema.Catalog, error) {
			return c.WithRoutine(&schema.Function{
				Callable: schema.Callable{Keyspace: "ks", Name: name, Args: args, Returns: types.Text},
				ArgNames: []string{"a", "b"}[:len(args)], Language: "java", CalledOnNull: true, Go: fn,
			}), nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	long := bytes.Repeat([]byte{'x'}, 100_000)
	define("long", func([][]byte) ([]byte, error) { return long, nil }, types.Int)
	define("short", func([][]byte) ([]byte, error) { return []byte("y"), nil }, types.Text)
	define("half", func([][]byte) ([]byte, error) { return make([]byte, 40<<20), nil }, types.Int)
	define("both", func([][]byte) ([]byte, error) { return []byte("z"), nil }, types.Text, types.Text)
	for k := range 20 {
		s.bound("INSERT INTO t (k, v) VALUES (?, 'y')", integer(k))
	}
	many := func(part string) string { return strings.Repeat(part+", ", 19) + part }
	batch := "BEGIN BATCH " + strings.Repeat("UPDATE t SET v = short(long(1)) WHERE k = 1; ", 20)
	for _, statement := range []string{
		"SELECT " + many("short(long(k))") + " FROM t WHERE k = 1",
		"SELECT k FROM t WHERE v IN (" + many("short(long(1))") + ") ALLOW FILTERING",
		batch + "APPLY BATCH",
		strings.Replace(batch, "; ", " IF EXISTS; ", 1) + "APPLY BATCH",
		"CREATE AGGREGATE a (text) SFUNC both STYPE text INITCOND both(half(1), half(1))",
	} {
		if _, err := s.run(statement, atSerial); err == nil || !strings.Contains(err.Error(), "what functions return") &&
			!strings.Contains(err.Error(), "What functions return") {
			t.Errorf("%.60s: %v", statement, err)
		}
	}
	for _, statement := range []string{
		"SELECT short(long(k)) FROM t", "UPDATE t SET v = short(long(1)), w = 'x' WHERE k = 1",
		"CREATE AGGREGATE a (text) SFUNC both STYPE text INITCOND short(half(1))",
	} {
		s.must(statement)
	}
}
