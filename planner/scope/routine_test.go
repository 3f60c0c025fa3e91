package scope_test

import (
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/functions"
	_ "github.com/cqld/cqld/cql/java"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner/scope"
)

// ints is a catalog with functions of an int, by their names and bodies, and the aggregate total.
func ints(bodies map[string]string) *schema.Catalog {
	c := schema.New(&schema.Keyspace{Name: "ks"})
	callable := func(name string, args ...types.Type) schema.Callable {
		return schema.Callable{Keyspace: "ks", Name: name, Args: args, Returns: types.Int}
	}
	add := func(name, body string, names ...string) {
		args := make([]types.Type, len(names))
		for i := range names {
			args[i] = types.Int
		}
		c = c.WithRoutine(&schema.Function{
			Callable: callable(name, args...), ArgNames: names, CalledOnNull: true, Language: "java", Body: body,
		})
	}
	for name, body := range bodies {
		add(name, body, "a")
	}
	add("plus", "return s + a;", "s", "a")
	return c.WithRoutine(&schema.Aggregate{
		Callable: callable("total", types.Int), StateFunction: "plus", StateType: types.Int, Initial: types.EncodeInt(0),
	})
}

// call calls a function of ks with 1.
func call(t *testing.T, c *schema.Catalog, name string, env *functions.Env) (types.Value, error) {
	t.Helper()
	found := scope.New(c, "ks").FunctionsOf("ks", cql.QualifiedName{Name: name})
	if len(found) != 1 {
		t.Fatalf("%d functions are called %s", len(found), name)
	}
	return found[0].Call(&functions.Call{Args: []types.Value{{Bytes: types.EncodeInt(1)}}, Env: env})
}

// wantFailure wants the error of a function that failed with a text.
func wantFailure(t *testing.T, err error, function, text string) {
	t.Helper()
	var e *cqlerr.Error
	if !errors.As(err, &e) || e.Code != cqlerr.FunctionFailure || e.Message != text {
		t.Fatalf("%s: %v, want %s", function, err, text)
	}
	d := e.Detail.(cqlerr.FunctionDetail)
	if d.Keyspace != "ks" || d.Function != function || strings.Join(d.ArgTypes, " ") != "int" {
		t.Errorf("%s: %+v", function, d)
	}
}

// A loop that does not end is ended, with a warning, while others may run. A long call gets the warning alone, once.
func TestTimeLimits(t *testing.T) {
	c := ints(map[string]string{"endless": "while (true) a++;", "quick": "for (int i = 0; i < 10000; i++) a++; return a;"})
	steps := 0
	env := &functions.Env{
		Limits: functions.Limits{Warn: time.Millisecond, Fail: 3 * time.Millisecond},
		Step:   func() error { steps++; return nil },
	}
	_, err := call(t, c, "endless", env)
	wantFailure(t, err, "endless", "org.apache.cassandra.exceptions.FunctionExecutionException: "+
		"java.util.concurrent.TimeoutException: User defined function ks.endless : (int) -> int ran longer than 3ms")
	want := []string{"User defined function ks.endless : (int) -> int ran longer than 1ms"}
	if steps == 0 || !slices.Equal(env.Warnings, want) {
		t.Errorf("%d steps, %q", steps, env.Warnings)
	}
	env = &functions.Env{Limits: functions.Limits{Warn: 1, Fail: time.Hour}}
	for range 2 {
		if v, err := call(t, c, "quick", env); err != nil || types.DecodeInt(v.Bytes) != 10001 {
			t.Errorf("%v, %v", v, err)
		}
	}
	want = []string{"User defined function ks.quick : (int) -> int ran longer than 0ms"}
	if !slices.Equal(env.Warnings, want) {
		t.Errorf("%q", env.Warnings)
	}
}

// Time that others run is not counted.
func TestTimeOfOthers(t *testing.T) {
	c := ints(map[string]string{"counts": "for (int i = 0; i < 10000; i++) a++; return a;"})
	env := &functions.Env{
		Limits: functions.Limits{Fail: 400 * time.Millisecond},
		Step:   func() error { time.Sleep(250 * time.Millisecond); return nil },
	}
	if v, err := call(t, c, "counts", env); err != nil || types.DecodeInt(v.Bytes) != 10001 {
		t.Errorf("%v, %v", v, err)
	}
}

// A body that takes more and more memory is ended before it has taken it.
func TestMemoryLimit(t *testing.T) {
	const limit = 1 << 20
	bombs := map[string]string{
		"text":     `String s = "x" + a; while (true) s += s;`,
		"builder":  `StringBuilder b = new StringBuilder("x"); while (true) b.append(b.toString());`,
		"repeated": `return "abc".repeat(1000000000).length();`,
		"padded":   `return String.format("%1000000000d", a).length();`,
		"added":    `List<Integer> l = new ArrayList<Integer>(); while (true) l.add(a);`,
		"doubled":  `List<Integer> l = new ArrayList<Integer>(); l.add(a); while (true) l.addAll(l);`,
		"copies":   `return new ArrayList<Integer>(Collections.nCopies(1000000000, a)).size();`,
		"mapped":   `Map<Integer, Integer> m = new HashMap<Integer, Integer>(); while (true) m.put(a++, a);`,
		"array":    `return new int[1000000000].length;`,
		"arrays":   `return new long[100000][100000].length;`,
		"buffer":   `return java.nio.ByteBuffer.allocate(1000000000).remaining();`,
		"plain":    `return new java.math.BigDecimal("1e1000000000").toPlainString().length();`,
		"nested": `List<Object> l = new ArrayList<Object>();
			for (int i = 0; i < 60; i++) { List<Object> m = new ArrayList<Object>(); m.add(l); m.add(l); l = m; }
			return l.toString().length();`,
		"replaced": `String s = "aa"; while (true) s = s.replace("a", "aa");`,
		"joined":   `String s = "a"; while (true) s = String.join(s, "a", "b", "c", s);`,
	}
	c := ints(bombs)
	for name := range bombs {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := call(t, c, name, &functions.Env{Limits: functions.Limits{Memory: limit, Fail: 10 * time.Second}})
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > 8*limit {
			t.Errorf("%s allocates %d bytes", name, took)
		}
		wantFailure(t, err, name, "java.lang.OutOfMemoryError: Java heap space")
	}
}

// A loop over boxed numbers makes much garbage, which Java's heap survives.
func TestBoxedLoop(t *testing.T) {
	c := ints(map[string]string{"count": "Integer n = 0; while (n < 100000) n++; return n;"})
	got, err := call(t, c, "count", &functions.Env{Limits: functions.Limits{Memory: 1 << 20, Fail: 10 * time.Second}})
	if err != nil || types.DecodeInt(got.Bytes) != 100_000 {
		t.Errorf("got %v, %v", got, err)
	}
}

// An earlier version may have stored a body that does not compile.
func TestBrokenFunction(t *testing.T) {
	c := ints(map[string]string{"broken": "return nope;"})
	_, err := call(t, c, "broken", &functions.Env{})
	const want = "Function 'ks.broken : (int) -> int' exists but hasn't been loaded successfully for the following " +
		"reason: " +
		"Java source compilation failed:\nLine 1: nope cannot be resolved to a variable\n. Please see the server log " +
		"for details"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	var e *cqlerr.Error
	if !errors.As(err, &e) || e.Code != cqlerr.Invalid {
		t.Errorf("%#v", err)
	}
}

// Where users' functions are disabled, existing ones cannot be called.
func TestDisabledFunctions(t *testing.T) {
	c := ints(map[string]string{"one": "return a;"})
	env := &functions.Env{Limits: functions.Limits{Disabled: true}}
	const want = "User-defined functions are disabled in cassandra.yaml - set user_defined_functions_enabled=true " +
		"to enable"
	if _, err := call(t, c, "one", env); err == nil || err.Error() != want {
		t.Errorf("a function: %v", err)
	}
	total := scope.New(c, "ks").FunctionsOf("ks", cql.QualifiedName{Name: "total"})[0]
	a := total.User.Start(env)
	if v, err := a.Result(); err != nil || types.DecodeInt(v.Bytes) != 0 {
		t.Errorf("no rows: %v, %v", v, err)
	}
	if err := a.Add([]types.Value{{Bytes: types.EncodeInt(1)}}); err == nil || err.Error() != want {
		t.Errorf("an aggregate: %v", err)
	}
}

// BenchmarkCall calls a function that adds two ints.
func BenchmarkCall(b *testing.B) {
	c := ints(nil)
	plus := scope.New(c, "ks").FunctionsOf("ks", cql.QualifiedName{Name: "plus"})[0]
	args := []types.Value{{Bytes: types.EncodeInt(1)}, {Bytes: types.EncodeInt(2)}}
	env := &functions.Env{Limits: functions.Limits{Warn: time.Second, Fail: time.Second, Memory: 64 << 20}}
	for b.Loop() {
		if v, err := plus.Call(&functions.Call{Args: args, Env: env}); err != nil || types.DecodeInt(v.Bytes) != 3 {
			b.Fatal(v, err)
		}
	}
}

// A call asks for the memory beyond its first MiB before it takes it, and gives it back however it ends.
func TestSharedMemory(t *testing.T) {
	c := ints(map[string]string{
		"small": "return new byte[100000].length;", "large": "return new long[1000000].length;",
		"thrown": "long[] x = new long[1000000]; return a / 0;", "bomb": "return new long[100000000].length;",
	})
	refusal := errors.New("there is no memory")
	for _, test := range []struct {
		function string
		refuse   error
		taken    int64
		text     string
	}{
		{"small", refusal, 0, ""},
		{"large", nil, 7 << 20, ""},
		{"large", refusal, 0, refusal.Error()},
		{"thrown", nil, 7 << 20, "java.lang.ArithmeticException: / by zero"},
		{"bomb", nil, 0, "java.lang.OutOfMemoryError: Java heap space"},
	} {
		taken, held := int64(0), int64(0)
		env := &functions.Env{Limits: functions.Limits{Memory: 64 << 20, Fail: time.Hour}, Hold: func(n int64) error {
			if n > 0 && test.refuse != nil {
				return test.refuse
			}
			taken, held = taken+max(n, 0), held+n
			return nil
		}}
		text := ""
		if _, err := call(t, c, test.function, env); err != nil {
			text = err.Error()
		}
		if text != test.text || held != 0 || taken != test.taken {
			t.Errorf("%s takes %d bytes and keeps %d: %s", test.function, taken, held, text)
		}
	}
}
