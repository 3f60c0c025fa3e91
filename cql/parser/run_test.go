package parser

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/grammar"
)

// parseUnfolded parses a text without runs.
func parseUnfolded(text string) (cql.Statement, int, error) {
	m := machines.Get().(*machine)
	defer m.release()
	m.load(text)
	tree, err := m.run()
	if err != nil {
		return nil, 0, err
	}
	b := builder{m: m, text: text}
	if m.built != nil && m.built.begun {
		b.markers, b.err, b.built = m.built.b.markers, m.built.b.err, m.built
	}
	statement := b.statement(tree.GetBody())
	if b.err != nil {
		return nil, 0, b.err
	}
	return statement, b.markers, nil
}

// expand puts the terms of runs into their places.
func expand(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			expand(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			expand(v.Index(i))
		}
	case reflect.Struct:
		if terms, ok := v.Addr().Interface().(*cql.Terms); ok {
			if terms.Long() {
				terms.Parts = terms.List()
			}
		}
		for i := range v.NumField() {
			expand(v.Field(i))
		}
	}
}

// plainTerms are what runs are made of, and what they are not made of.
var plainTerms = []string{
	"1", "-1", "1.5", "1.", "-1e5", "1E+5", "'a'", "'it''s'", "''", "true", "FALSE", "null", "NaN", "-nan", "Infinity",
	"-INFINITY",
	"0x", "0XaF", "00000000-0000-0000-0000-000000000000", "abcdefab-0000-0000-0000-00000000000f", "1h", "-1y2mo", "3µs",
	"1D2H",
	"[]", "[1, 2]", "{}", "{1}", "{1: 2}", "{a: 1}", "{a: 1, B: 'x'}", "(1)", "(1, 'a')", "[[[1]]]", "[[[[[1]]]]]",
	"( 1,/* */2 )",
	"{{a: 1}: [1]}", "{'a': {1, 2}}", "[null]", "(null, 1)", "{1:2,3:4}", "1 /* , */", "1 -- ,\n", "1 // ]\n",
	"[" + strings.Repeat("1, ", 99) + "1]", "{" + strings.Repeat("'a' : 1, ", 99) + "'b': 2}", "[" +
		strings.Repeat("(1, 2),", 99) + "(1,2)]",
	"?", ":a", "now()", "(int) 1", "-(1)", "1 + 1", "$$a$$", "P1Y", "P0001-01-01T00:00:00", "{nan: 1}", "{\"a\": 1}",
	"{select: 1}",
	"{true: 1}", "(1) + 1", "[?]", "1 1", "1 --", "[1}", "{1:}", "{1, 2: 3}", "{a: 1, 2: 3}", "()", "1..2", "1..", "1e",
	"1d2", "1x",
	"abcdefab-", "0x1g", "--1", "-0x1", "- 1", "1e400", "'", "\"", "/*", "]", ")", "}", "1:1", "1h1", "schema",
	"{schema: 1}", "{a: 1, a: 2}",
	"{P1Y: 1}", "{p1y: 1}", "{key: 1, ttl: 2}", "{\"A b\": 1}", "+1", "1-1", "1_", "a", "é", "1µ", "Nan1", "truE", "NULLx",
}

// Long literals are the same with runs as without them, and what is wrong in them is said in the same words: whatever
// stands at their beginning, in the middle and at their end.
func TestRuns(t *testing.T) {
	frames := []string{
		"UPDATE t SET a = [%s] WHERE k = 1", "UPDATE t SET a = {%s} WHERE k = 1", "UPDATE t SET a = a + [%s] WHERE k = ?",
		"SELECT a FROM t WHERE a IN (%s) AND b = ?", "SELECT a FROM t WHERE (a, b) IN (%s) LIMIT ?",
		"INSERT INTO t (a, b) VALUES (%s) USING TTL ?", "DELETE FROM t WHERE a = f(%s) IF b IN (%[1]s)",
		"BEGIN BATCH USING TIMESTAMP ? INSERT INTO t (a) VALUES ([%s]); UPDATE t SET b = {%[1]s} WHERE k = ? APPLY BATCH",
		"SELECT a FROM t WHERE k = 1 GROUP BY f(%s)", "SELECT [%s] FROM t",
		"SELECT a FROM t WHERE k = 1 ORDER BY a ANN OF [%s]",
		"CREATE ROLE r WITH ACCESS FROM CIDRS {%s}", "UPDATE t SET a = [%s", "INSERT INTO t (%s) VALUES (1)",
		"UPDATE t SET a = ((%s)) WHERE",
	}
	fillers := []string{"1", "'a'", "(1, 2)", "1: 2", "?", "[1, 2]"}
	const every = 101 // of all combinations
	folded, combination := 0, 0
	for _, frame := range frames {
		for _, filler := range fillers {
			for _, odd := range plainTerms {
				for _, place := range []int{0, 1, 11, 12, 13, 60, 150, 187, 188, 189, 199} {
					if combination++; combination%every != 0 {
						continue
					}
					items := make([]string, 200)
					for i := range items {
						items[i] = filler
					}
					items[place] = odd
					if compareRuns(t, fmt.Sprintf(frame, strings.Join(items, ","))) {
						folded++
					}
				}
			}
		}
	}
	if folded == 0 {
		t.Error("no text had a run")
	}
}

// compareRuns parses a text with runs and without them, and reports whether there were any.
func compareRuns(t *testing.T, text string) bool {
	t.Helper()
	got, markers, err := Parse(text)
	if err != nil && strings.Contains(err.Error(), "nested deeper") {
		return false // a run is looked at as a whole, also behind an error in front of it
	}
	want, wantMarkers, wantErr := parseUnfolded(text)
	if fmt.Sprint(err) != fmt.Sprint(wantErr) {
		t.Errorf("%.400s\ngot  %.200v\nwant %.200v", text, err, wantErr)
		return false
	}
	if err != nil {
		return false
	}
	long := hasRun(reflect.ValueOf(got))
	expand(reflect.ValueOf(got))
	if markers != wantMarkers || !reflect.DeepEqual(got, want) {
		t.Errorf("%.400s\ngot  %d %.400s\nwant %d %.400s", text, markers, got, wantMarkers, want)
	}
	return long
}

func hasRun(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return false
		}
		if _, ok := v.Interface().(*cql.Run); ok {
			return true
		}
		return hasRun(v.Elem())
	case reflect.Slice:
		for i := range v.Len() {
			if hasRun(v.Index(i)) {
				return true
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if hasRun(v.Field(i)) {
				return true
			}
		}
	}
	return false
}

// What people send is parsed, however long it is.
func TestLongStatements(t *testing.T) {
	repeat := func(n int, format string) string {
		var s strings.Builder
		for i := range n {
			if i > 0 {
				s.WriteString(", ")
			}
			fmt.Fprintf(&s, format, i)
		}
		return s.String()
	}
	for name, text := range map[string]string{
		"batch": "BEGIN BATCH " + strings.ReplaceAll(repeat(5_000,
			"INSERT INTO k.t (a, b, c) VALUES (%d, 'some text', now())"), ")),", "));") + " APPLY BATCH",
		"in":         "SELECT a FROM t WHERE a IN (" + repeat(50_000, "%d") + ")",
		"list":       "UPDATE t SET l = [" + repeat(100_000, "%d") + "] WHERE k = 1",
		"durations":  "UPDATE t SET l = [" + repeat(100_000, "%dh") + "] WHERE k = 1",
		"uuids":      "SELECT a FROM t WHERE a IN (" + repeat(50_000, "00000000-0000-0000-0000-%012d") + ")",
		"pairs":      "SELECT a FROM t WHERE (a, b) IN (" + repeat(50_000, "(%d, 'a')") + ")",
		"markers":    "SELECT a FROM t WHERE a IN (" + strings.Repeat("?, ", 60_000) + "?" + ")",
		"user types": "UPDATE t SET l = [" + repeat(100_000, "{id: %d, name: 'a name'}") + "] WHERE k = 1",
		"vectors":    "UPDATE t SET l = [" + repeat(1_000, "["+strings.Repeat("0.25, ", 383)+"%d]") + "] WHERE k = 1",
		"columns":    "CREATE TABLE t (" + repeat(5_000, "column_%d text") + ", PRIMARY KEY (column_0))",
		"elements":   "UPDATE t SET " + repeat(4_000, "m['key_%d'] = 'a value'") + " WHERE k = 1",
	} {
		t.Run(name, func(t *testing.T) {
			if _, _, err := Parse(text); err != nil {
				t.Errorf("%.300s", err.Error())
			}
		})
	}
}

// A text that is too long is refused with the code for what a server does not do.
func TestTooLong(t *testing.T) {
	long := strings.Repeat(" ", DefaultLimits.Length+1)
	for _, text := range []string{long, "SELECT a" + strings.Repeat(",a", 1<<20) + " FROM t"} {
		_, _, err := Parse(text)
		if e, ok := cqlerr.As(err); !ok || e.Code != cqlerr.Invalid {
			t.Errorf("got %v", err)
		}
	}
}

// FuzzRuns compares parsing with and without runs.
func FuzzRuns(f *testing.F) {
	for _, odd := range plainTerms {
		f.Add("UPDATE t SET a = [", "1", odd, byte(30))
	}
	f.Fuzz(func(t *testing.T, head, filler, odd string, place byte) {
		if len(head)+len(filler)*100+len(odd) > 16<<10 {
			t.Skip()
		}
		n := int(place) % 100
		text := head + strings.Repeat(filler+",", n) + odd + strings.Repeat(","+filler, 99-n) + "] WHERE k = 1"
		compareRuns(t, text)
	})
}

// Until the next one, a term that is lent is the same as one that is made to be kept.
func TestLent(t *testing.T) {
	nested := "[1, [2, 3], {4: 'a'}], {c: 6, d: [7]}, 8, 'it''s', null, "
	for text, kind := range map[string]cql.RunKind{
		strings.Repeat("1, 'a', 2.5, 0x01, ", 50): cql.RunTerms, strings.Repeat(nested, 30): cql.RunTerms,
		strings.Repeat("1: [2, 3], 4: 'e', ", 50): cql.RunKeys, strings.Repeat("(1, 2), ('a', 'b'), ", 50): cql.RunTuples,
	} {
		run, _, _ := cql.FindRun(text, 0)
		if run == nil {
			t.Fatalf("%s is no run", text[:20])
		}
		if run.Kind != kind {
			t.Errorf("%s is of kind %d", text[:20], run.Kind)
		}
		kept := slices.Collect(run.All())
		at := 0
		for term := range run.Lent() {
			if !reflect.DeepEqual(term, kept[at]) {
				t.Errorf("%d is %#v, not %#v", at, term, kept[at])
			}
			at++
		}
		if at != len(kept) || at != run.Count {
			t.Errorf("%d of %d terms", at, run.Count)
		}
		if kind != cql.RunKeys {
			continue
		}
		values := *run
		values.Kind = cql.RunValues
		keptValues := slices.Collect(values.All())
		at = 0
		for k, v := range run.LentEntries() {
			if !reflect.DeepEqual(k, kept[at]) || !reflect.DeepEqual(v, keptValues[at]) {
				t.Errorf("entry %d is %#v: %#v", at, k, v)
			}
			at++
		}
	}
}

// The constants of a run are what the lexer takes them for.
func TestConstants(t *testing.T) {
	kinds := map[int]cql.LiteralKind{
		grammar.CqlLexerINTEGER: cql.IntegerLiteral, grammar.CqlLexerFLOAT: cql.FloatLiteral,
		grammar.CqlLexerUUID:      cql.UUIDLiteral,
		grammar.CqlLexerHEXNUMBER: cql.HexLiteral, grammar.CqlLexerBOOLEAN: cql.BooleanLiteral,
		grammar.CqlLexerDURATION: cql.DurationLiteral, grammar.CqlLexerSTRING_LITERAL: cql.StringLiteral,
		grammar.CqlLexerK_NULL: cql.NullLiteral, grammar.CqlLexerK_POSITIVE_NAN: cql.FloatLiteral,
		grammar.CqlLexerK_NEGATIVE_NAN:      cql.FloatLiteral,
		grammar.CqlLexerK_POSITIVE_INFINITY: cql.FloatLiteral, grammar.CqlLexerK_NEGATIVE_INFINITY: cql.FloatLiteral,
	}
	found := 0
	for _, word := range plainTerms {
		run, _, _ := cql.FindRun(strings.Repeat(word+",", 100), 0)
		if run == nil || run.Kind != cql.RunTerms {
			continue
		}
		for term := range run.All() {
			l, ok := term.(*cql.Literal)
			if !ok {
				break
			}
			m := machines.Get().(*machine)
			m.load(word)
			if kind, ok := kinds[m.tokens.All[0].GetTokenType()]; !ok || kind != l.Kind || len(m.tokens.All) != 2 {
				t.Errorf("%s is no %d", word, l.Kind)
			}
			m.release()
			found++
			break
		}
	}
	if found < 20 {
		t.Errorf("only %d constants", found)
	}
}
