package types

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// recordedType is a file of testdata/values: a type and values of it in Cassandra's order.
type recordedType struct {
	Type
	file   string
	desc   bool // a ReversedType, which is the type that it reverses here
	values []recordedValue
}

// recordedValue is a line of such a file.
type recordedValue struct {
	order   string // <: greater than the value above it, =: equal, ?: Cassandra fails to compare it
	rank    int    // is the same for equal values
	written string // a literal, or 0x and the bytes that were bound
	bytes   []byte // that were stored
	literal string // as Cassandra shows it in a trace
	text    string // as CAST prints it, or - if it does not
	json    string
}

// fewestValues is how many there are at least of a type. EmptyType has but one.
const fewestValues = 40

func recordedTypes(t testing.TB) []recordedType {
	t.Helper()
	paths, err := filepath.Glob("testdata/values/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no values: %v", err)
	}
	var all []recordedType
	for _, path := range paths {
		all = append(all, readValues(t, path))
	}
	return all
}

func readValues(t testing.TB, path string) recordedType {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r := recordedType{file: filepath.Base(path)}
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
		if class, ok := strings.CutPrefix(line, "# class: "); ok {
			if r.Type, err = FromClassName(class); err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			r.desc = strings.HasPrefix(class, marshalPackage+"ReversedType(")
		}
		if line[0] == '#' {
			continue
		}
		f := strings.Split(line, "\t")
		v := recordedValue{
			order: f[0], rank: len(r.values), written: unescape(t, f[1]), bytes: unhex(t, f[2]),
			literal: unescape(t, f[3]), text: unescape(t, f[4]), json: unescape(t, f[5]),
		}
		if v.order == "=" {
			v.rank = r.values[len(r.values)-1].rank
		} else if r.desc {
			v.rank = -v.rank
		}
		r.values = append(r.values, v)
	}
	if len(r.values) < fewestValues && r.Type != Empty {
		t.Errorf("%s has %d values", path, len(r.values))
	}
	return r
}

// unescape reads a text as the files have it.
func unescape(t testing.TB, s string) string {
	t.Helper()
	text, err := strconv.Unquote(`"` + strings.ReplaceAll(s, `"`, `\"`) + `"`)
	if err != nil {
		t.Fatalf("%s: %v", s, err)
	}
	return text
}

// forValues runs a test for each recorded type.
func forValues(t *testing.T, test func(t *testing.T, typ recordedType)) {
	for _, typ := range recordedTypes(t) {
		t.Run(typ.file, func(t *testing.T) { test(t, typ) })
	}
}

// Literals, and bytes that are bound, become the bytes that Cassandra stores.
func TestValuesAreRead(t *testing.T) {
	forValues(t, func(t *testing.T, typ recordedType) {
		for _, v := range typ.values {
			var got []byte
			var err error
			if digits, ok := strings.CutPrefix(v.written, "0x"); ok {
				b := append([]byte{}, unhex(t, digits)...)
				got, err = NormalizeBound(typ.Type, b), ValidateBound(typ.Type, b)
			} else if kind, text, ok := cutLiteral(v.written); ok {
				got, err = typ.ParseLiteral(kind, text)
			} else {
				continue // a collection's, which is made of terms
			}
			if err != nil || !bytes.Equal(got, v.bytes) {
				t.Errorf("%s: got %x, %v, want %x", v.written, got, err, v.bytes)
			}
		}
	})
}

// literalShapes are the kinds of literals as the lexer tells them apart.
var literalShapes = map[LiteralKind]*regexp.Regexp{
	IntegerLiteral:  regexp.MustCompile(`^-?\d+$`),
	FloatLiteral:    regexp.MustCompile(`^(-?\d+(\.\d*)?([eE][+-]?\d+)?|NaN|-?Infinity)$`),
	BooleanLiteral:  regexp.MustCompile(`^(?i:true|false)$`),
	UUIDLiteral:     regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`),
	DurationLiteral: regexp.MustCompile(`^-?(P[-0-9A-Z:]+|(?i:(\d+(y|mo|w|d|h|m|s|ms|us|µs|ns))+))$`),
}

// cutLiteral is the kind and text of a literal, if it is one and no collection's.
func cutLiteral(written string) (kind LiteralKind, text string, ok bool) {
	switch {
	case written[0] == '\'':
		return StringLiteral, strings.ReplaceAll(written[1:len(written)-1], "''", "'"), true
	case written[0] == '$':
		return StringLiteral, written[2 : len(written)-2], true
	}
	for kind := StringLiteral; kind <= DurationLiteral; kind++ {
		if shape := literalShapes[kind]; shape != nil && shape.MatchString(written) {
			return kind, written, true
		}
	}
	return 0, "", false
}

// What is stored is valid, and stays the same when it is normalized again.
func TestValuesAreValid(t *testing.T) {
	forValues(t, func(t *testing.T, typ recordedType) {
		for _, v := range typ.values {
			if err := ValidateBound(typ.Type, v.bytes); err != nil {
				t.Errorf("%x: %v", v.bytes, err)
			}
			if got := NormalizeBound(typ.Type, v.bytes); !bytes.Equal(got, v.bytes) {
				t.Errorf("%x becomes %x", v.bytes, got)
			}
		}
	})
}

// Values print as they do in Cassandra's traces.
func TestValuesPrint(t *testing.T) {
	forValues(t, func(t *testing.T, typ recordedType) {
		for _, v := range typ.values {
			if strings.HasPrefix(v.literal, "server error ") {
				continue
			}
			if got := typ.Format(v.bytes); got != v.literal {
				t.Errorf("%x prints %q, want %q", v.bytes, got, v.literal)
			}
		}
	})
}

// Values print as to_json prints them. Where Cassandra fails no text is wrong.
func TestValuesPrintJSON(t *testing.T) {
	forValues(t, func(t *testing.T, typ recordedType) {
		for _, v := range typ.values {
			if strings.HasPrefix(v.json, "server error ") {
				continue
			}
			got := "null" // of a value that means nothing
			if len(v.bytes) > 0 || !EmptyIsNull(typ.Type) {
				got = string(typ.AppendJSON(nil, v.bytes))
			}
			if got != v.json {
				t.Errorf("%x prints %s, want %s", v.bytes, got, v.json)
			}
		}
	})
}

// Values compare as Cassandra orders them, and so do their keys, from which they come back.
func TestValuesOrder(t *testing.T) {
	forValues(t, func(t *testing.T, typ recordedType) {
		if _, custom := typ.Type.(*Custom); custom {
			checkDifference(t, typ)
			return
		}
		for _, a := range typ.values {
			if a.order == "?" {
				continue
			}
			for _, b := range typ.values {
				if b.order != "?" {
					checkOrder(t, typ.Type, a.bytes, b.bytes, sign(a.rank-b.rank))
				}
			}
			checkKey(t, typ.Type, a.bytes)
		}
	})
}

// checkDifference wants composites to be ordered otherwise than Cassandra's: they sort as bytes (docs/differences.md).
func checkDifference(t *testing.T, typ recordedType) {
	t.Helper()
	ordered := slices.IsSortedFunc(typ.values, func(a, b recordedValue) int { return typ.Compare(a.bytes, b.bytes) })
	if ordered {
		t.Errorf("%s has Cassandra's order, and docs/differences.md says that it has not", typ)
	}
	for _, v := range typ.values {
		checkKey(t, typ.Type, v.bytes)
	}
}

// checkOrder compares two values and their keys.
func checkOrder(t *testing.T, typ Type, a, b []byte, want int) {
	t.Helper()
	if got := sign(typ.Compare(a, b)); got != want {
		t.Errorf("%s: compare %x, %x: got %d, want %d", typ, a, b, got, want)
	}
	for desc, want := range map[bool]int{false: want, true: -want} {
		x, y := typ.AppendKey(nil, a, desc), typ.AppendKey(nil, b, desc)
		if got := bytes.Compare(x, y); got != want {
			t.Errorf("%s: keys of %x, %x, desc %v: got %d, want %d", typ, a, b, desc, got, want)
		}
		if want != 0 && (bytes.HasPrefix(x, y) || bytes.HasPrefix(y, x)) {
			t.Errorf("%s: the key of one of %x, %x begins that of the other", typ, a, b)
		}
	}
}

// checkKey has a value's key decoded, with something before and behind it.
func checkKey(t *testing.T, typ Type, b []byte) {
	t.Helper()
	for _, desc := range []bool{false, true} {
		key := append(typ.AppendKey([]byte("before"), b, desc), "after"...)
		got, rest, err := typ.DecodeKey([]byte("dst"), key[len("before"):], desc)
		if err != nil || string(rest) != "after" || !bytes.HasPrefix(got, []byte("dst")) {
			t.Fatalf("%s %x: got %x, rest %q, %v", typ, b, got, rest, err)
		}
		got = got[len("dst"):]
		if typ.Compare(got, b) != 0 || (ValidateBound(typ, got) == nil) != (ValidateBound(typ, b) == nil) {
			t.Fatalf("%s %x: decoded as %x", typ, b, got)
		}
		if !typ.LossyKey() && !bytes.Equal(got, b) {
			t.Fatalf("%s %x: decoded as %x, but keys are not lossy", typ, b, got)
		}
		if got, _, err := typ.DecodeKey(nil, key[len("before"):], desc); err != nil || got == nil {
			t.Fatalf("%s %x: decoded as null, %v", typ, b, err)
		}
	}
}
