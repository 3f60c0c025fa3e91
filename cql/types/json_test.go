package types

import (
	"bytes"
	"errors"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// Texts are read, and refused, as Cassandra does.
func TestRecordedJSONTexts(t *testing.T) {
	for _, row := range readTable(t, "json_texts.txt") {
		text, err := strconv.Unquote(row[0])
		if err != nil {
			t.Fatal(err)
		}
		want, err := strconv.Unquote(verdict(row))
		if err != nil {
			t.Fatal(err)
		}
		got := "null"
		switch v, err := DecodeJSON(text, nil); {
		case err != nil:
			got = "error " + err.Error()
		case v != nil:
			got = v.class() + " " + v.String()
		}
		if got != want {
			t.Errorf("%.80s:\ngot  %.600s\nwant %.600s", row[0], got, want)
		}
	}
}

// Values are read from JSON, and printed again, as Cassandra does.
func TestRecordedJSONValues(t *testing.T) {
	for _, row := range readTable(t, "json_values.txt") {
		typ := testType(t, row[0])
		v, err := DecodeJSON(row[1], nil)
		if err != nil {
			t.Fatal(err)
		}
		if v == nil {
			continue
		}
		b, err := typ.ParseJSON(v)
		if err != nil {
			kind := "error "
			if wrong := new(ValueError); errors.As(err, &wrong) && wrong.Request {
				kind = "refused "
			}
			if got := kind + strings.ReplaceAll(err.Error(), "\n", `\n`); got != verdict(row) {
				t.Errorf("%s %s: got %s, want %s", row[0], row[1], got, verdict(row))
			}
			continue
		}
		if len(row) < 4 || b == nil || !bytes.Equal(b, unhex(t, row[2])) {
			t.Errorf("%s %s: got %x, want %s", row[0], row[1], b, row[2])
			continue
		}
		if got := string(typ.AppendJSON(nil, b)); got != verdict(row) {
			t.Errorf("%s %s: printed as %s, want %s", row[0], row[1], got, verdict(row))
		}
	}
}

// Values that JSON cannot give are printed as Cassandra prints them.
func TestRecordedJSONPrinted(t *testing.T) {
	for _, row := range readTable(t, "json_printed.txt") {
		if got := string(testType(t, row[0]).AppendJSON(nil, unhex(t, row[1]))); got != verdict(row) {
			t.Errorf("%s %s: got %s, want %s", row[0], row[1], got, verdict(row))
		}
	}
}

// Recorded values print as to_json printed them, if Cassandra did not fail.
func TestRecordedValuesAsJSON(t *testing.T) {
	for _, r := range recordedTypes(t) {
		for _, v := range r.values {
			if strings.HasPrefix(v.json, "server error ") {
				continue
			}
			got := "null"
			if len(v.bytes) > 0 || !EmptyIsNull(r.Type) {
				got = string(r.AppendJSON(nil, v.bytes))
			}
			if got != v.json {
				t.Errorf("%s %x: got %s, want %s", r.file, v.bytes, got, v.json)
			}
		}
	}
}

// Any text can be given to any type: what is read from it, and can be written, prints as JSON that is read as the same.
func FuzzParseJSON(f *testing.F) {
	for _, r := range recordedTypes(f) {
		for _, text := range []string{
			`[1, "a", null]`, `{"a": {"b": 1.5e3}, "A": "x"}`, `"[\"1\"]"`, `"1d"`, `-0.0`, `[[`, `"\ud83d\ude00"`,
		} {
			f.Add(r.ClassName(), text)
		}
	}
	f.Fuzz(func(t *testing.T, class, text string) {
		_, _ = DecodeJSONObject(text, nil)
		typ, ok := fuzzType(class)
		if !ok {
			return
		}
		v, err := DecodeJSON(text, nil)
		if err != nil || v == nil {
			return
		}
		b, err := typ.ParseJSON(v)
		if err != nil || !utf8.ValidString(text) || typ.Validate(b) != nil {
			return
		}
		printed := string(typ.AppendJSON(nil, b))
		v, err = DecodeJSON(printed, nil)
		if err != nil {
			t.Fatalf("%s: %q became %s: %v", typ, text, printed, err)
		}
		if v == nil {
			return
		}
		again, err := typ.ParseJSON(v)
		if err == nil && string(typ.AppendJSON(nil, again)) != printed {
			t.Fatalf("%s: %q became %s, then %s", typ, text, printed, typ.AppendJSON(nil, again))
		}
	})
}
