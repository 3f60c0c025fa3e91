package exec_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/cqld/cqld/planner/exec"
	"github.com/cqld/cqld/planner/guardrail"
)

// Each partition of an IN and each page of an aggregate is compared with the thresholds by itself. A warning has the
// numbers of all of them.
func TestTombstoneThresholds(t *testing.T) {
	s := newSession(t)
	settings := *guardrail.Default()
	settings.TombstoneWarn, settings.TombstoneFail = 5, 8
	s.executor = exec.New(s.store, nil, &settings, zerolog.Nop())
	s.must(simple)
	s.must("USE ks")
	s.must("CREATE TABLE t (k int, c int, PRIMARY KEY (k, c))")
	for k := range 3 {
		for c := range 12 {
			s.must(fmt.Sprintf("INSERT INTO t (k, c) VALUES (%d, %d)", k, c))
			if c%3 > 0 && (k < 2 || c < 11) { // eight in partitions 0 and 1, seven in partition 2
				s.must(fmt.Sprintf("DELETE FROM t WHERE k = %d AND c = %d", k, c))
			}
		}
	}
	s.must("DELETE FROM t WHERE k = 1 AND c = 0") // which is one too many
	for _, c := range []struct {
		query string
		page  int
		want  string
	}{
		{"SELECT c FROM t WHERE k = 0", 0, "4 live rows and 8"},
		{"SELECT c FROM t WHERE k = 0 LIMIT 1", 0, ""},
		{"SELECT c FROM t WHERE k = 1", 0, "TOMBSTONES"},
		{"SELECT c FROM t WHERE k IN (0, 2)", 0, "9 live rows and 15"},
		{"SELECT c FROM t WHERE k IN (0, 1)", 0, "TOMBSTONES"},
		{"SELECT count(*) FROM t", 0, "TOMBSTONES"},
		{"SELECT count(*) FROM t", 2, ""},
		{"SELECT k, count(*) FROM t GROUP BY k", 2, ""},
		{"SELECT c FROM t WHERE k IN (0, 1) PER PARTITION LIMIT 1", 0, ""},
	} {
		r, err := s.run(c.query, exec.Options{PageSize: c.page})
		text := warnings(r) + fmt.Sprint(err)
		if tombstones := strings.Contains(text, "tombstone"); tombstones != (c.want != "") || !strings.Contains(text, c.want) {
			t.Errorf("%s, %d a page: %s; want %q", c.query, c.page, text, c.want)
		}
	}
}
