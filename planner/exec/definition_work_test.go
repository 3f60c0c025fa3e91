package exec_test

import (
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner/exec"
)

// testCompiler stands in for cql/java, which the tests of this package are not linked with.
var testCompiler struct {
	once     sync.Once
	compiled atomic.Int64
	compile  func()
}

var errNoBody = errors.New("the test has no bodies")

// Without a compiler CREATE FUNCTION names the package to import, and functions that are stored can be listed and
// dropped. With one, bodies are compiled by CREATE FUNCTION and by the first call, not before. While a body is
// compiled, others go on to define tables.
func TestCompilation(t *testing.T) {
	s := withFunctions(t, "k int PRIMARY KEY, v int")
	s.defineFunction(&schema.Function{Callable: schema.Callable{Name: "stored"}, Language: "java", Body: "return 1;"})
	s.must("INSERT INTO t (k, v) VALUES (1, 1)")
	const create = "CREATE FUNCTION f (a int) CALLED ON NULL INPUT RETURNS int LANGUAGE java AS 'return a;'"
	const call = "SELECT stored(v) FROM t"
	testCompiler.once.Do(func() {
		for _, statement := range []string{create, call} {
			if _, err := s.run(statement, exec.Options{}); err == nil || !strings.Contains(err.Error(), "github.com/cqld/cqld/cql/java") {
				t.Errorf("%s: %v", statement, err)
			}
		}
		schema.RegisterLanguage("java", func(*schema.Function) (schema.Body, error) {
			testCompiler.compiled.Add(1)
			testCompiler.compile()
			return nil, errNoBody
		})
	})
	if got := s.bound("SELECT v FROM t"); got != "1\n" {
		t.Errorf("the table has %s", got)
	}
	s.must("DROP FUNCTION stored")
	s.defineFunction(&schema.Function{Callable: schema.Callable{Name: "stored"}, Language: "java", Body: "return 1;"})

	before := testCompiler.compiled.Load()
	compiling, proceed := make(chan struct{}), make(chan struct{})
	testCompiler.compile = func() {
		compiling <- struct{}{}
		<-proceed
	}
	for _, statement := range []string{create, call} {
		done := make(chan error, 1)
		go func() {
			_, err := s.run(statement, exec.Options{})
			done <- err
		}()
		<-compiling
		s.inTime("CREATE TABLE other (k int PRIMARY KEY)", "DROP TABLE other")
		proceed <- struct{}{}
		if err := <-done; err == nil || !strings.Contains(err.Error(), errNoBody.Error()) {
			t.Errorf("%s: %v", statement, err)
		}
	}
	if n := testCompiler.compiled.Load() - before; n != 2 {
		t.Errorf("%d bodies were compiled, want 2", n)
	}
	if _, err := s.run(call, exec.Options{}); err == nil {
		t.Error("a function without a body is called")
	}
	if n := testCompiler.compiled.Load() - before; n != 2 {
		t.Errorf("a body was compiled again")
	}
}

// While INITCOND is computed, others go on to define tables.
func TestDefinitionsDoNotWaitForInitialState(t *testing.T) {
	s := withFunctions(t, "k int PRIMARY KEY, v int")
	called, proceed := s.waitingFunction("f")
	err := s.store.Define(func(c *schema.Catalog) (*schema.Catalog, error) {
		return c.WithRoutine(&schema.Function{
			Callable: schema.Callable{Keyspace: "ks", Name: "plus", Args: []types.Type{types.Int, types.Int}, Returns: types.Int},
			ArgNames: []string{"a", "b"}, Language: "java", CalledOnNull: true,
			Go: func(args [][]byte) ([]byte, error) { return args[1], nil },
		}), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := s.run("CREATE AGGREGATE last (int) SFUNC plus STYPE int INITCOND f(6)", exec.Options{})
		done <- err
	}()
	<-called
	s.inTime("CREATE TABLE other (k int PRIMARY KEY)")
	proceed <- struct{}{}
	select {
	case err := <-done:
		if err != nil {
			t.Fatal(err)
		}
	case <-called:
		t.Fatal("INITCOND is computed again")
	}
	if got := s.bound("SELECT last(v) FROM t"); got != "7\n" {
		t.Errorf("without rows the aggregate is %s", got)
	}
}

// The values of a definition end at a time limit.
func TestLongDefinitions(t *testing.T) {
	exec.SetLongestWork(t, 20*time.Millisecond)
	s := withFunctions(t, "k decimal PRIMARY KEY, v int")
	err := s.store.Define(func(c *schema.Catalog) (*schema.Catalog, error) {
		return c.WithRoutine(&schema.Function{
			Callable: schema.Callable{Keyspace: "ks", Name: "g", Args: []types.Type{types.Decimal, types.Int}, Returns: types.Decimal},
			ArgNames: []string{"a", "b"}, Language: "java", CalledOnNull: true,
			Go: func(args [][]byte) ([]byte, error) { return args[0], nil },
		}), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	long := "log((decimal) 1E300" + strings.Repeat(" * (decimal) 1E300", 300) + " + (decimal) 1.5)"
	for _, statement := range []string{
		"CREATE MATERIALIZED VIEW m AS SELECT * FROM t WHERE k = " + long + " PRIMARY KEY (k)",
		"CREATE AGGREGATE a (int) SFUNC g STYPE decimal INITCOND " + long,
	} {
		_, err := s.run(statement, exec.Options{})
		if err == nil || !strings.Contains(err.Error(), "take longer") {
			t.Errorf("%.40s…: %.200v", statement, err)
		}
	}
}
