package prompt

import (
	"strings"
	"testing"
	"time"

	"github.com/nyaosorg/go-readline-ny"
	"github.com/nyaosorg/go-readline-ny/keys"
)

// painted writes the colours of a line as letters: k for keywords, s for strings, n for numbers, q for quoted names, c
// for comments.
func painted(h *highlighter, line string) string {
	letters := map[string]byte{keywordColor: 'k', textColor: 's', numberColor: 'n', nameColor: 'q', commentColor: 'c'}
	all := []byte(strings.Repeat(".", len(line)))
	for _, rule := range h.colors() {
		for _, span := range rule.Pattern.FindAllStringIndex(line, -1) {
			for i := span[0]; i < span[1]; i++ {
				all[i] = letters[rule.Sequence]
			}
		}
	}
	return string(all)
}

func TestHighlight(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{``, ``},
		{`select a, "B" FROM k.t;`, `kkkkkk....qqq.kkkk.....`},
		{`SELECTED typed`, `..............`},
		{`SELECT key.type FROM system.role`, `kkkkkk..........kkkk............`},
		{`WHERE a = 'it''s' AND b=-1.5e3`, `kkkkk.....sssssss.kkk...nnnn..`},
		{`a = 'open AND`, `....sssssssss`},
		{`"open AND`, `qqqqqqqqq`},
		{`a $$ ' $$ b $$`, `..sssssss...ss`},
		{`a -- SELECT 'b`, `..cccccccccccc`},
		{`a // b`, `..cccc`},
		{`/* a */ int /* b`, `ccccccc.kkk.cccc`},
		{`0xCAFE 123e4567-e89b-12d3-a456-426614174000 12`, `nnnnnn.nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn.nn`},
		{`CONSISTENCY one; paging consistency paging`, `kkkkkkkkkkk......kkkkkk...................`},
		{`\timing`, `.kkkkkk`},
		{`\times`, `......`},
		{`京 IN ('京')`, `....kk..sssss.`},
		{"\xff\x00 IN \x1b", `...kk..`},
	} {
		h := &highlighter{}
		if got := painted(h, c.line); got != c.want {
			t.Errorf("%q is painted\n%s, want\n%s", c.line, got, c.want)
		}
	}
}

// TestHighlightContinued colours lines of a statement that began earlier.
func TestHighlightContinued(t *testing.T) {
	for _, c := range []struct {
		lines []string
		want  string // of the last line
	}{
		{[]string{"SELECT 'a", "it''s", "AND' AND"}, `ssss.kkk`},
		{[]string{`SELECT "a`, `b" b`}, `qq..`},
		{[]string{"SELECT /* 'a", "b", "c */ 'd'"}, `cccc.sss`},
		{[]string{"SELECT $$", "' AND", "$$ AND $$"}, `ss.kkk.ss`},
		{[]string{"SELECT -- 'a", "AND"}, `kkk`},
		{[]string{"SELECT", "CONSISTENCY"}, `...........`},
	} {
		h, pending := &highlighter{}, ""
		for _, line := range c.lines[:len(c.lines)-1] {
			pending += line + "\n"
			h.begin(line+"\n", pending)
		}
		if got := painted(h, c.lines[len(c.lines)-1]); got != c.want {
			t.Errorf("the last line of %q is painted %s, want %s", c.lines, got, c.want)
		}
		h.begin("", "")
		if got := painted(h, "AND 'a'"); got != "kkk.sss" {
			t.Errorf("a statement after %q is painted %s", c.lines, got)
		}
	}
}

// TestHighlightLongLine colours a long line quickly: at each key all of it is split again.
func TestHighlightLongLine(t *testing.T) {
	line := strings.Repeat("SELECT a, 'b' FROM c; ", 500)
	const times = 20
	began := time.Now()
	for range times {
		painted(&highlighter{}, line)
	}
	if taken := time.Since(began) / times; taken > 100*time.Millisecond {
		t.Errorf("%d bytes take %v", len(line), taken)
	}
}

// TestKeys reads keys from typed bytes.
func TestKeys(t *testing.T) {
	for typed, want := range map[string][]string{
		"SELECT 'é京'\r\nx":        {"SELECT 'é京'", "\r", "\r", "x"},
		"\x1b[A\x1bOB\x1b[1;5C":   {"\x1b[A", "\x1b[B", "\x1b[1;5C"},
		"\x1b[7~\x1b[4~\x1b[3~":   {"\x1b[H", "\x1b[F", "\x1b[3~"},
		"\x1b\x1b[A\x1bz\x1b\x03": {"\x1b[A", "z", "\x03"},
		"a\tb\x7f\x1bb\x1b\x7f!":  {"a", "\t", "b", "\x7f", "\x1bb", "\x1b\b", "!"},
	} {
		terminal := &terminal{typed: []byte(typed), bound: func(key string) bool {
			_, ok := readline.GlobalKeyMap.Lookup(keys.Code(key))
			return ok || key == "\t"
		}}
		for _, key := range want {
			if got, err := terminal.GetKey(); got != key || err != nil {
				t.Errorf("%q has the key %q, error %v, want %q", typed, got, err, key)
			}
		}
		if len(terminal.typed) > 0 {
			t.Errorf("%q is left of %q", terminal.typed, typed)
		}
	}
}

func TestInColumns(t *testing.T) {
	words := []string{"a", "bb", "ccc", "dd", "e"}
	for width, want := range map[int]string{
		80: "a   bb  ccc dd  e\r\n", 12: "a   ccc e\r\nbb  dd\r\n", 3: "a\r\nbb\r\nccc\r\ndd\r\ne\r\n",
	} {
		if got := inColumns(words, width); got != want {
			t.Errorf("with %d columns: %q, want %q", width, got, want)
		}
	}
}
