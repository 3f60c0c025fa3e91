package json

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

// Texts are read, and refused, as Cassandra does: each line has a text and the value or error.
func TestRecordedTexts(t *testing.T) {
	data, err := os.ReadFile("testdata/texts.txt")
	if err != nil {
		t.Fatal(err)
	}
	tested := 0
	for line := range strings.Lines(string(data)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		text, err := strconv.Unquote(fields[0])
		if err != nil {
			t.Fatal(err)
		}
		want, err := strconv.Unquote(strings.TrimPrefix(fields[len(fields)-1], "ours: "))
		if err != nil {
			t.Fatal(err)
		}
		got := "null"
		switch v, err := Decode(text, nil); {
		case err != nil:
			got = "error " + err.Error()
		case v != nil:
			got = v.Class() + " " + v.String()
		}
		if got != want {
			t.Errorf("%.80s:\ngot  %.600s\nwant %.600s", fields[0], got, want)
		}
		tested++
	}
	if tested == 0 {
		t.Error("no texts")
	}
}

// FuzzDecodeObject reads any text without a panic.
func FuzzDecodeObject(f *testing.F) {
	f.Add(`{"a": [1, "b", null, 1.5e3, {"\u00e4": true}]}`)
	f.Fuzz(func(_ *testing.T, text string) { _, _ = DecodeObject(text, nil) })
}
