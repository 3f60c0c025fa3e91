package java

import (
	"context"
	"errors"
	"math/big"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/cqld/cqld/cql/types"
)

// ints is a function of ints that returns an int.
func ints(t testing.TB, body string, names ...string) *Function {
	spec := Spec{ArgNames: names, Returns: types.Int, Body: body}
	for range names {
		spec.ArgTypes = append(spec.ArgTypes, types.Int)
	}
	f, err := Compile(spec)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestBudget(t *testing.T) {
	for _, c := range []struct {
		body string
		want error
	}{
		{"while (true) { }", ErrSteps},
		{"for (;;) ;", ErrSteps},
		{"do { continue; } while (true);", ErrSteps},
		{"for (int i = 0; ; i++) \"abc\".length();", ErrSteps},
		{"List<Integer> l = new ArrayList<Integer>(); while (true) l.add(1);", nil},
		{"String s = \"x\"; while (true) s += s;", nil},
		{"StringBuilder b = new StringBuilder(\"x\"); while (true) b.append(b);", nil},
		{"return new java.math.BigDecimal(\"1E2000000000\").toPlainString().length();", ErrMemory},
		{"return \"x\".repeat(a).length();", ErrMemory},
		{"return String.format(\"%1000000000d\", a).length();", ErrMemory},
		{"return new int[a].length;", ErrMemory},
		{"return new int[20000][20000].length;", ErrMemory},
		{"return new HashMap<String, String>(a).put(\"a\", \"b\").length();", ErrMemory},
		{"return ByteBuffer.allocate(a).remaining();", ErrMemory},
		{"StringBuilder b = new StringBuilder(); b.setLength(a); return 1;", ErrMemory},
		{"return Collections.nCopies(a, 1).size();", ErrMemory},
		{"Map<Integer, Integer> m = new TreeMap<Integer, Integer>(); for (int i = 0; ; i++) m.put(i, i);", nil},
	} {
		f := ints(t, c.body, "a")
		_, err := f.Call(&Env{Steps: 1_000_000, Memory: 16 << 20}, [][]byte{types.EncodeInt(2_000_000_000)}, nil)
		if c.want != nil && err != c.want || err != ErrSteps && err != ErrMemory {
			t.Errorf("%s: %v", c.body, err)
		}
	}
}

// A constant keeps what calls did to it, up to the memory of one call.
func TestMemoryOfConstants(t *testing.T) {
	f, err := Compile(Spec{
		ArgNames: []string{"l"}, ArgTypes: []types.Type{&types.List{Elem: types.Int, Frozen: true}}, Returns: types.Int,
		Body: "for (int i = 0; i < 1000; i++) l.add(1); return l.size();",
	})
	if err != nil {
		t.Fatal(err)
	}
	constants, before, forgotten := NewConstants([]bool{true}), int32(0), 0
	for range 1000 {
		result, err := f.Call(&Env{Memory: 1 << 20}, [][]byte{make([]byte, 4)}, constants)
		if err != nil {
			t.Fatal(err)
		}
		n := types.DecodeInt(result)
		if n != before+1000 && n != 1000 || n > 1<<18 {
			t.Fatalf("%d elements after %d", n, before)
		}
		if n < before {
			forgotten++
		}
		before = n
	}
	if forgotten == 0 {
		t.Error("the list never shrinks")
	}
}

func TestCollectionInsideItself(t *testing.T) {
	f := ints(t, "List<Object> l = new ArrayList<Object>(), m = new ArrayList<Object>();"+
		"l.add(m); m.add(l); return l.hashCode();")
	_, err := f.Call(&Env{Steps: 1_000_000}, nil, nil)
	if err == nil || err.Error() != "java.lang.StackOverflowError" {
		t.Error(err)
	}
}

// The caller can end a call between steps.
func TestStep(t *testing.T) {
	f := ints(t, "int i = 0; while (true) i++;")
	_, err := f.Call(&Env{Host: &testHost{err: context.DeadlineExceeded}}, nil, nil)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

// A budget counts the same steps whatever the calls before it took.
func TestBudgetOfEachCall(t *testing.T) {
	f := ints(t, "int s = 0; for (int i = 0; i < n; i++) s += i; return s;", "n")
	for range 3 {
		if _, err := f.Call(&Env{Steps: 10_000}, [][]byte{types.EncodeInt(9_000)}, nil); err != nil {
			t.Error(err)
		}
		if _, err := f.Call(&Env{Steps: 10_000}, [][]byte{types.EncodeInt(11_000)}, nil); err != ErrSteps {
			t.Error(err)
		}
	}
}

func TestConcurrentCalls(t *testing.T) {
	f := ints(t, "int[] x = new int[n]; for (int i = 0; i < n; i++) x[i] = i;"+
		"int s = 0; for (int y : x) s += y; return s;", "n")
	var group sync.WaitGroup
	for g := range 4 {
		group.Go(func() {
			for i := range int32(100) {
				n := i + int32(g)
				b, err := f.Call(&Env{}, [][]byte{types.EncodeInt(n)}, nil)
				if err != nil || types.DecodeInt(b) != n*(n-1)/2 {
					t.Error(n, b, err)
				}
			}
		})
	}
	group.Wait()
}

func TestNullArguments(t *testing.T) {
	f := ints(t, "throw new RuntimeException();", "a", "b")
	for _, args := range [][][]byte{{nil, types.EncodeInt(1)}, {types.EncodeInt(1), {}}} {
		if b, err := f.Call(&Env{}, args, nil); b != nil || err != nil {
			t.Error(b, err)
		}
	}
}

// testHost knows two types, and ends a call with err after 100 steps.
type testHost struct {
	steps int
	err   error
}

func (*testHost) Hold(int64) error { return nil }

func (h *testHost) Step() error {
	if h.steps++; h.steps >= 100 {
		return h.err
	}
	return nil
}

func (h *testHost) Now() time.Time { return time.UnixMilli(1234) }

func (h *testHost) UserType(name string) *types.UserType {
	if name == "u" {
		return testUserType
	}
	return nil
}

func (h *testHost) ParseType(text string) (types.Type, error) {
	if text != "tuple<int, text>" {
		return nil, errors.New("no such type")
	}
	return &types.Tuple{Elems: []types.Type{types.Int, types.Text}}, nil
}

func TestContext(t *testing.T) {
	env := &Env{Keyspace: "ks", Host: &testHost{}}
	for _, c := range []struct{ body, want string }{
		{`return udfContext.newUDTValue("u").setInt("a", 5).toString();`, "{a:5,b:NULL,\"Big\":NULL,l:[]}"},
		{
			`return udfContext.newUDTValue("v").toString();`,
			"java.lang.IllegalArgumentException: No UDT named v in keyspace ks",
		},
		{`return udfContext.newTupleValue("tuple<int, text>").setString(1, "it's").toString();`, "(NULL,'it''s')"},
		{`return udfContext.newTupleValue("x").toString();`, "java.lang.IllegalArgumentException: no such type"},
		{
			`return System.currentTimeMillis() + " " + new Date().getTime() + " " + java.time.Instant.now();`,
			"1234 1234 1970-01-01T00:00:01.234Z",
		},
	} {
		f, err := Compile(Spec{Returns: types.Text, Body: c.body})
		if err != nil {
			t.Fatal(err)
		}
		b, err := f.Call(env, nil, nil)
		got := string(b)
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s: got %s, want %s", c.body, got, c.want)
		}
	}
}

// An error has the place of the mistake.
func TestErrorPlace(t *testing.T) {
	_, err := Compile(Spec{Returns: types.Int, Body: "int a = 1;\n/* x\n */ return a +\n  foo;"})
	var e *CompileError
	if !errors.As(err, &e) || e.Line != 4 || e.Column != 3 {
		t.Fatalf("%+v", e)
	}
	if want := "Java source compilation failed:\nLine 4: foo cannot be resolved to a variable\n"; err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
}

// Arguments have the names that Java allows.
func TestArgumentNames(t *testing.T) {
	for name, ok := range map[string]bool{
		"a": true, "A_1": true, "": false, "int": false, "a b": false, "1a": false,
		"a\"": false,
	} {
		_, err := Compile(Spec{
			ArgNames: []string{name}, ArgTypes: []types.Type{types.Int}, Returns: types.Int,
			Body: "return 1;",
		})
		if (err == nil) != ok {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// Bodies that would exhaust the stack of the compiler are refused.
func TestHostileBodies(t *testing.T) {
	for _, body := range []string{
		strings.Repeat("(", 100_000),
		strings.Repeat("{", 100_000),
		"return " + strings.Repeat("-", 100_000) + "1;",
		"return " + strings.Repeat("!", 100_000) + "true ? 1 : 2;",
		"return " + strings.Repeat("1 + ", 100_000) + "1;",
		"return " + strings.Repeat("true ? 1 : ", 10_000) + "1;",
		"return " + strings.Repeat("a.", 100_000) + "b;",
		"List" + strings.Repeat("<List", 100_000),
		"int a = " + strings.Repeat("b = ", 100_000) + "1;",
		strings.Repeat("if (true) ", 100_000) + ";",
		"int a" + strings.Repeat("[]", 100_000) + " = null; return 1;",
		"return new int" + strings.Repeat("[1]", 100_000) + ".length;",
	} {
		if _, err := Compile(Spec{Returns: types.Int, Body: body}); err == nil {
			t.Errorf("compiled: %.40s...", body)
		}
	}
}

// A chain of operators can be long: concatenations often are.
func TestLongChain(t *testing.T) {
	f := ints(t, "return "+strings.Repeat("a + ", 5_000)+"a;", "a")
	b, err := f.Call(&Env{}, [][]byte{types.EncodeInt(2)}, nil)
	if err != nil || types.DecodeInt(b) != 10_002 {
		t.Error(b, err)
	}
}

func FuzzCompile(f *testing.F) {
	for _, file := range dataFiles(f) {
		for _, c := range readCases(f, file) {
			f.Add(c.spec.Body, int32(len(c.spec.Body)), "text")
		}
	}
	argTypes := []types.Type{types.Int, types.Text, &types.List{Elem: types.Int}, &types.Map{
		Key:   types.Text,
		Value: types.Int,
	}, testUserType, types.Decimal, types.Blob}
	f.Fuzz(func(t *testing.T, body string, n int32, s string) {
		values := [][]byte{
			types.EncodeInt(n), []byte(strings.ToValidUTF8(s, "?")), types.NewList([][]byte{
				types.EncodeInt(n),
				types.EncodeInt(1),
			}),
			types.NewMap(&types.Map{Key: types.Text, Value: types.Int}, [][]byte{{'a'}}, [][]byte{types.EncodeInt(n)}),
			types.NewTuple([][]byte{types.EncodeInt(n), []byte("b")}),
			types.EncodeDecimal(types.DecodeVarInt([]byte{byte(n)}), 2), []byte(s),
		}
		for _, returns := range []types.Type{types.Int, types.Text, argTypes[2]} {
			for _, called := range []bool{false, true} {
				fn, err := Compile(Spec{
					ArgNames: []string{"a", "s", "l", "m", "r", "d", "b"}, ArgTypes: argTypes,
					Returns: returns, Body: body, CalledOnNull: called,
				})
				if err != nil {
					continue
				}
				result, err := fn.Call(&Env{Steps: 10_000, Memory: 1 << 20}, values, nil)
				if err == nil && result != nil && returns.Validate(result) != nil {
					t.Errorf("invalid result %x", result)
				}
			}
		}
	})
}

func BenchmarkAdd(b *testing.B) {
	f := ints(b, "return a + b;", "a", "b")
	env := &Env{Steps: 1_000_000, Memory: 1 << 20}
	args := [][]byte{types.EncodeInt(1), types.EncodeInt(2)}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := f.Call(env, args, nil); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkLoop is the time of a turn of a loop with a sum.
func BenchmarkLoop(b *testing.B) {
	f := ints(b, "int s = 0; for (int i = 0; i < n; i++) s += i * 3; return s;", "n")
	args := [][]byte{types.EncodeInt(int32(b.N))}
	if _, err := f.Call(&Env{}, args, nil); err != nil {
		b.Fatal(err)
	}
}

// A mistake of the interpreter fails the call, and only this one.
func TestPanic(t *testing.T) {
	f := ints(t, "return a;", "a")
	run, args := f.run, [][]byte{types.EncodeInt(1)}
	f.run = func(*thread) signal { panic("a mistake") }
	_, err := f.Call(&Env{}, args, nil)
	var exception *Exception
	if err == nil || errors.As(err, &exception) || !strings.Contains(err.Error(), "a mistake") {
		t.Error(err)
	}
	f.run = run
	if b, err := f.Call(&Env{}, args, nil); err != nil || types.DecodeInt(b) != 1 {
		t.Error(b, err)
	}
}

// The message of an exception may be longer than clients want to read.
func TestLongMessage(t *testing.T) {
	f := ints(t, "throw new RuntimeException(\"é\".repeat(1000000));")
	_, err := f.Call(&Env{}, nil, nil)
	if err == nil || len(err.Error()) > 40_000 || !utf8.ValidString(err.Error()) {
		t.Error(len(err.Error()))
	}
}

func TestCastArrays(t *testing.T) {
	f := ints(t, "Object o = new int[] {7}; Object[] all = (Object[]) Arrays.asList(1, 2).toArray();"+
		"return ((int[]) o)[0] + all.length;")
	if b, err := f.Call(&Env{}, nil, nil); err != nil || types.DecodeInt(b) != 9 {
		t.Error(b, err)
	}
}

// modPow works in parts, and so has to be right where they meet.
func TestModPow(t *testing.T) {
	f, err := Compile(Spec{
		ArgNames: []string{"b", "e", "m"}, ArgTypes: []types.Type{types.VarInt, types.VarInt, types.VarInt},
		Returns: types.VarInt, Body: "return b.modPow(e, m);",
	})
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	number := func(bits int) *big.Int {
		b := make([]byte, bits/8+1)
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		return new(big.Int).SetBytes(b)
	}
	for _, bits := range []int{0, 60, 3000, 20_000} {
		for _, exponent := range []int{0, 1, 40, 500} {
			b, e, m := number(bits+100), number(exponent), number(bits)
			m.Add(m, big.NewInt(1))
			got, err := f.Call(&Env{}, [][]byte{types.EncodeVarInt(b), types.EncodeVarInt(e), types.EncodeVarInt(m)}, nil)
			if want := new(big.Int).Exp(b, e, m); err != nil || types.DecodeVarInt(got).Cmp(want) != 0 {
				t.Errorf("%d^%d mod %d: %x %v", b, e, m, got, err)
			}
		}
	}
}

// The size of a state is that of its objects, not of its value.
func TestSizeOfState(t *testing.T) {
	counts := &types.Map{Key: types.Text, Value: types.Int}
	words := &types.List{Elem: types.Text}
	env := &Env{Memory: 64 << 20}
	state := func(ct types.Type, body string) *State {
		f, err := Compile(Spec{
			ArgNames: []string{"state", "i"}, ArgTypes: []types.Type{ct, types.Int}, Returns: ct, Body: body,
		})
		if err != nil {
			t.Fatal(err)
		}
		s, err := f.NewState(env, make([]byte, 4))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := state(counts, "Map<String, Integer> m = new HashMap<String, Integer>(1000000); m.put(\"a\", 1); return m;")
	if err := s.Add(env, [][]byte{types.EncodeInt(1)}); err != nil || s.Size() < 8_000_000 {
		t.Error(s.Size(), err)
	}
	s = state(words, "StringBuilder b = new StringBuilder(\"x\".repeat(2000000)); "+
		"List<String> l = new ArrayList<String>(); l.add(b.toString()); l.add(l.get(0)); return l;")
	if err := s.Add(env, [][]byte{types.EncodeInt(1)}); err != nil || s.Size() < 2_000_000 || s.Size() > 3_000_000 {
		t.Error(s.Size(), err)
	}

	// What is small does not keep something large: a part of a text, and what was removed from a list.
	s = state(words, "String x = \"x\".repeat(5000000); state.add(x.substring(i, i + 1)); state.add(x); "+
		"state.remove(state.size() - 1); return state;")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i := range int32(50) {
		if err := s.Add(env, [][]byte{types.EncodeInt(i)}); err != nil {
			t.Fatal(err)
		}
	}
	runtime.GC()
	if runtime.ReadMemStats(&after); s.Size() > 1<<20 || after.HeapAlloc > before.HeapAlloc+50<<20 {
		t.Errorf("%d bytes, and %d on the heap after %d", s.Size(), after.HeapAlloc, before.HeapAlloc)
	}
}

func TestState(t *testing.T) {
	counts := &types.Map{Key: types.Text, Value: types.Int}
	f, err := Compile(Spec{
		ArgNames: []string{"state", "word"}, ArgTypes: []types.Type{counts, types.Text}, Returns: counts,
		Body: "state.put(word, state.getOrDefault(word, 0) + 1); return state;",
	})
	if err != nil {
		t.Fatal(err)
	}
	env := &Env{Steps: 1000, Memory: 1 << 16}
	s, err := f.NewState(env, types.NewMap(counts, nil, nil))
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range [][]byte{[]byte("b"), []byte("a"), nil, []byte("b")} {
		if err := s.Add(env, [][]byte{word}); err != nil {
			t.Fatal(err)
		}
	}
	final, err := Compile(Spec{
		ArgNames: []string{"m"}, ArgTypes: []types.Type{counts}, Returns: types.Text, CalledOnNull: true,
		Body: "return \"\" + m;",
	})
	if err != nil {
		t.Fatal(err)
	}
	if text, err := s.Finish(env, final); err != nil || string(text) != "{b=2, a=1}" {
		t.Errorf("%s %v", text, err)
	}
	b, err := s.Value(env)
	if got := counts.Format(b); err != nil || got != "{'b': 2, 'a': 1}" {
		t.Error(got, err)
	}

	sum := ints(t, "if (x == 7) throw new RuntimeException(\"seven\"); return s + x;", "s", "x")
	n, err := sum.NewState(env, types.EncodeInt(10))
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []int32{1, 2, 7} {
		err = n.Add(env, [][]byte{types.EncodeInt(x)})
	}
	b, _ = n.Value(env)
	if types.DecodeInt(b) != 13 || err == nil || err.Error() != "java.lang.RuntimeException: seven" {
		t.Error(b, err)
	}
	boxed, err := Compile(Spec{
		ArgNames: []string{"n"}, ArgTypes: []types.Type{types.Int}, Returns: types.Int, CalledOnNull: true,
		Body: "return n == null ? -1 : n + 1;",
	})
	if err != nil {
		t.Fatal(err)
	}
	if b, err = n.Finish(env, boxed); err != nil || types.DecodeInt(b) != 14 {
		t.Error(b, err)
	}
	if n, _ = sum.NewState(env, nil); n.Add(env, [][]byte{types.EncodeInt(1)}) != nil {
		t.Error("a null state was not kept")
	}
	if b, err = n.Value(env); b != nil || err != nil {
		t.Error(b, err)
	}
}
