package parser

import (
	"slices"
	"testing"
)

func TestSplit(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		want   []string
	}{
		"nothing": {" ;; \n-- only a comment\n;", nil},
		"two":     {"SELECT a FROM t; USE k", []string{"SELECT a FROM t", "USE k"}},
		"strings": {
			"SELECT ';' FROM \"a;b\"; SELECT $$;$$ FROM t;",
			[]string{`SELECT ';' FROM "a;b"`, "SELECT $$;$$ FROM t"},
		},
		"comments": {"USE /* ; */ a; // ;\nUSE b -- ;", []string{"USE /* ; */ a", "USE b -- ;"}},
		"batch": {
			"BEGIN BATCH DELETE FROM t WHERE a = 1; APPLY BATCH; USE k;",
			[]string{"BEGIN BATCH DELETE FROM t WHERE a = 1; APPLY BATCH", "USE k"},
		},
		"two batches": {
			"begin unlogged batch apply batch; BEGIN BATCH ; APPLY BATCH",
			[]string{"begin unlogged batch apply batch", "BEGIN BATCH ; APPLY BATCH"},
		},
		"no statement": {
			"CREATE FUNCTION f() AS $$ a; b $$; nonsense '",
			[]string{"CREATE FUNCTION f() AS $$ a; b $$", "nonsense '"},
		},
		"doubled":    {"a 'x;''y;' b; c", []string{"a 'x;''y;' b", "c"}},
		"unicode":    {"SELECT 'Bären; 北京' FROM t; USE k", []string{"SELECT 'Bären; 北京' FROM t", "USE k"}},
		"open batch": {"BEGIN BATCH ; USE k", []string{"BEGIN BATCH ; USE k"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, piece := range Split(c.script) {
				got = append(got, piece.Text)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// Lines are those of the first words, whatever stands before them.
func TestSplitLines(t *testing.T) {
	got := Split("-- a comment\nUSE a;\n\n/* another\n*/ SELECT 'x\ny'\nFROM t; USE b;")
	want := []Piece{{"USE a", 2}, {"SELECT 'x\ny'\nFROM t", 5}, {"USE b", 7}}
	if !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
