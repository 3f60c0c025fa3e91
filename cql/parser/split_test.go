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
		"nothing":      {" ;; \n-- only a comment\n;", nil},
		"two":          {"SELECT a FROM t; USE k", []string{"SELECT a FROM t", "USE k"}},
		"strings":      {"SELECT ';' FROM \"a;b\"; SELECT $$;$$ FROM t;", []string{`SELECT ';' FROM "a;b"`, "SELECT $$;$$ FROM t"}},
		"comments":     {"USE /* ; */ a; // ;\nUSE b -- ;", []string{"USE /* ; */ a", "// ;\nUSE b -- ;"}},
		"batch":        {"BEGIN BATCH DELETE FROM t WHERE a = 1; APPLY BATCH; USE k;", []string{"BEGIN BATCH DELETE FROM t WHERE a = 1; APPLY BATCH", "USE k"}},
		"two batches":  {"begin unlogged batch apply batch; BEGIN BATCH ; APPLY BATCH", []string{"begin unlogged batch apply batch", "BEGIN BATCH ; APPLY BATCH"}},
		"no statement": {"CREATE FUNCTION f() AS $$ a; b $$; nonsense '", []string{"CREATE FUNCTION f() AS $$ a; b $$", "nonsense '"}},
		"open batch":   {"BEGIN BATCH ; USE k", []string{"BEGIN BATCH ; USE k"}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Split(c.script); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
