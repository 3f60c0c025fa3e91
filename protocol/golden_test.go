package protocol

import (
	"bytes"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the messages in testdata")

// TestGolden compares the envelopes in testdata, which Cassandra sent or understood, with the messages below
// them, and encodes them again.
func TestGolden(t *testing.T) {
	files, _ := filepath.Glob("testdata/*.txt")
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		pairs := 0
		for _, block := range strings.Split(strings.TrimSpace(string(text)), "\n\n") {
			if !strings.HasPrefix(block, "#") {
				first, _, _ := strings.Cut(block, "\n")
				b, err := hex.DecodeString(first)
				if err != nil {
					t.Fatalf("%s: %q: %v", name, first, err)
				}
				got := first + "\n" + golden(t, b)
				if got != block && !*update {
					t.Errorf("%s\n have %s\n want %s", name, got, block)
				}
				block = got
				pairs++
			}
			out.WriteString(block + "\n\n")
		}
		if pairs == 0 {
			t.Errorf("%s is empty", name)
		}
		if *update {
			if err := os.WriteFile(name, []byte(strings.TrimRight(out.String(), "\n")+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(files) == 0 {
		t.Error("there is no testdata")
	}
}

// golden decodes an envelope, encodes it again, and returns how it prints.
func golden(t *testing.T, b []byte) string {
	h := ParseHeader(b)
	var again []byte
	var text string
	if h.Response {
		m, prefix, err := DecodeResponse(h, b[HeaderSize:])
		if err != nil {
			t.Fatalf("%x: %v", b, err)
		}
		again = AppendResponse(nil, h.Version, h.Stream, prefix, m)
		text = Trace(h, m)
		if prefix.Traced {
			text += fmt.Sprintf("\ntracing id %x", prefix.TracingID)
		}
		for _, w := range prefix.Warnings {
			text += fmt.Sprintf("\nwarning %q", w)
		}
		text += goldenColumns(m)
	} else {
		var requests Requests
		m, err := requests.Decode(h, b[HeaderSize:])
		if err != nil {
			t.Fatalf("%x: %v", b, err)
		}
		again = AppendRequest(nil, h, requests.Payload, m)
		text = Trace(h, m)
	}
	if !bytes.Equal(again, b) {
		t.Errorf("%s\n have %x\n want %x", text, again, b)
	}
	return text
}

// goldenColumns prints the columns of a result below it.
func goldenColumns(m Message) (text string) {
	print := func(what string, s *ColumnSpecs) {
		for _, c := range s.Columns() {
			text += fmt.Sprintf("\n%s %s.%s.%s %s", what, c.Keyspace, c.Table, c.Name, c.Type)
		}
	}
	switch m := m.(type) {
	case *Rows:
		print("column", m.Metadata.Columns)
	case *Prepared:
		print("marker", m.Bind)
		if m.PKIndexes != nil {
			text += fmt.Sprintf("\npartition key %v", m.PKIndexes)
		}
		print("column", m.Result)
	}
	return text
}
