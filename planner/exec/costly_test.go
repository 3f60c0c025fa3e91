package exec_test

import (
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner/exec"
	"github.com/cqld/cqld/store/pace"
)

// TestLongNumbers computes with numbers of 100,000 digits: what would take long is refused or ends with the time of the
// read, and planning does not compute at all.
func TestLongNumbers(t *testing.T) {
	s := withTable(t, "k int PRIMARY KEY, v varint, d decimal, t text")
	long := new(big.Int).Exp(big.NewInt(10), big.NewInt(99_999), nil)
	s.bound("INSERT INTO t (k, v, d) VALUES (1, ?, ?)", types.Value{Bytes: types.EncodeVarInt(long)},
		types.Value{Bytes: types.EncodeDecimal(long.Add(long, big.NewInt(1)), 70_000)})
	product := "v" + strings.Repeat(" * v", 99)
	bytes := allocated(func() {
		want := "error 1400: the operation 'varint * varint' failed: numbers of more than 100000 digits are not computed by cqld\n"
		if got := s.bound("SELECT " + product + " FROM t WHERE k = 1"); got != want {
			t.Error(got)
		}
	})
	if bytes > 5<<20 {
		t.Errorf("%d bytes were allocated", bytes)
	}
	for _, query := range []string{"SELECT log(d) FROM t WHERE k = 1", "SELECT log10(v) FROM t", "SELECT sum(log(d)) FROM t"} {
		p, err := s.prepare(query)
		if err != nil {
			t.Fatal(err)
		}
		onTurn(t, 1<<20, 20*time.Millisecond, func(turn *pace.Turn) {
			_, err = s.execute(p, exec.Options{Turn: turn})
			if e, ok := cqlerr.As(err); !ok || e.Code != cqlerr.ReadTimeout {
				t.Errorf("%s: %v, want a timeout", query, err)
			}
		})
	}
	onTurn(t, 1<<20, 20*time.Millisecond, func(turn *pace.Turn) {
		p, err := s.prepare("INSERT INTO t (k, d) VALUES (2, log((decimal)?))")
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.execute(p, exec.Options{Turn: turn}, types.Value{Bytes: types.EncodeDecimal(long, 40_000)})
		if e, ok := cqlerr.As(err); !ok || e.Code != cqlerr.WriteTimeout {
			t.Errorf("a write: %v, want a timeout", err)
		}
	})

	// What is planned is not computed if it may take long.
	bytes = allocated(func() {
		for range 20 {
			if _, err := s.prepare("SELECT exp((varint)99999), log((varint)" + strings.Repeat("3", 300) + ") FROM t"); err != nil {
				t.Fatal(err)
			}
		}
	})
	if bytes > 10<<20 {
		t.Errorf("planning allocates %d bytes", bytes)
	}
	if got := s.bound("SELECT 2 * (varint)3, 'a' + 'b', (decimal)1 / 3 FROM t WHERE k = 1"); !strings.HasPrefix(got, "6 | 'ab' | 0.3333333333") {
		t.Error(got)
	}
}
