package exec_test

import (
	"fmt"
	"math/big"
	"testing"
	"time"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner/exec"
	"github.com/cqld/cqld/store/pace"
)

// atSerial are the options of conditional writes.
var atSerial = exec.Options{Consistency: cqlerr.One, SerialConsistency: cqlerr.Serial}

// checkConditional runs statements and compares their answers.
func checkConditional(s *session, steps [][2]string) {
	s.t.Helper()
	for _, step := range steps {
		p, err := s.prepare(step[0])
		if err != nil {
			s.t.Fatal(step[0], err)
		}
		r, err := s.execute(p, atSerial)
		if err != nil {
			s.t.Fatal(step[0], err)
		}
		if got := fmt.Sprint(decode(r.(*exec.Rows))); got != step[1] {
			s.t.Errorf("%s\ngot:  %s\nwant: %s", step[0], got, step[1])
		}
	}
}

// TestConditionsOfEqualClusterings names rows by numbers that equal the stored ones but have other bytes.
func TestConditionsOfEqualClusterings(t *testing.T) {
	s := withTable(t, "k int, c decimal, v int, PRIMARY KEY (k, c)")
	s.must("INSERT INTO t (k, c, v) VALUES (1, 1.0, 1)")
	s.must("INSERT INTO t (k, c, v) VALUES (1, 2.0, 2)")
	checkConditional(s, [][2]string{
		{"UPDATE t SET v += 1 WHERE k = 1 AND c = 1.00 IF EXISTS", "[[true]]"},
		{"SELECT v FROM t WHERE k = 1 AND c = 1.0", "[[2]]"},
		{
			"BEGIN BATCH UPDATE t SET v = 5 WHERE k = 1 AND c = 1.00 IF v = 2; " +
				"UPDATE t SET v = 6 WHERE k = 1 AND c = 2.00 IF EXISTS; APPLY BATCH", "[[true]]",
		},
		{"SELECT v FROM t", "[[5] [6]]"},
	})
}

// TestConditionsOfShortClusterings names rows of a table WITH COMPACT STORAGE without their last clustering column,
// where there are rows with that column too.
func TestConditionsOfShortClusterings(t *testing.T) {
	s := withTable(t, "k int, c int, v int, PRIMARY KEY (k, c)")
	s.must("CREATE TABLE short (k int, a int, b int, v int, PRIMARY KEY (k, a, b)) WITH COMPACT STORAGE")
	s.must("INSERT INTO short (k, a, v) VALUES (1, 1, 10)")
	s.must("INSERT INTO short (k, a, b, v) VALUES (1, 1, 1, 11)")
	s.must("INSERT INTO short (k, a, v) VALUES (1, 2, 20)")
	s.must("INSERT INTO short (k, a, b, v) VALUES (1, 3, 1, 31)")
	checkConditional(s, [][2]string{
		{"INSERT INTO short (k, a, v) VALUES (1, 1, 0) IF NOT EXISTS", "[[false 1 1 null 10]]"},
		{"INSERT INTO short (k, a, v) VALUES (1, 3, 30) IF NOT EXISTS", "[[true]]"},
		{
			"BEGIN BATCH UPDATE short SET v = 12 WHERE k = 1 AND a = 1 IF v = 10; " +
				"UPDATE short SET v = 22 WHERE k = 1 AND a = 2 IF v = 20; APPLY BATCH", "[[true]]",
		},
		{"SELECT a, b, v FROM short", "[[1 null 12] [1 1 11] [2 null 22] [3 null 30] [3 1 31]]"},
	})
}

// TestConditionalTimeout evaluates a value that takes longer than the write may.
func TestConditionalTimeout(t *testing.T) {
	s := withTable(t, "k int PRIMARY KEY, d decimal")
	p, err := s.prepare("UPDATE t SET d = 1 WHERE k = 1 IF d = log((decimal)?)")
	if err != nil {
		t.Fatal(err)
	}
	long := new(big.Int).Exp(big.NewInt(10), big.NewInt(99_999), nil)
	onTurn(t, 1<<20, 20*time.Millisecond, func(turn *pace.Turn) {
		o := atSerial
		o.Turn = turn
		_, err = s.execute(p, o, types.Value{Bytes: types.EncodeDecimal(long, 40_000)})
	})
	if e, ok := cqlerr.As(err); !ok || e.Code != cqlerr.WriteTimeout {
		t.Errorf("%v, want a timeout", err)
	}
}
