package script

import (
	"bytes"
	"encoding/hex"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/cqld/cqld/cql/types"
)

func TestBoundTexts(t *testing.T) {
	for _, c := range []struct {
		cql          string
		bound, parts []string // nil: the text alone
	}{
		{"CREATE TABLE t (a int PRIMARY KEY) WITH gc_grace_seconds = 1", nil, nil},
		{"SELECT a FROM t WHERE a = ? AND b = 1", nil, nil},
		{
			"INSERT INTO t (a, \"B\") VALUES (1, 'it''s') USING TTL 5 AND TIMESTAMP -6 -- 7",
			[]string{"INSERT INTO t (a, \"B\") VALUES (?, ?) USING TTL ? AND TIMESTAMP ? -- 7"},
			[]string{"INSERT INTO t (a, \"B\") VALUES (?, ?) USING TTL ? AND TIMESTAMP ? -- 7"},
		},
		{
			"SELECT a FROM t WHERE a IN (1, 2) AND (b, c) > (3, 4) AND m[5] = null PER PARTITION LIMIT 6 LIMIT 7",
			[]string{"SELECT a FROM t WHERE a IN ? AND (b, c) > ? AND m[?] = ? PER PARTITION LIMIT ? LIMIT ?"},
			[]string{"SELECT a FROM t WHERE a IN (?, ?) AND (b, c) > (?, ?) AND m[?] = ? PER PARTITION LIMIT ? LIMIT ?"},
		},
		{
			"UPDATE t SET l = [1, 2] + l, u = {a: 1, \"B\": 2}, s = {1, 2}, f = f(3, {4: 5}) WHERE k = true IF a IN () AND b IS NOT NULL",
			[]string{
				"UPDATE t SET l = ? + l, u = ?, s = ?, f = f(?, ?) WHERE k = ? IF a IN ? AND b IS NOT NULL",
				"UPDATE t SET l = [1, 2] + l, u = ?, s = ?, f = f(?, ?) WHERE k = ? IF a IN ? AND b IS NOT NULL",
			},
			[]string{
				"UPDATE t SET l = [?, ?] + l, u = {a: ?, \"B\": ?}, s = {1, 2}, f = f(?, {4: 5}) WHERE k = ? IF a IN () AND b IS NOT NULL",
				"UPDATE t SET l = [1, 2] + l, u = {a: ?, \"B\": ?}, s = {1, 2}, f = f(?, {4: 5}) WHERE k = ? IF a IN () AND b IS NOT NULL",
			},
		},
		{
			"SELECT (vector<float, 3>)[1, 2, 3], m[1..2], -NaN FROM t WHERE a = 1 + -2.5e3 AND d > -1y2mo",
			[]string{
				"SELECT (vector<float, 3>)?, m[?..?], ? FROM t WHERE a = ? + ? AND d > ?",
				"SELECT (vector<float, 3>)[1, 2, 3], m[1..2], -NaN FROM t WHERE a = 1 + -2.5e3 AND d > ?",
			},
			[]string{
				"SELECT (vector<float, 3>)[?, ?, ?], m[?..?], ? FROM t WHERE a = ? + ? AND d > ?",
				"SELECT (vector<float, 3>)[1, 2, 3], m[1..2], -NaN FROM t WHERE a = 1 + -2.5e3 AND d > ?",
			},
		},
		{
			"BEGIN BATCH USING TIMESTAMP 1 DELETE l[2] FROM t WHERE k = 0x0a; INSERT INTO t JSON '{}' DEFAULT NULL; APPLY BATCH",
			[]string{"BEGIN BATCH USING TIMESTAMP ? DELETE l[?] FROM t WHERE k = ?; INSERT INTO t JSON ? DEFAULT NULL; APPLY BATCH"},
			[]string{"BEGIN BATCH USING TIMESTAMP ? DELETE l[?] FROM t WHERE k = ?; INSERT INTO t JSON ? DEFAULT NULL; APPLY BATCH"},
		},
	} {
		for binding, want := range map[Binding][]string{Unbound: nil, Bound: c.bound, Parts: c.parts} {
			var got []string
			for _, text := range boundTexts(c.cql, binding) {
				got = append(got, text.cql)
				if n := strings.Count(text.cql, "?"); binding != Unbound && want != nil && n != len(text.literals) {
					t.Errorf("%d literals for %s", len(text.literals), text.cql)
				}
			}
			if want = append(want, c.cql); !reflect.DeepEqual(got, want) {
				t.Errorf("binding %d\n%s\nwant\n%s", binding, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
	}
}

func TestEncode(t *testing.T) {
	const user = "UserType(ks,75,61:Int32Type,62:UTF8Type)"
	classes := regexp.MustCompile(`[A-Z][a-zA-Z0-9]+Type`)
	for _, c := range []struct{ literal, class, want string }{
		{"1", "Int32Type", "00000001"},
		{"1", "LongType", "0000000000000001"},
		{"'it''s'", "UTF8Type", "69742773"},
		{"$$a$$", "UTF8Type", "61"},
		{"null", "Int32Type", "null"},
		{"'2020-01-01'", "SimpleDateType", "80004756"},
		{"1h", "DurationType", "0000fc068c61714000"},
		{"[1, null]", "ListType(Int32Type)", "0000000200000004" + "00000001" + "ffffffff"},
		{"{2, 1, 2}", "SetType(Int32Type)", "00000003" + "0000000400000002" + "0000000400000001" + "0000000400000002"},
		{"{}", "MapType(Int32Type,Int32Type)", "00000000"},
		{"{1: 2}", "MapType(Int32Type,Int32Type)", "00000001" + "0000000400000001" + "0000000400000002"},
		{"(1, 'a')", "TupleType(Int32Type,UTF8Type)", "0000000400000001" + "0000000161"},
		{"(1)", "Int32Type", "00000001"},
		{"{b: 'x'}", user, "ffffffff" + "0000000178"},
		{"{b: 'x', c: 1}", user, "ffffffff" + "0000000178" + "0000000400000001"},
		{"[1, 2.5]", "VectorType(FloatType,2)", "3f800000" + "40200000"},
		// Of another type.
		{"'ab'", "Int32Type", "6162"},
		{"5000000000", "Int32Type", "000000012a05f200"},
		{"true", "Int32Type", "01"},
		{"1.5", "UTF8Type", "3ff8000000000000"},
		{"0xff", "Int32Type", "ff"},
		{"[1]", "Int32Type", "00000001" + "0000000400000001"},
	} {
		kind, err := types.FromClassName(classes.ReplaceAllString(c.class, "org.apache.cassandra.db.marshal.$0"))
		if err != nil {
			t.Fatal(err)
		}
		l, _, ok := literalAt(tokenize(c.literal), 0)
		if !ok {
			t.Errorf("%s is no literal", c.literal)
			continue
		}
		got := l.encode(kind)
		if want, _ := hex.DecodeString(c.want); c.want == "null" && got != nil || !bytes.Equal(got, want) {
			t.Errorf("%s as %s: %x, want %s", c.literal, kind, got, c.want)
		}
	}
}
