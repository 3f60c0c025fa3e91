package types

import (
	"bytes"
	"encoding/hex"
	"os"
	"strings"
	"testing"
)

// readTable reads the lines of a recorded file as fields between tabs.
func readTable(t *testing.T, name string) [][]string {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]string
	for _, line := range strings.Split(strings.TrimSuffix(string(data), "\n"), "\n") {
		if !strings.HasPrefix(line, "#") {
			rows = append(rows, strings.Split(line, "\t"))
		}
	}
	if len(rows) == 0 {
		t.Fatalf("%s is empty", name)
	}
	return rows
}

// verdict is what the tests expect for a row: its last field, which is recorded, or ours where Cassandra
// lets a Java exception out.
func verdict(row []string) string { return strings.TrimPrefix(row[len(row)-1], "ours: ") }

// unhex reads bytes as the recorded files have them.
func unhex(t testing.TB, s string) []byte {
	t.Helper()
	if s == "empty" {
		return []byte{}
	}
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// testTypes are the types of the recorded files that are not native.
var testTypes = map[string]Type{
	"frozen<list<int>>":        &List{Elem: Int, Frozen: true},
	"frozen<list<tinyint>>":    &List{Elem: TinyInt, Frozen: true},
	"frozen<set<int>>":         &Set{Elem: Int, Frozen: true},
	"frozen<set<text>>":        &Set{Elem: Text, Frozen: true},
	"frozen<map<int, int>>":    &Map{Key: Int, Value: Int, Frozen: true},
	"frozen<map<int, text>>":   &Map{Key: Int, Value: Text, Frozen: true},
	"frozen<tuple<int, text>>": &Tuple{Elems: []Type{Int, Text}},
	"frozen<ut>":               userTypeUT,
	"vector<float, 2>":         &Vector{Elem: Float, Dim: 2},
	"vector<int, 2>":           &Vector{Elem: Int, Dim: 2},
	"vector<text, 2>":          &Vector{Elem: Text, Dim: 2},
	"vector<date, 2>":          &Vector{Elem: Date, Dim: 2},

	"frozen<tuple<frozen<ut>>>":      &Tuple{Elems: []Type{userTypeUT}},
	"vector<vector<int, 2>, 2>":      &Vector{Elem: &Vector{Elem: Int, Dim: 2}, Dim: 2},
	"frozen<list<frozen<set<int>>>>": &List{Elem: &Set{Elem: Int, Frozen: true}, Frozen: true},
	"frozen<list<frozen<tuple<int, text>>>>": &List{
		Elem: &Tuple{Elems: []Type{Int, Text}}, Frozen: true,
	},
}

// The types of JSON values beside them.
func init() {
	for name, t := range map[string]Type{
		"frozen<list<text>>":                         &List{Elem: Text, Frozen: true},
		"frozen<list<blob>>":                         &List{Elem: Blob, Frozen: true},
		"frozen<list<duration>>":                     &List{Elem: Duration, Frozen: true},
		"frozen<map<text, int>>":                     &Map{Key: Text, Value: Int, Frozen: true},
		"frozen<map<int, boolean>>":                  &Map{Key: Int, Value: Boolean, Frozen: true},
		"frozen<map<boolean, boolean>>":              &Map{Key: Boolean, Value: Boolean, Frozen: true},
		"frozen<map<float, text>>":                   &Map{Key: Float, Value: Text, Frozen: true},
		"frozen<map<double, float>>":                 &Map{Key: Double, Value: Float, Frozen: true},
		"frozen<map<decimal, int>>":                  &Map{Key: Decimal, Value: Int, Frozen: true},
		"frozen<map<timestamp, uuid>>":               &Map{Key: Timestamp, Value: UUID, Frozen: true},
		"frozen<map<blob, inet>>":                    &Map{Key: Blob, Value: Inet, Frozen: true},
		"frozen<tuple<tinyint>>":                     &Tuple{Elems: []Type{TinyInt}},
		"frozen<up>":                                 userTypeUp,
		"vector<varint, 1>":                          &Vector{Elem: VarInt, Dim: 1},
		"vector<uuid, 1>":                            &Vector{Elem: UUID, Dim: 1},
		"vector<frozen<tuple<int>>, 1>":              &Vector{Elem: &Tuple{Elems: []Type{Int}}, Dim: 1},
		"vector<frozen<list<int>>, 2>":               &Vector{Elem: &List{Elem: Int, Frozen: true}, Dim: 2},
		"frozen<map<frozen<tuple<text, int>>, int>>": &Map{Key: &Tuple{Elems: []Type{Text, Int}}, Value: Int, Frozen: true},
		"frozen<map<frozen<list<int>>, frozen<set<text>>>>": &Map{
			Key: &List{Elem: Int, Frozen: true}, Value: &Set{Elem: Text, Frozen: true}, Frozen: true,
		},
		"frozen<map<frozen<map<text, int>>, frozen<tuple<int, text>>>>": &Map{
			Key: &Map{Key: Text, Value: Int, Frozen: true}, Value: &Tuple{Elems: []Type{Int, Text}}, Frozen: true,
		},
		"frozen<tuple<int, frozen<list<frozen<tuple<decimal, timestamp>>>>>>": &Tuple{Elems: []Type{
			Int, &List{Elem: &Tuple{Elems: []Type{Decimal, Timestamp}}, Frozen: true},
		}},
		"frozen<list<frozen<list<frozen<map<text, int>>>>>>": &List{Frozen: true, Elem: &List{
			Frozen: true, Elem: &Map{Key: Text, Value: Int, Frozen: true},
		}},
	} {
		testTypes[name] = t
	}
}

// userTypeUp has fields whose names are not all plain.
var userTypeUp = &UserType{Keyspace: "ks", Name: "up", Frozen: true, Fields: []Field{
	{Name: "Up", Type: Int}, {Name: `q"uo`, Type: userTypeUT}, {Name: "plain", Type: &List{Elem: Float, Frozen: true}},
}}

var userTypeUT = &UserType{
	Keyspace: "ks", Name: "ut", Frozen: true, Fields: []Field{{Name: "a", Type: Int}, {Name: "b", Type: Text}},
}

func testType(t *testing.T, name string) Type {
	t.Helper()
	typ, ok := Native(name)
	if !ok {
		if typ = testTypes[name]; typ == nil {
			t.Fatalf("no type %s", name)
		}
	}
	if typ.String() != name {
		t.Fatalf("%s calls itself %s", name, typ)
	}
	return typ
}

func literalKind(t *testing.T, name string) LiteralKind {
	t.Helper()
	for i, n := range literalKindNames {
		if n == name {
			return LiteralKind(i)
		}
	}
	t.Fatalf("no kind of literal %s", name)
	return 0
}

func TestRecordedLiterals(t *testing.T) {
	for _, row := range readTable(t, "literals.txt") {
		typ := testType(t, row[0])
		got, err := typ.ParseLiteral(literalKind(t, row[1]), row[2])
		if message, failed := strings.CutPrefix(verdict(row), "error "); failed {
			if err == nil || err.Error() != message {
				t.Errorf("%s %q: got %x, %v; want %s", row[0], row[2], got, err, message)
			}
			continue
		}
		if err != nil || got == nil || !bytes.Equal(got, unhex(t, row[3])) {
			t.Errorf("%s %q: got %x, %v; want %s", row[0], row[2], got, err, row[3])
			continue
		}
		if err := typ.Validate(got); err != nil {
			t.Errorf("%s %q: %v", row[0], row[2], err)
		}
	}
}

func sign(n int) int {
	switch {
	case n < 0:
		return -1
	case n > 0:
		return 1
	}
	return 0
}

func TestRecordedUTF8(t *testing.T) {
	want := true
	for _, row := range readTable(t, "utf8.txt") {
		if row[0] == "-" {
			want = false
			continue
		}
		if got := Text.Validate(unhex(t, row[0])) == nil; got != want {
			t.Errorf("%s: got %v, want %v", row[0], got, want)
		}
	}
}

func TestRecordedValidation(t *testing.T) {
	for _, row := range readTable(t, "validate.txt") {
		typ := testType(t, row[0])
		got := "ok"
		if err := ValidateBound(typ, unhex(t, row[1])); err != nil {
			got = "error " + err.Error()
		}
		if want := verdict(row); got != want {
			t.Errorf("%s %s: got %s, want %s", row[0], row[1], got, want)
		}
	}
}
