package java

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cqld/cqld/cql/types"
)

// The limits of hostile calls. The memory is the server's. The time is shorter than the server's 1.5 s,
// because many of
// the calls use it up; what matters is how much longer they take, which is what one operation can take that cannot be
// interrupted.
const (
	hostileTime   = 100 * time.Millisecond
	hostileMore   = 400 * time.Millisecond
	hostileBody   = 800 * time.Millisecond // to compile
	hostileMemory = 64 << 20
	hostileHeap   = 256 << 20 // of the process, while such a call runs
)

// hostileArgs are the arguments that all hostile bodies have.
var hostileArgs = []struct {
	name string
	typ  types.Type
}{
	{"s", types.Text},
	{"w", types.Text},
	{"v", types.VarInt},
	{"d", types.Decimal},
	{"e", types.Decimal},
	{"l", &types.List{Elem: types.Int}},
	{"q", &types.Set{Elem: types.Text}},
	{"m", &types.Map{Key: types.Text, Value: types.Int}},
	{"b", types.Blob},
	{"n", types.Int},
	{"k", types.BigInt},
	{"f", types.Double},
	{"u", testUserType},
	{"p", &types.Tuple{Elems: []types.Type{types.Int, types.Text}}},
	{"i", types.Inet},
	{"id", types.UUID},
	{"ts", types.Timestamp},
	{"day", types.Date},
	{"dur", types.Duration},
}

// hostileValues are values of the arguments of about that size in bytes. n is the int.
func hostileValues(size int, n int32) [][]byte {
	text := bytes.Repeat([]byte("xxxxxxx,"), size/8+1)
	number := types.EncodeVarInt(new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), uint(min(size*8, maxBits-1))),
		big.NewInt(159)))
	var ints, words, keys [][]byte
	for i := range size/32 + 1 {
		ints = append(ints, types.EncodeInt(int32(i*7)))
		words = append(words, fmt.Appendf(nil, "%08d", i))
	}
	keys = words
	m := &types.Map{Key: types.Text, Value: types.Int}
	return [][]byte{
		text,
		bytes.Repeat([]byte("é€"), size/5+1),
		number,
		types.EncodeDecimal(types.DecodeVarInt(number), int32(size)),
		types.EncodeDecimal(big.NewInt(1), -1_000_000_000),
		types.NewList(ints),
		types.NewList(words),
		types.NewMap(m, keys, ints),
		text,
		types.EncodeInt(n),
		types.EncodeBigInt(int64(n) * 12345678901),
		types.EncodeDouble(float64(n) * 1e300),
		types.NewTuple([][]byte{types.EncodeInt(n), text, number, types.NewList(ints)}),
		types.NewTuple([][]byte{types.EncodeInt(n), text}),
		{127, 0, 0, 1},
		bytes.Repeat([]byte{0x1a}, 16),
		types.EncodeBigInt(int64(n)),
		types.EncodeDate(int64(n)),
		types.EncodeDuration(1, 2, 3),
	}
}

func hostileSpec(body string) Spec {
	spec := Spec{Returns: types.Int, Body: body, CalledOnNull: true}
	for _, a := range hostileArgs {
		spec.ArgNames, spec.ArgTypes = append(spec.ArgNames, a.name), append(spec.ArgTypes, a.typ)
	}
	return spec
}

// deadline is a host whose calls have to end.
type deadline struct {
	testHost
	at time.Time
}

func (h *deadline) Step() error {
	if time.Now().After(h.at) {
		return errDeadline
	}
	return nil
}

var errDeadline = errors.New("the call takes too long")

// watchHeap calls run and returns the largest heap meanwhile.
func watchHeap(run func()) uint64 {
	stop, largest := make(chan bool), make(chan uint64)
	go func() {
		sample := []metrics.Sample{
			{Name: "/memory/classes/heap/objects:bytes"},
			{Name: "/memory/classes/heap/stacks:bytes"},
		}
		most := uint64(0)
		for {
			metrics.Read(sample)
			most = max(most, sample[0].Value.Uint64()+sample[1].Value.Uint64())
			select {
			case <-stop:
				largest <- most
				return
			case <-time.After(time.Millisecond):
			}
		}
	}()
	run()
	stop <- true
	return <-largest
}

// runHostile compiles and calls a body. It reports what breaks the limits, and the error of the body.
func runHostile(t testing.TB, body string, values [][]byte, limit time.Duration) (err error, compiled bool) {
	problem := ""
	for range 3 { // others use the machine too
		var compiling, calling time.Duration
		heap := watchHeap(func() {
			start := time.Now()
			var f *Function
			if f, err = Compile(hostileSpec(body)); err != nil {
				compiling = time.Since(start)
				return
			}
			compiled = true
			compiling = time.Since(start)
			start = time.Now()
			_, err = f.Call(&Env{Memory: hostileMemory, Host: &deadline{at: start.Add(limit)}}, values, nil)
			calling = time.Since(start)
		})
		var refused *CompileError
		var exception *Exception
		problem = ""
		switch {
		case err != nil && !errors.As(err, &refused) && !errors.As(err,
			&exception) && err != ErrMemory && err != errDeadline:
			t.Fatalf("%v\n%s", err, shortened(body))
		case compiling > hostileBody:
			problem = fmt.Sprintf("the compilation took %v", compiling)
		case calling > limit+hostileMore:
			problem = fmt.Sprintf("the call took %v, %v", calling, err)
		case heap > hostileHeap:
			problem = fmt.Sprintf("the heap grew to %d MiB, %v", heap>>20, err)
			debug.FreeOSMemory()
		default:
			return err, compiled
		}
	}
	t.Errorf("%s\n%s", problem, shortened(body))
	return err, compiled
}

func shortened(text string) string {
	if len(text) > 2000 {
		return text[:2000] + "..."
	}
	return text
}

// hostileBodies took minutes, gigabytes or the process,
// before what they do was charged. want is in the error; an empty
// one is any end.
var hostileBodies = []struct{ body, want string }{
	// Recursion without a depth.
	{
		`TreeMap<Integer,Object> a = new TreeMap<Integer,Object>(), c = new TreeMap<Integer,Object>(); a.put(1,1);
		c.put(1,1);
		Map.Entry<Integer,Object> x = a.firstEntry(),
		y = c.firstEntry(); x.setValue(y); y.setValue(x); return x.equals(y) ? 1 : 0;`,
		"java.lang.StackOverflowError",
	},
	{`TreeMap<Integer,Object> a = new TreeMap<Integer,Object>(), c = new TreeMap<Integer,Object>(); a.put(1,1);
		c.put(1,1);
		Map.Entry<Integer,Object> x = a.firstEntry(), y = c.firstEntry(); x.setValue(x); y.setValue(y);
		return x.equals(y) ? 1 : 0;`, "java.lang.StackOverflowError"},
	{`TreeMap<Integer,Object> a = new TreeMap<Integer,Object>(); a.put(1,1);
		Map.Entry<Integer,Object> x = a.firstEntry(); x.setValue(x); return x.hashCode();`, "java.lang.StackOverflowError"},
	{`TreeMap<Integer,Object> a = new TreeMap<Integer,Object>(); a.put(1,1);
		Map.Entry<Integer,Object> x = a.firstEntry(); x.setValue(x);
		return x.toString().length();`, "java.lang.StackOverflowError"},
	{
		`TreeMap<Integer,Object> a = new TreeMap<Integer,Object>(); a.put(1, a.entrySet());
		return a.entrySet().hashCode();`,
		"java.lang.StackOverflowError",
	},
	{
		`HashMap<Object,Object> a = new HashMap<Object,Object>(); a.put(a.keySet(), a.entrySet());
		return a.keySet().hashCode();`,
		"java.lang.StackOverflowError",
	},
	{`HashMap<Object,Object> a = new HashMap<Object,Object>(); a.put(1, a.values());
		return a.values().toString().length();`, ""},
	{`Object[] a = new Object[1]; a[0] = a; return Arrays.deepToString(a).length();`, "java.lang.StackOverflowError"},
	{`Object o = s; for (int j = 0; j < 100000; j++) o = Collections.unmodifiableList(Collections.singletonList(o));
		return o.hashCode();`, "java.lang.StackOverflowError"},
	{`Comparator c = String.CASE_INSENSITIVE_ORDER; for (int j = 0; j < 100000; j++) c = c.reversed();
		return c.compare(s, w);`, ""},

	// Patterns.
	{`return "xx".replaceAll("(x?){1000}".repeat(300), "y").length();`, "java.lang.UnsupportedOperationException"},
	{`return s.replaceAll("(x?){500}", "y").length();`, ""},
	{`return s.repeat(10).replaceAll("(x*y|x)", "z").length();`, ""},
	{`return s.repeat(20).split(",").length;`, ""},
	{`return s.repeat(20).split("[,]").length;`, ""},
	{`return s.matches("(" + "(a|x)*".repeat(200) + ")+q") ? 1 : 0;`, ""},
	{`return s.matches("(?i)" + "[B-\\x{1e942}]".repeat(200)) ? 1 : 0;`, "java.lang.UnsupportedOperationException"},
	{`return s.matches("()".repeat(2000)) ? 1 : 0;`, ""},
	{`while (true) s.matches(".*");`, ""},

	// Numbers.
	{
		`return java.math.BigInteger.ONE.shiftLeft(100000000).subtract(java.math.BigInteger.ONE).toString().length();`,
		"java.lang.ArithmeticException",
	},
	{`return v.modPow(v, v.add(java.math.BigInteger.TWO)).intValue();`, ""},
	{`return v.gcd(v.shiftRight(1)).intValue();`, ""},
	{`return v.sqrt().intValue();`, ""},
	{`return v.isProbablePrime(100) ? 1 : 0;`, ""},
	{`return v.multiply(v).intValue();`, ""},
	{`java.math.BigInteger x = java.math.BigInteger.TEN; while (true) x = x.multiply(x);`, ""},
	{`return java.math.BigInteger.TEN.pow(200000000).intValue();`, "java.lang.ArithmeticException"},
	{`return java.math.BigInteger.ONE.shiftLeft(2000000000).intValue();`, "java.lang.ArithmeticException"},
	{`return new java.math.BigDecimal("1" + "0".repeat(3000000)).intValue();`, "java.lang.ArithmeticException"},
	{`return new java.math.BigInteger("9".repeat(3000000)).intValue();`, "java.lang.ArithmeticException"},
	{`return e.add(java.math.BigDecimal.ONE).scale();`, "java.lang.ArithmeticException"},
	{
		`return new java.math.BigDecimal("1E-2000000000").add(java.math.BigDecimal.ONE).scale();`,
		"java.lang.ArithmeticException",
	},
	{`return e.setScale(1000000000).scale();`, "java.lang.ArithmeticException"},
	{`return e.compareTo(java.math.BigDecimal.ONE);`, ""},
	{`return e.toBigInteger().intValue();`, "java.lang.ArithmeticException"},
	{`return e.doubleValue() > 1 ? e.intValue() : 2;`, ""},
	{`return e.toPlainString().length();`, "java.lang.OutOfMemoryError: Java heap space"},
	{`return d.stripTrailingZeros().scale() +
		d.divide(new java.math.BigDecimal(v.shiftRight(3)), new java.math.MathContext(50000)).scale();`, ""},
	{`double x = 0; while (true) x += d.doubleValue();`, ""},
	{`return String.format("%,d", v).length();`, ""},
	{`return String.format("%1000000000d", 1).length();`, "java.lang.OutOfMemoryError: Java heap space"},
	{`return String.format("%.1000000000f", 1.5).length();`, "java.lang.ArithmeticException"},
	{`return String.format("%.1000000000e", 1.5).length();`, "java.lang.OutOfMemoryError: Java heap space"},
	{`return String.format("%" + "-".repeat(3000000) + "d", 1).length();`, "java.util.DuplicateFormatFlagsException"},
	{`return String.format("%f", e).length();`, ""},

	// Texts.
	{`StringBuilder x = new StringBuilder(s.repeat(10)); while (true) x.deleteCharAt(0).append('x');`, ""},
	{`StringBuilder x = new StringBuilder(s.repeat(10)); while (true) x.insert(0, 'x').reverse();`, ""},
	{`StringBuilder x = new StringBuilder(s.repeat(5)); while (true) x.indexOf("z");`, ""},
	{`String x = w.repeat(10); while (true) x.lastIndexOf("xx");`, ""},
	{`String x = w.repeat(10), y = w.repeat(10); while (true) x.startsWith(y);`, ""},
	{`String x = s.repeat(20), y = s.repeat(20); while (true) x.compareTo(y);`, ""},
	{`while (true) s.repeat(10).hashCode();`, ""},
	{`String x = "x"; while (true) x = x.concat(x);`, "java.lang.OutOfMemoryError: Java heap space"},
	{`return String.join("", Collections.nCopies(2000000, (String) null)).length();`, ""},
	{`while (true) w.toUpperCase();`, ""},
	{`while (true) w.codePointCount(0, w.length());`, ""},
	{`throw new RuntimeException(s.repeat(50));`, ""},

	// Collections.
	{`List<Integer> x = new ArrayList<Integer>(l); for (int j = 0; j < 5; j++) x.addAll(x);
		while (true) x.add(x.remove(0));`, ""},
	{`List<Integer> x = Collections.nCopies(2000000, 1); while (true) x.indexOf(2);`, ""},
	{`List<Integer> x = Collections.nCopies(2000000, 1); while (true) x.hashCode();`, ""},
	{`int[] x = new int[5000000]; while (true) Arrays.fill(x, 1);`, ""},
	{`long[] x = new long[5000000]; for (int j = 0; j < x.length; j++) x[j] = j * 48271L % 65537; Arrays.sort(x);
		return 1;`, ""},
	{`int[] x = new int[5000000]; while (true) Arrays.hashCode(x);`, ""},
	{`List x = new ArrayList(Collections.nCopies(500000, 1)); while (true) Collections.sort(x);`, ""},
	{`HashMap x = new HashMap(4000000); x.put(1, 1); while (true) x.keySet().iterator();`, ""},
	{
		`return new HashMap<String, String>(2000000000).put("a", "b") == null ? 1 : 0;`,
		"java.lang.OutOfMemoryError: Java heap space",
	},
	{`List x = new ArrayList(), y = x; for (int j = 0; j < 60; j++) { y = new ArrayList(); y.add(x); y.add(x); x = y; }
		return x.hashCode();`, ""},
	{`List x = new ArrayList(), y = x; for (int j = 0; j < 60; j++) { y = new ArrayList(); y.add(x); y.add(x); x = y; }
		return x.toString().length();`, ""},
	{`List x = new ArrayList(); while (true) x.add(ByteBuffer.wrap(b.array()));`, ""},
	{`List x = new ArrayList(); while (true) x.add(new java.math.BigInteger("1234567890123456789"));`, ""},
	{`List x = new ArrayList(); while (true) x.add(new Object());`, ""},
	{`List x = new ArrayList(); while (true) x.add(new int[0]);`, ""},
	{`List x = new ArrayList(); while (true) x.add("é");`, ""},
	{`List x = new ArrayList(); while (true) x.add(Collections.emptyMap());`, ""},
	{`List x = new ArrayList(); while (true) x.add(m.entrySet().iterator());`, ""},
	{`List x = new ArrayList(); while (true) x.add(new HashMap());`, ""},
	{`List x = new ArrayList(); while (true) x.add(new LinkedList());`, ""},
	{`List x = new ArrayList(); while (true) x.add(udfContext.newArgUDTValue("u"));`, ""},
	{`List x = new ArrayList(); while (true) x.add(new java.math.BigDecimal("1.5"));`, ""},
	{`List x = new ArrayList(); while (true) x.add(InetAddress.getLoopbackAddress());`, ""},
	{`return String.format("%%".repeat(3000000)).length();`, ""},
	{`while (true) u.toString();`, ""},
	{`return Double.parseDouble("1".repeat(10000000)) > 1 ? 1 : 2;`, "java.lang.ArithmeticException"},
	{`return dur.from("1".repeat(10000000)).getDays();`, "java.lang.IllegalArgumentException"},
	{`while (true) w.replace("é", "xyz");`, ""},
	{`return new int[30000][30000].length;`, "java.lang.OutOfMemoryError: Java heap space"},
	{`while (true) udfContext.newTupleValue("tuple<" + s);`, ""},

	// Objects of other classes than the body says.
	{`return ((Comparator) String.CASE_INSENSITIVE_ORDER).compare(1, 2);`, "java.lang.ClassCastException: " +
		"class java.lang.Integer cannot be cast to class java.lang.String (java.lang.Integer and java.lang.String " +
		"are in module " +
		"java.base of loader 'bootstrap')"},
	{
		`List x = new ArrayList(); x.add(1); x.add("a");
		Collections.sort(x, (Comparator) String.CASE_INSENSITIVE_ORDER); return 1;`,
		"java.lang.ClassCastException",
	},
	{`List x = new ArrayList(); x.add(1); x.add("a"); Collections.sort(x); return 1;`, "java.lang.ClassCastException"},
	{`TreeMap x = new TreeMap(); x.put(1, 1); x.put("a", 1); return 1;`, "java.lang.ClassCastException"},
	{
		`TreeMap x = new TreeMap((Comparator) String.CASE_INSENSITIVE_ORDER); x.put(1, 1); return 1;`,
		"java.lang.ClassCastException",
	},
	{
		`String[] x = new String[1]; List y = Arrays.asList(x); y.set(0, 1); return x[0].length();`,
		"java.lang.ClassCastException",
	},
	{
		`List x = new ArrayList(); x.add(1);
		for (Map.Entry<String, String> y : (List<Map.Entry<String, String>>) x) y.getKey(); return 1;`,
		"java.lang.ClassCastException",
	},
	{
		`Set x = new HashSet(); x.add(1); Set<String> y = x; for (String z : y) return z.length(); return 1;`,
		"java.lang.ClassCastException",
	},
	{
		`return Collections.max((Collection) Arrays.asList(new Object[] {1, "a"})) == null ? 1 : 2;`,
		"java.lang.ClassCastException",
	},

	// The compiler.
	{doublingTypes("Collections.singletonMap(%s,%s)", "Map<String,Integer> q2 = v60;"), "the type is too large"},
	{doublingTypes("new HashMap<>(Collections.singletonMap(%s,%s))", "return 1;"), ""},
	{"return " + strings.Repeat("1", 200_000) + ";", "The literal is too long"},
	{"double x = 0." + strings.Repeat("1", 200_000) + "; return 1;", "The literal is too long"},
	{"return 0x" + strings.Repeat("1", 200_000) + ";", "The literal is too long"},
	{"return " + strings.Repeat("1.1", 80_000) + ";", ""},
	{
		"return (\"" + strings.Repeat("x", 100_000) + "\"" + strings.Repeat("+\"y\"", 9_000) + ").length();",
		"the body takes too long",
	},
	{"return (s" + strings.Repeat("+1", 9_000) + ").length();", ""},
	{"StringBuilder x = new StringBuilder(); x" + strings.Repeat(".append(1)", 5_000) + "; return 1;", ""},
	{
		"StringBuilder x = new StringBuilder(); x" + strings.Repeat(".append(1)", 20_000) + "; return 1;",
		"the body is too large",
	},
	{"return " + strings.Repeat("n==1&&", 7_000) + "n==1 ? 1 : 2;", ""},
	{"return " + strings.Repeat("n==1||", 20_000) + "n==1 ? 1 : 2;", "the body is too large"},
	{"Object o = s instanceof String" + strings.Repeat(" instanceof String", 10_000) + "; return 1;", ""},
	{strings.Repeat("if (n == 1) n++; else ", 10_000) + "n--; return n;", "nested too deeply"},
	{manyVariables(5_000), ""},
	{strings.Repeat("a.", 49_000) + "b c = 1;", ""},
	{"String " + strings.Repeat("x", 200_000) + " = y" + strings.Repeat("y", 50_000) + ";", "cannot be resolved"},
	{"int x = " + strings.Repeat("(int)", 10_000) + "1; return x;", "nested too deeply"},
	{"switch (n) {" + manyCases(8_000) + "} return 1;", ""},
	{strings.Repeat("String.valueOf(n).substring(n).concat(s);", 1_500) + "return 1;", ""},
}

// doublingTypes declares variables whose types double, with of as the next value.
func doublingTypes(of, last string) string {
	var b strings.Builder
	b.WriteString("var v0 = Collections.singletonMap(1,1);")
	for i := range 60 {
		before := fmt.Sprint("v", i)
		fmt.Fprintf(&b, "var v%d = "+of+";\n", i+1, before, before)
	}
	return b.String() + last
}

func manyVariables(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, ",z%d=n", i)
	}
	return "int z=n" + b.String() + "; return 1;"
}

func manyCases(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "case %d:", i)
	}
	return b.String()
}

// generator writes bodies that call the methods of the library with arguments of the right types.
type generator struct {
	r         *rand.Rand
	b         strings.Builder
	variables map[string][]string // by the name of their type
	count     int
}

// Expressions of types whose values are not arguments, by the name of the type.
var hostileExpressions = map[string][]string{
	"boolean": {"true", "n > 0"},
	"byte":    {"(byte) n.intValue()"},
	"short":   {"(short) n.intValue()"},
	"char":    {"'x'", "'é'", "(char) n.intValue()"},
	"int":     {"n", "0", "1", "2", "-1", "100000", "Integer.MAX_VALUE", "Integer.MIN_VALUE"},
	"long":    {"k", "0L", "3L", "Long.MAX_VALUE", "Long.MIN_VALUE"},
	"float":   {"(float) f.doubleValue()", "1.5f", "Float.NaN"},
	"double":  {"f", "1e308", "Double.NaN", "4.9e-324"},

	"java.lang.Object": {
		"s", "l", "m", "v", "d", "n", "m.entrySet()", "new TreeMap(m).firstEntry()", "b",
		"u", "null",
	},
	"java.lang.String": {
		"s", "w", "\"\"", "\"x\"", "\"(x*)*\"", "\"%,d %s %200000s\"", "\"[\"",
		"\"12345\"", "s.repeat(7)",
	},
	"java.lang.CharSequence":  {"s", "new StringBuilder(s)", "w"},
	"java.lang.Comparable":    {"s", "v", "d", "b"},
	"java.lang.Iterable":      {"l", "q", "m.entrySet()"},
	"java.lang.Class":         {"String.class", "Integer.class", "java.math.BigInteger.class"},
	"java.lang.Number":        {"v", "d", "e", "f"},
	"java.lang.StringBuilder": {"new StringBuilder(s)", "new StringBuilder(w)"},
	"java.lang.StringBuffer":  {"new StringBuffer(s)", "new StringBuffer(w)"},
	"java.lang.Throwable":     {"new RuntimeException(s)"},
	"java.math.BigInteger": {
		"v", "v.shiftRight(7)", "java.math.BigInteger.TEN", "v.negate()",
		"java.math.BigInteger.ZERO",
	},
	"java.math.BigDecimal": {
		"d", "e", "d.negate()", "java.math.BigDecimal.TEN",
		"new java.math.BigDecimal(\"1E-2000000000\")",
	},
	"java.math.MathContext": {
		"new java.math.MathContext(n)", "new java.math.MathContext(60000)",
		"java.math.MathContext.DECIMAL32",
	},
	"java.math.RoundingMode": {"java.math.RoundingMode.HALF_EVEN", "java.math.RoundingMode.UP"},
	"java.util.Collection":   {"l", "q", "m.values()", "m.entrySet()"},
	"java.util.List": {
		"l", "new ArrayList(l)", "new LinkedList(q)", "Collections.nCopies(100000, s)",
		"Arrays.asList(l.toArray())",
	},
	"java.util.ArrayList":     {"new ArrayList(l)"},
	"java.util.LinkedList":    {"new LinkedList(l)"},
	"java.util.Set":           {"q", "m.keySet()", "m.entrySet()", "new HashSet(l)", "new TreeSet(q)"},
	"java.util.HashSet":       {"new HashSet(l)", "new HashSet(100000)"},
	"java.util.LinkedHashSet": {"new LinkedHashSet(l)"},
	"java.util.TreeSet":       {"new TreeSet(l)", "new TreeSet(q)"},
	"java.util.SortedSet":     {"new TreeSet(q)"},
	"java.util.Map":           {"m", "new HashMap(m)", "new TreeMap(m)"},
	"java.util.HashMap":       {"new HashMap(m)", "new HashMap(100000)"},
	"java.util.LinkedHashMap": {"new LinkedHashMap(m)"},
	"java.util.TreeMap":       {"new TreeMap(m)", "new TreeMap(String.CASE_INSENSITIVE_ORDER)"},
	"java.util.SortedMap":     {"new TreeMap(m)"},
	"java.util.Map.Entry":     {"new TreeMap(m).firstEntry()"},
	"java.util.Iterator":      {"l.iterator()", "m.entrySet().iterator()", "new HashMap(m).keySet().iterator()"},
	"java.util.Comparator":    {"String.CASE_INSENSITIVE_ORDER", "Collections.reverseOrder()", "null"},
	"java.util.UUID":          {"id"},
	"java.util.Date":          {"ts"},
	"java.time.Instant":       {"ts.toInstant()"},
	"java.nio.ByteBuffer":     {"b", "ByteBuffer.allocate(100000)", "b.asReadOnlyBuffer()"},
	"java.net.InetAddress":    {"i"},

	"byte[]": {"b.array()", "new byte[0]"}, "char[]": {"s.toCharArray()"}, "int[]": {"new int[100000]"},
	"java.lang.Object[]": {"l.toArray()", "new Object[] {1, \"a\"}", "m.entrySet().toArray()"},
	"java.lang.String[]": {"s.split(\",\")"}, "java.lang.CharSequence[]": {"s.split(\",\")"},
}

func init() {
	for _, a := range hostileArgs {
		name := javaType(a.typ).fullName()
		if !slices.Contains(hostileExpressions[name], a.name) {
			hostileExpressions[name] = append(hostileExpressions[name], a.name)
		}
	}
	for _, p := range []string{"boolean", "short", "long", "float", "double"} {
		hostileExpressions[p+"[]"] = []string{"new " + p + "[100000]"}
	}
	for p, box := range map[string]string{
		"boolean": "Boolean", "byte": "Byte", "short": "Short", "char": "Character",
		"int": "Integer", "long": "Long", "float": "Float", "double": "Double",
	} {
		name := "java.lang." + box
		hostileExpressions[name] = append(hostileExpressions[name], box+".valueOf("+hostileExpressions[p][0]+")")
	}
}

// expression is one of the type.
func (g *generator) expression(t *typ) string {
	name := t.fullName()
	if known := g.variables[name]; len(known) > 0 && g.r.IntN(2) == 0 {
		return known[g.r.IntN(len(known))]
	}
	if known := hostileExpressions[name]; len(known) > 0 {
		return known[g.r.IntN(len(known))]
	}
	return "(" + name + ") null"
}

// call is a call of a method, and the type of its result.
func (g *generator) call(m *method) (text string, result *typ) {
	var args []string
	for i, p := range m.params {
		if m.varargs && i == len(m.params)-1 && g.r.IntN(2) == 0 {
			for range g.r.IntN(3) {
				args = append(args, g.expression(erase(p.elem)))
			}
			continue
		}
		args = append(args, g.expression(erase(p)))
	}
	list := "(" + strings.Join(args, ", ") + ")"
	switch {
	case m.name == "":
		return "new " + m.class.name + list, m.class.typ()
	case m.static:
		return m.class.name + "." + m.name + list, erase(m.result)
	case m.class == classUDFContext:
		return "udfContext." + m.name + list, erase(m.result)
	}
	return "((" + m.class.name + ") " + g.expression(m.class.typ()) + ")." + m.name + list, erase(m.result)
}

// statement writes one, and a variable with its result.
func (g *generator) statement(m *method) {
	text, result := g.call(m)
	if result == voidType {
		g.b.WriteString(text + ";\n")
		return
	}
	name := result.fullName()
	g.count++
	v := fmt.Sprint("r", g.count)
	fmt.Fprintf(&g.b, "%s %s = (%s) %s;\n", name, v, name, text)
	g.variables[name] = append(g.variables[name], v)
	if result.reference() {
		g.variables["java.lang.Object"] = append(g.variables["java.lang.Object"], v)
	}
}

// libraryMethods are all methods of the library, in an order that does not change.
func libraryMethods() []*method {
	var all []*method
	lib := loadLibrary()
	names := make([]string, 0, len(lib.byName))
	for name := range lib.byName {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		c := lib.byName[name]
		var methods []string
		for id := range c.methods {
			methods = append(methods, id)
		}
		slices.Sort(methods)
		for _, id := range methods {
			for _, m := range c.methods[id] {
				if id != "" || !c.abstract {
					all = append(all, m)
				}
			}
		}
	}
	return all
}

// generateBody is a body of a few statements, some in a loop.
func generateBody(seed uint64) string {
	g := &generator{r: rand.New(rand.NewPCG(seed, 1)), variables: make(map[string][]string)}
	byClass := make(map[*class][]*method)
	var classes []*class
	for _, m := range libraryMethods() {
		if byClass[m.class] == nil {
			classes = append(classes, m.class)
		}
		byClass[m.class] = append(byClass[m.class], m)
	}
	method := func() *method {
		methods := byClass[classes[g.r.IntN(len(classes))]]
		return methods[g.r.IntN(len(methods))]
	}
	for range 1 + g.r.IntN(6) {
		if g.r.IntN(4) == 0 {
			fmt.Fprintf(&g.b, "for (int j%d = 0; j%d < %d; j%d++) {\n", g.count, g.count, []int{
				100,
				1_000_000,
			}[g.r.IntN(2)], g.count)
			g.count++
			outer := g.variables
			g.variables = make(map[string][]string)
			for name, known := range outer {
				g.variables[name] = slices.Clone(known)
			}
			for range 1 + g.r.IntN(3) {
				g.statement(method())
			}
			g.variables = outer
			g.b.WriteString("}\n")
			continue
		}
		g.statement(method())
	}
	return g.b.String() + "return " + g.expression(classObject.typ()) + " == null ? 1 : 2;"
}

// Every method of the library has a price, and a call of it with large operands keeps the limits.
func TestEveryMethodIsPriced(t *testing.T) {
	debug.SetMaxStack(64 << 20)
	size, rounds := 20_000, 1
	if os.Getenv("TEST_CQLD_FULL") != "" {
		size, rounds = 1<<20, 5
	}
	values := hostileValues(size, math.MaxInt32)
	compiled, count := 0, 0
	for _, m := range libraryMethods() {
		if m.price < fixed || m.price > asItGoes {
			t.Errorf("%s.%s has no price", m.class.name, m.name)
		}
		for round := range rounds {
			g := &generator{r: rand.New(rand.NewPCG(uint64(round), 2)), variables: make(map[string][]string)}
			g.statement(m)
			count++
			err, ok := runHostile(t, g.b.String()+"return 1;", values, hostileTime)
			if ok {
				compiled++
			} else if testing.Verbose() {
				t.Log(err, g.b.String())
			}
		}
	}
	if compiled < count*9/10 {
		t.Errorf("only %d of %d calls compile", compiled, count)
	}
}

// FuzzRun calls hostile bodies, and bodies that a generator makes of the library,
// with hostile arguments. Each call has
// to end soon after the time limit, in bounded memory and without a panic.
func FuzzRun(f *testing.F) {
	debug.SetMaxStack(64 << 20) // recursion that has no depth ends the process
	want := make(map[string]string)
	for _, c := range hostileBodies {
		want[c.body] = c.want
		f.Add(c.body, uint64(1<<18), int32(math.MaxInt32))
	}
	for seed := range uint64(20) {
		f.Add("", seed, int32(seed*1000))
	}
	f.Fuzz(func(t *testing.T, body string, seed uint64, n int32) {
		if body == "" {
			body = generateBody(seed)
		}
		w, limit := want[body], hostileTime
		if w != "" {
			limit = time.Minute // so that the error does not depend on the speed of the machine
		}
		err, _ := runHostile(t, body, hostileValues(int(seed%(1<<20)), n), limit)
		if w != "" && (err == nil || !strings.Contains(err.Error(), w)) {
			t.Errorf("got %s, want %s", shortened(fmt.Sprint(err)), w)
		}
	})
}
