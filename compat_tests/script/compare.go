package script

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cqld/cqld/protocol/client"
)

// Difference is a block with another answer than the script expects.
type Difference struct {
	Block *Block
	Want  []string
	Got   []string
}

// Compare runs blocks one after the other and returns the blocks with other answers than expected.
func (r *Runner) Compare(ctx context.Context, blocks []*Block) []Difference {
	var all []Difference
	for _, b := range blocks {
		want := b.wanted(r.mode.Binding)
		if got := r.Run(ctx, b); !slices.Equal(b.forgive(got, want), want) {
			all = append(all, Difference{b, want, got})
		}
	}
	return all
}

// String shows the statements and the lines that differ.
func (d Difference) String() string {
	statements := strings.Join(d.Block.Statements, "\n")
	if d.Block.gone(d.Got) {
		return statements + "\nanswers as Cassandra does: the difference is gone"
	}
	return fmt.Sprintf("%s\nwant\n%s\ngot\n%s", statements, otherLines(d.Want, d.Got), otherLines(d.Got, d.Want))
}

// shownLines is how many lines of a difference are shown.
const shownLines = 12

// otherLines are the lines of a that differ from b's line with the same number.
func otherLines(a, b []string) string {
	var lines []string
	for i, l := range a {
		if i < len(b) && b[i] == l {
			continue
		}
		if len(lines) == shownLines {
			lines = append(lines, "  ...")
			break
		}
		lines = append(lines, fmt.Sprintf("  %3d %s", i+1, l))
	}
	return strings.Join(lines, "\n")
}

// Compare runs a script in a new keyspace, which is dropped in the end, and returns the blocks with other answers than
// expected.
func (s *Script) Compare(ctx context.Context, addr, keyspace string, m Mode) ([]Difference, error) {
	r, err := s.open(ctx, addr, keyspace, m)
	if err != nil {
		return nil, err
	}
	differences := r.Compare(ctx, s.Blocks)
	return differences, r.Drop(ctx)
}

// Record makes the answers of a server in one mode the expected ones for the mode's binding, and compares them with the
// answers in another mode. A script with differences depends on chance or on the mode: do not keep it. Record the
// bindings in the order of their constants.
func (s *Script) Record(ctx context.Context, addr, keyspace string, first, second Mode) ([]Difference, error) {
	r, err := s.open(ctx, addr, keyspace, first)
	if err != nil {
		return nil, err
	}
	for _, b := range s.Blocks {
		b.expect(first.Binding, r.Run(ctx, b))
	}
	if err := r.Drop(ctx); err != nil {
		return nil, err
	}
	return s.Compare(ctx, addr, keyspace, second)
}

// CassandraRelease returns the release of the Cassandra at an address, if scripts may be recorded from it. Any other
// server is an error, even if it claims to be Cassandra: only a real one fills the table of its stages' threads.
func CassandraRelease(ctx context.Context, addr string) (string, error) {
	conn, err := client.Dial(ctx, addr, superuser(0))
	if err != nil {
		return "", err
	}
	defer conn.Close()
	local, err := conn.Query(ctx, "SELECT release_version FROM system.local", nil, nil)
	if err != nil {
		return "", err
	}
	if len(local.Rows) != 1 || !strings.HasPrefix(string(local.Rows[0][0]), "5.0.") {
		return "", fmt.Errorf("%s is not Cassandra 5.0", addr)
	}
	stages, err := conn.Query(ctx,
		"SELECT name FROM system_views.thread_pools WHERE name = 'MutationStage'", nil, nil)
	if err != nil || len(stages.Rows) != 1 {
		return "", errors.Join(fmt.Errorf("%s only says that it is Cassandra", addr), err)
	}
	return string(local.Rows[0][0]), nil
}
