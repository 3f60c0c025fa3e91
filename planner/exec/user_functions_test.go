package exec_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner/exec"
	"github.com/cqld/cqld/planner/guardrail"
)

// withFunctions is withTable where users' functions are enabled.
func withFunctions(t *testing.T, columns string) *session {
	t.Helper()
	s := withTable(t, columns)
	settings, err := guardrail.Read(map[string]string{"user_defined_functions_enabled": "true"})
	if err != nil {
		t.Fatal(err)
	}
	s.executor = exec.New(s.store, nil, settings, zerolog.Nop())
	return s
}

// defineFunction puts a function of an int into the store, as one that was stored before.
func (s *session) defineFunction(f *schema.Function) {
	s.t.Helper()
	f.Callable = schema.Callable{Keyspace: "ks", Name: f.Name, Args: []types.Type{types.Int}, Returns: types.Int}
	f.ArgNames = []string{"a"}
	err := s.store.Define(func(c *schema.Catalog) (*schema.Catalog, error) { return c.WithRoutine(f), nil })
	if err != nil {
		s.t.Fatal(err)
	}
}

// inTime runs statements, which must not wait for what the test is doing.
func (s *session) inTime(statements ...string) {
	s.t.Helper()
	done := make(chan error, 1)
	go func() {
		for _, statement := range statements {
			if _, err := s.run(statement, atSerial); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	select {
	case err := <-done:
		if err != nil {
			s.t.Error(err)
		}
	case <-time.After(20 * time.Second):
		s.t.Error("the statements wait for the function")
	}
}

// waitingFunction is a function that tells when it is called, and returns its argument plus 1 when it may.
func (s *session) waitingFunction(name string) (called, proceed chan struct{}) {
	called, proceed = make(chan struct{}), make(chan struct{})
	s.defineFunction(&schema.Function{
		Callable: schema.Callable{Name: name}, Language: "java", CalledOnNull: true,
		Go: func(args [][]byte) ([]byte, error) {
			called <- struct{}{}
			<-proceed
			return types.EncodeInt(types.DecodeInt(args[0]) + 1), nil
		},
	})
	return called, proceed
}

// While a conditional write computes a value, others are decided, in its own partition too: then its conditions are
// compared again. The function is called once, however often the write is decided, and not if a condition is false.
func TestConditionalWritesDoNotWaitForFunctions(t *testing.T) {
	s := withFunctions(t, "k int, c int, s int static, v int, l list<int>, PRIMARY KEY (k, c)")
	called, proceed := s.waitingFunction("f")
	s.must("CREATE TABLE other (k int PRIMARY KEY)")
	const row = "k = 1 AND c = 1"
	for _, test := range []struct {
		statement string
		meanwhile string // in the same partition
		applied   bool
	}{
		{"UPDATE t SET v = f(1) WHERE " + row + " IF v = 0", "", true},
		{"UPDATE t SET v = f(1) WHERE " + row + " IF v = 0", "UPDATE t SET v = 9 WHERE " + row + " IF v = 0", false},
		{"UPDATE t SET v += f(1) WHERE " + row + " IF s = 0", "UPDATE t SET v = 0 WHERE " + row + " IF v = 0", true},
		{"UPDATE t SET s = f(1) WHERE k = 1 IF s = 0", "UPDATE t SET s = 3 WHERE k = 1 IF s = 0", false},
		{"UPDATE t SET l[f(-1)] = 2 WHERE " + row + " IF v = 0", "UPDATE t SET l = [4] WHERE " + row + " IF v = 0", true},
		{"UPDATE t SET v = 2 WHERE " + row + " IF v = f(-1)", "", true},
		{"UPDATE t SET v = 2 WHERE k = 1 AND c = f(0) IF v = 0", "", true},
		{"INSERT INTO t (k, c, v) VALUES (1, 2, f(1)) IF NOT EXISTS", "INSERT INTO t (k, c) VALUES (1, 2) IF NOT EXISTS", false},
		{`INSERT INTO t JSON '{"k": 1, "c": 2}' IF NOT EXISTS`, "", true},
		{"BEGIN BATCH UPDATE t SET v = 2 WHERE " + row + " IF v = 0; DELETE FROM t WHERE k = 1 AND c > f(4); APPLY BATCH", "", true},
		{"BEGIN BATCH INSERT INTO t (k, c, v) VALUES (1, 1, f(1)); UPDATE t SET s = 1 WHERE k = 1 IF s = 0; APPLY BATCH", "", true},
	} {
		s.must("DELETE FROM t WHERE k = 1")
		s.must("INSERT INTO t (k, c, s, v, l) VALUES (1, 1, 0, 0, [1])")
		s.must("TRUNCATE other")
		done := make(chan answer, 1)
		go func() {
			r, err := s.run(test.statement, atSerial)
			done <- answer{r, err}
		}()
		if strings.Contains(test.statement, "f(") {
			<-called
			s.inTime(slices.DeleteFunc([]string{"INSERT INTO other (k) VALUES (1) IF NOT EXISTS", test.meanwhile},
				func(statement string) bool { return statement == "" })...)
			proceed <- struct{}{}
		}
		var a answer
		select {
		case a = <-done:
		case <-called:
			t.Fatalf("%s: the function is called again", test.statement)
		}
		if a.err != nil {
			t.Errorf("%s: %v", test.statement, a.err)
			continue
		}
		if got := decode(a.Result.(*exec.Rows))[0][0] == "true"; got != test.applied {
			t.Errorf("%s: applied is %t", test.statement, got)
		}
	}
	s.inTime("UPDATE t SET v = f(1) WHERE k = 5 AND c = 5 IF v = 3") // nobody lets the function go on
}
