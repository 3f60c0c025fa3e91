package main

import (
	"strings"

	"github.com/cqld/cqld/cql/types"
)

// functionsFamily defines functions with random bodies and calls them, with columns and with values.
var functionsFamily = &family{
	name: "functions", statements: 400,
	shape: func(*gen) *table {
		t := &table{columns: []*column{{name: "p0", typ: types.Int, kind: partition}, {name: "c0", typ: types.Int, kind: clustering}}}
		for _, a := range functionArguments {
			t.columns = append(t.columns, &column{name: "v_" + a.name, typ: a.typ, kind: regular})
		}
		return t
	},
	productions: []production{
		{"insert", 10, (*gen).insert},
		{"define", 12, (*gen).defineFunction},
		{"call", 78, (*gen).callFunction},
	},
}

// functionArguments are the arguments of all functions. A body copies them to variables, which it changes.
var functionArguments = []struct {
	name     string
	typ      types.Type
	variable string // with its type
	other    string // the value of the variable instead of null
}{
	{"a", types.Int, "int i", "7"},
	{"b", types.BigInt, "long x", "-9L"},
	{"d", types.Double, "double e", "0.5"},
	{"s", types.Text, "String t", `"none"`},
	{"m", types.Decimal, "java.math.BigDecimal n", "java.math.BigDecimal.TEN"},
	{"l", &types.List{Elem: types.Int, Frozen: true}, "List<Integer> li", "new ArrayList<Integer>()"},
	{"w", &types.Map{Key: types.Text, Value: types.Int, Frozen: true}, "Map<String, Integer> mw", "new TreeMap<String, Integer>()"},
}

// functionResults are the results of functions, by their number, and the Java types of what bodies return.
var functionResults = []struct{ cql, java string }{
	{"int", "int"},
	{"bigint", "long"},
	{"double", "double"},
	{"text", "String"},
	{"decimal", "BigDecimal"},
	{"boolean", "boolean"},
	{"list<int>", "List"},
	{"map<text, int>", "Map"},
}

func functionName(n int) string { return tableName + "_f" + itoa(n) }

// defineFunction makes a function, in place of one that has the same number.
func (g *gen) defineFunction() *step {
	n := g.IntN(len(functionResults))
	called := g.percent(25)
	var head strings.Builder
	head.WriteString("CREATE OR REPLACE FUNCTION " + functionName(n) + " (")
	for i, a := range functionArguments {
		if i > 0 {
			head.WriteString(", ")
		}
		typ := strings.TrimSuffix(strings.TrimPrefix(a.typ.String(), "frozen<"), ">")
		if !strings.HasPrefix(a.typ.String(), "frozen<") {
			typ = a.typ.String()
		}
		head.WriteString(a.name + " " + typ)
	}
	how := "RETURNS NULL"
	if called {
		how = "CALLED"
	}
	head.WriteString(") " + how + " ON NULL INPUT RETURNS " + functionResults[n].cql + " LANGUAGE java AS $$")
	for _, a := range functionArguments {
		value := a.name
		if called && g.percent(90) {
			value = a.name + " == null ? " + a.other + " : " + a.name
		}
		head.WriteString(a.variable + " = " + value + "; ")
	}
	body := javaBody{gen: g, result: functionResults[n].java, nullable: called}
	root := seq(words(head.String()))
	for range 1 + g.IntN(5) {
		root.kids = append(root.kids, g.opt(words(body.statement(2))))
	}
	// All variables are read: Cassandra drops assignments to the others, with their exceptions (difference 253).
	root.kids = append(root.kids, words("if (i + x + e == 0.125) return "+body.expression(body.result, 0)+"; "))
	root.kids = append(root.kids, words("return "+body.expression(body.result, 3)+";$$"))
	return &step{kind: definition, root: root}
}

// callFunction selects a function of columns or values, mostly of one row: the first exception ends an answer.
func (g *gen) callFunction() *step {
	args := list("(", ", ", ")")
	for _, a := range functionArguments {
		arg := of("v_"+a.name, words("v_"+a.name))
		if g.percent(35) {
			arg = g.key(a.typ)
		}
		args.kids = append(args.kids, arg)
	}
	root := seq(words("SELECT "+functionName(g.IntN(len(functionResults)))), args, words(" FROM "+tableName+" WHERE p0 = "), g.integer(g.IntN(3)))
	if g.percent(80) {
		root.kids = append(root.kids, words(" AND c0 = "), g.integer(g.IntN(4)))
	}
	return &step{kind: read, root: root}
}

// javaBody makes random statements and expressions of Java whose types are right.
type javaBody struct {
	*gen
	result   string // the type of what the body returns
	nullable bool   // it may return null
	loops    int    // around the statement that is being made
	names    int    // of variables
}

// statement is a statement with at most so many levels inside.
func (b *javaBody) statement(depth int) string {
	k := b.IntN(100)
	if depth == 0 {
		k %= 50
	}
	switch {
	case k < 6:
		return "i = " + b.expression("int", 2) + "; "
	case k < 12:
		return "i " + pick(b.gen, compoundOperators) + " " + b.expression(pick(b.gen, javaNumbers), 2) + "; "
	case k < 16:
		return "x " + pick(b.gen, append(compoundOperators, "=")) + " " + b.expression(pick(b.gen, javaNumbers[:2]), 2) + "; "
	case k < 20:
		return "x " + pick(b.gen, []string{"<<=", ">>=", ">>>=", "&=", "|=", "^="}) + " " + b.expression(pick(b.gen, javaNumbers[:2]), 2) + "; "
	case k < 25:
		return "e " + pick(b.gen, append(compoundOperators, "=")) + " " + b.expression("double", 2) + "; "
	case k < 31:
		return "t " + pick(b.gen, []string{"=", "+="}) + " " + b.expression("String", 2) + "; if (t.length() > 200) t = t.substring(0, 20); "
	case k < 35:
		return "n = n.max(" + b.expression("BigDecimal", 2) + "); if (n.precision() > 50 || Math.abs(n.scale()) > 100) n = java.math.BigDecimal.ONE; "
	case k < 39:
		return "li." + pick(b.gen, []string{"add(", "remove((Object) ", "add(0, "}) + b.expression("int", 1) + "); "
	case k < 42:
		return "mw." + pick(b.gen, []string{"put(", "putIfAbsent("}) + b.expression("String", 1) + ", " + b.expression("int", 1) + "); "
	case k < 44:
		return pick(b.gen, []string{"i++; ", "--i; ", "x--; ", "++e; ", "li = " + b.expression("List", 2) + "; ", "mw = " + b.expression("Map", 2) + "; "})
	case k < 46:
		return "if (" + b.expression("boolean", 2) + ") return " + b.returned() + "; "
	case k < 47:
		return "if (" + b.expression("boolean", 2) + ") throw new " + pick(b.gen, []string{
			"IllegalStateException", "IllegalArgumentException", "RuntimeException", "ArithmeticException", "UnsupportedOperationException",
		}) + "(" + b.expression("String", 1) + "); "
	case k < 50 && b.loops > 0:
		return "if (" + b.expression("boolean", 1) + ") " + pick(b.gen, []string{"break; ", "continue; "})
	case k < 50:
		return "{ } "
	case k < 65:
		return "if (" + b.expression("boolean", 2) + ") { " + b.block(depth) + "} else { " + b.block(depth) + "} "
	case k < 75:
		v := b.name("k")
		return "for (int " + v + " = 0; " + v + " < " + itoa(1+b.IntN(4)) + "; " + v + "++) { " + b.loop(depth) + "} "
	case k < 82:
		v := b.name("c")
		return "int " + v + " = 0; while (" + v + "++ < 4 && " + b.expression("boolean", 1) + ") { " + b.loop(depth) + "} "
	case k < 86:
		v := b.name("c")
		return "int " + v + " = 3; do { " + b.loop(depth) + "} while (--" + v + " > 0 && " + b.expression("boolean", 1) + "); "
	case k < 90:
		v := b.name("y")
		return "for (" + pick(b.gen, []string{"int ", "Integer "}) + v + " : " + b.expression("List", 0) + ") { i += " + v + "; " + b.loop(depth) + "} "
	case k < 94:
		v := b.name("z")
		return "for (String " + v + " : mw.keySet()) { x += mw.get(" + v + "); " + b.loop(depth) + "} "
	}
	return "switch (" + b.expression("int", 1) + " & 3) { case 0: " + b.block(depth) + "break; case 1: " + b.block(depth) + "default: " +
		b.block(depth) + "} "
}

// block is one statement or two.
func (b *javaBody) block(depth int) string {
	text := b.statement(depth - 1)
	if b.percent(40) {
		text += b.statement(depth - 1)
	}
	return text
}

// loop is the block of a loop.
func (b *javaBody) loop(depth int) string {
	b.loops++
	defer func() { b.loops-- }()
	return b.block(depth)
}

func (b *javaBody) name(letter string) string {
	b.names++
	return letter + itoa(b.names)
}

func (b *javaBody) returned() string {
	if b.nullable && b.percent(20) {
		return "null"
	}
	return b.expression(b.result, 2)
}

// javaNumbers are the types of numbers, the narrow ones first.
var javaNumbers = []string{"int", "long", "double"}

var compoundOperators = []string{"+=", "-=", "*=", "/=", "%="}

// javaLeaves are expressions without parts.
var javaLeaves = map[string][]string{
	"int": {
		"i", "i", "i", "0", "1", "-1", "2", "3", "31", "100", "Integer.MAX_VALUE", "Integer.MIN_VALUE", "0x7f", "'a' + 0", "t.length()",
		"li.size()", "mw.size()", "n.signum()", "n.scale()", "t.hashCode()", "0 + (byte) i", "1 - (short) x", "0 + (char) i", "li.hashCode()",
	},
	"long": {"x", "x", "x", "0L", "1L", "-7L", "5000000000L", "Long.MAX_VALUE", "Long.MIN_VALUE", "n.longValue()", "(long) i", "Math.round(e)"},
	"double": {
		"e", "e", "e", "0.0", "1.5", "-2.25", "1e10", "1e-7", "Double.MAX_VALUE", "Double.NaN", "n.doubleValue()", "(double) i", "0.1f", "(float) e",
	},
	"boolean": {"true", "false", "t.isEmpty()", "li.isEmpty()", "i > 0", "x == 1", "e != e", "Double.isNaN(e)"},
	"String": {
		"t", "t", "t", `""`, `"a"`, `"it's"`, `"ä€😀"`, `"A b"`, `"12"`, "String.valueOf(i)", "Long.toString(x)", "String.valueOf(e)", "n.toString()",
		"li.toString()", "mw.toString()", "Integer.toHexString(i)", "n.toPlainString()", "Double.toString(e)", "Long.toBinaryString(x)",
	},
	"BigDecimal": {
		"n", "n", "n", `new java.math.BigDecimal("1.50")`, "java.math.BigDecimal.ONE", "java.math.BigDecimal.valueOf(x)",
		"new java.math.BigDecimal(i)", `new java.math.BigDecimal("-0.007")`,
	},
	"List": {"li", "li", "li", "new ArrayList<Integer>(li)", "Arrays.asList(1, i, -3)", "new LinkedList<Integer>()"},
	"Map":  {"mw", "mw", "mw", "new HashMap<String, Integer>(mw)", "new TreeMap<String, Integer>(mw)", "new LinkedHashMap<String, Integer>()"},
}

// javaShapes are expressions of each type with parts: $t stands for an expression of type t.
var javaShapes = map[string][]string{
	"int": {
		"($int + $int)", "($int - $int)", "($int * $int)", "($int / $int)", "($int % $int)", "($int & $int)", "($int | $int)", "($int ^ $int)",
		"($int << $int)", "($int >> $int)", "($int >>> $int)", "($int >> $long)", "(-$int)", "(~$int)", "($boolean ? $int : $int)", "(int) (0 + $long)",
		"(int) ($double)", "+(byte) (0 + $int)", "+(short) (0 + $long)", "+(char) (0 + $double)", "Math.max($int, $int)", "Math.min($int, $int)", "Math.abs($int)",
		"Math.floorMod($int, $int)", "Math.floorDiv($int, $int)", "Math.addExact($int, $int)", "$String.indexOf($String)", "$String.length()",
		"$String.compareTo($String)", "$String.hashCode()", "$BigDecimal.compareTo($BigDecimal)", "$BigDecimal.intValue()", "$BigDecimal.hashCode()",
		"$List.get($int & 1)", "$List.indexOf($int)", "$Map.getOrDefault($String, $int)", "mw.get($String)", "Integer.compare($int, $int)",
		"Integer.bitCount($int)", "Integer.signum($int)", "Long.compare($long, $long)", "Double.compare($double, $double)", "(i = $int)", "i++", "--i",
		"+$String.charAt($int & 3)", "$String.lastIndexOf('a')", "Integer.valueOf($int).hashCode()", "Double.valueOf($double).hashCode()",
		"Collections.max($List)", "Collections.frequency($List, $int)", "Integer.parseInt($String)", "Long.valueOf($long).intValue()",
		"$Map.hashCode()", "$List.hashCode()", "Integer.reverse($int)", "Integer.rotateLeft($int, $int)", "$BigDecimal.precision()",
	},
	"long": {
		"($long + $int)", "($long - $long)", "($int * $long)", "($long / $long)", "($long % $int)", "($long & $long)", "($long | $int)", "($int ^ $long)",
		"($long << $int)", "($long >> $long)", "($long >>> $int)", "(-$long)", "(~$long)", "($boolean ? $int : $long)", "(long) ($double)",
		"Math.round($double)", "Math.max($long, $int)", "Math.abs($long)", "Math.floorMod($long, $long)", "Math.multiplyExact($long, $long)",
		"(long) $int * $int", "$BigDecimal.longValue()", "x++", "(x = $long)", "Long.signum($long)", "Long.parseLong($String)",
		"Double.doubleToLongBits($double)", "$BigDecimal.unscaledValue().longValue()",
	},
	"double": {
		"($double + $double)", "($double - $int)", "($double * $long)", "($double / $double)", "($double % $double)", "(-$double)",
		"($boolean ? $double : $int)", "Math.sqrt($double)", "Math.floor($double)", "Math.ceil($double)", "Math.rint($double)", "Math.abs($double)",
		"Math.max($double, $double)", "Math.min($double, $long)", "Math.signum($double)", "($int / 2.0)", "(float) ($double)", "($int + 0.5f)",
		"$BigDecimal.doubleValue()", "(e = $double)", "Double.parseDouble($String)", "Math.hypot(3, $int & 4)", "Math.toRadians($double)",
	},
	"boolean": {
		"($int < $int)", "($long >= $int)", "($double <= $double)", "($int == $long)", "($double != $int)", "($boolean && $boolean)",
		"($boolean || $boolean)", "(!$boolean)", "($boolean ^ $boolean)", "($boolean == $boolean)", "$String.equals($String)", "$String.contains($String)",
		"$String.startsWith($String)", "$String.endsWith($String)", "$List.contains($int)", "$Map.containsKey($String)", "$BigDecimal.equals($BigDecimal)",
		"Integer.valueOf($int).equals($int)", "Long.valueOf($long).equals($int)", "$List.equals($List)", "$Map.containsValue($int)",
		"((Object) $String instanceof String)", "((Object) $List == $List)", "$String.equalsIgnoreCase($String)", "Boolean.parseBoolean($String)",
		"($boolean ? $boolean : $boolean)", "($boolean & $boolean | $boolean)", "$Map.equals($Map)",
	},
	"String": {
		"($String + $int)", "($int + $String)", "($String + $double)", "($String + $boolean)", "($String + $long)", "($String + $List)",
		"($String + $BigDecimal)", "($String + (float) ($double))", "($String + (char) ($int & 127 | 32))", "$String.toUpperCase()", "$String.toLowerCase()",
		"$String.trim()", "$String.substring(Math.min($int & 3, 2))", "$String.substring(0, $int & 3)", "$String.replace('a', 'o')",
		"$String.replace($String, $String)", "String.valueOf($boolean)", "String.valueOf($long)", "Integer.toString($int)", "Integer.toString($int, 36)",
		"Double.toString($double)", "Integer.toBinaryString($int)", "new StringBuilder($String).reverse().append($int).toString()",
		"new StringBuilder().append($String).insert(0, $int).append($double).toString()", "($boolean ? $String : $String)", "$BigDecimal.toPlainString()",
		"$BigDecimal.toString()", "$List.toString()", "String.join(\"-\", $String, $String)", "String.format(\"%d|%5d|%s\", $int, $long, $String)",
		"$String.concat($String)", "String.format(\"%.3f\", $BigDecimal)", "$Map.keySet().toString()", "$Map.values().toString()", "\"\" + $String.charAt(0)",
		"$BigDecimal.toBigInteger().toString()", "Arrays.toString($String.split(\" \"))", "$String.strip()", "$String.repeat($int & 3)",
	},
	"BigDecimal": {
		"$BigDecimal.add($BigDecimal)", "$BigDecimal.subtract($BigDecimal)", "$BigDecimal.multiply($BigDecimal)", "$BigDecimal.negate()",
		"$BigDecimal.abs()", "$BigDecimal.max($BigDecimal)", "$BigDecimal.min($BigDecimal)", "$BigDecimal.setScale($int & 7, java.math.RoundingMode.HALF_UP)",
		"$BigDecimal.setScale($int & 3, java.math.RoundingMode.FLOOR)", "$BigDecimal.setScale(1)", "$BigDecimal.stripTrailingZeros()",
		"$BigDecimal.divide($BigDecimal, 5, java.math.RoundingMode.HALF_EVEN)", "$BigDecimal.divide($BigDecimal, java.math.MathContext.DECIMAL32)",
		"java.math.BigDecimal.valueOf($long, $int & 7)", "java.math.BigDecimal.valueOf($double)", "($boolean ? $BigDecimal : $BigDecimal)",
		"$BigDecimal.remainder($BigDecimal)", "$BigDecimal.movePointLeft($int & 3)", "$BigDecimal.pow($int & 3)", "new java.math.BigDecimal($String)",
		"$BigDecimal.round(java.math.MathContext.DECIMAL64)",
	},
	"List": {
		"new ArrayList<Integer>($List)", "Arrays.asList($int, $int)", "$List.subList(0, $int & 1)", "Collections.singletonList($int)",
		"($boolean ? $List : $List)", "new ArrayList<Integer>($Map.values())", "Collections.nCopies($int & 3, $int)", "new LinkedList<Integer>($List)",
		"new ArrayList<Integer>(new HashSet<Integer>($List))", "new ArrayList<Integer>(new TreeSet<Integer>($List))", "Collections.unmodifiableList($List)",
	},
	"Map": {
		"new HashMap<String, Integer>($Map)", "new TreeMap<String, Integer>($Map)", "($boolean ? $Map : $Map)", "Collections.singletonMap($String, $int)",
		"new LinkedHashMap<String, Integer>($Map)",
	},
}

// expression is an expression of a type with at most so many levels.
func (b *javaBody) expression(t string, depth int) string {
	if depth == 0 || b.percent(20) {
		return "(" + pick(b.gen, javaLeaves[t]) + ")"
	}
	before, rest, found := strings.Cut(pick(b.gen, javaShapes[t]), "$")
	var text strings.Builder
	text.WriteString(before)
	for found {
		end := strings.IndexFunc(rest, func(r rune) bool { return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') })
		if end < 0 {
			end = len(rest)
		}
		part := rest[:end]
		before, rest, found = strings.Cut(rest[end:], "$")
		text.WriteString(b.expression(part, depth-1) + before)
	}
	return "(" + text.String() + ")"
}
