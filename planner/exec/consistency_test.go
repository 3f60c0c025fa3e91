package exec_test

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/planner/exec"
)

// TestLevels runs the statements of levels.txt at all levels, on a node that is one replica, as Cassandra's is, and on
// one that stands for all: there, what Cassandra finds too few replicas for is served, unless the keyspace has too few.
func TestLevels(t *testing.T) {
	file, err := os.ReadFile("testdata/levels.txt")
	if err != nil {
		t.Fatal(err)
	}
	strict, lenient := newSession(t), newSession(t)
	strict.executor.StrictReplicas("datacenter1")
	var statement string
	factor, key, answers := 0, 0, 0
	for line := range strings.Lines(string(file)) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "#") {
			continue
		}
		if replication, ok := strings.CutPrefix(line, "= "); ok {
			factor = int(replication[len(replication)-2] - '0')
			for _, s := range []*session{strict, lenient} {
				s.must("DROP KEYSPACE IF EXISTS r")
				s.must("CREATE KEYSPACE r WITH replication = " + replication)
				s.must("USE r")
				s.must("CREATE TABLE t (k int, c int, v int, s int static, PRIMARY KEY (k, c))")
				s.must("CREATE TABLE n (k int PRIMARY KEY, v counter)")
			}
			continue
		}
		if text, ok := strings.CutPrefix(line, "> "); ok {
			statement = text
			continue
		}
		names, want, _ := strings.Cut(line, ": ")
		if strings.HasPrefix(want, "timeout") {
			continue // a write without replicas: Cassandra waits for nobody's answer
		}
		key++
		answers++
		text := strings.ReplaceAll(statement, "{k}", strconv.Itoa(key))
		o := levelsOf(t, names)
		if got := levelAnswer(strict, text, o); got != want {
			t.Errorf("strict, %s at %s: got %s, want %s", text, names, got, want)
		}
		var level string
		var required, alive int
		n, _ := fmt.Sscanf(want, "unavailable %s %d %d", &level, &required, &alive)
		commit := requiredAt(o.Consistency, factor)
		if applied := strings.Contains(statement, "NOT EXISTS"); n == 3 && factor > 0 && required <= factor &&
			(!applied || commit <= factor) {
			want = "ok"
		} else if n == 3 && applied && factor > 1 {
			want = fmt.Sprintf("unavailable %s %d %d: Cannot achieve consistency level %[1]s", o.Consistency, commit, factor)
		} else if n == 3 && factor > 1 {
			want = fmt.Sprintf("unavailable %s %d %d: Cannot achieve consistency level %[1]s", level, required, factor)
		}
		if got := levelAnswer(lenient, text, o); got != want {
			t.Errorf("%s at %s: got %s, want %s", text, names, got, want)
		}
	}
	if answers < 700 {
		t.Errorf("only %d answers are compared", answers)
	}
}

// requiredAt is how many replicas TWO, THREE and ALL ask for; other levels ask for no more than there are.
func requiredAt(level cqlerr.Consistency, factor int) int {
	switch level {
	case cqlerr.Two:
		return 2
	case cqlerr.Three:
		return 3
	}
	return factor
}

// levelsOf reads the levels in front of an answer.
func levelsOf(t *testing.T, names string) (o exec.Options) {
	t.Helper()
	level, serial, _ := strings.Cut(names, " ")
	o.SerialConsistency = cqlerr.Serial
	if serial == "LOCAL_SERIAL" {
		o.SerialConsistency = cqlerr.LocalSerial
	}
	for o.Consistency = cqlerr.Any; o.Consistency.String() != level; o.Consistency++ {
		if !o.Consistency.Known() {
			t.Fatalf("no level %q", level)
		}
	}
	return o
}

// levelAnswer is what a statement answers, as levels.txt has it.
func levelAnswer(s *session, text string, o exec.Options) string {
	p, err := s.prepare(text)
	if err == nil {
		o.Version, o.Keyspace = s.version, s.keyspace
		outcome := make(chan error, 1)
		s.executor.Execute(context.Background(), &exec.Request{Prepared: p, Options: o}, func(_ exec.Result, err error) {
			outcome <- err
		})
		err = <-outcome
	}
	if err == nil {
		return "ok"
	}
	e, ok := cqlerr.As(err)
	if !ok {
		return err.Error()
	}
	if d, ok := e.Detail.(cqlerr.UnavailableDetail); ok {
		return fmt.Sprintf("unavailable %s %d %d: %s", d.Consistency, d.Required, d.Alive, e.Message)
	}
	return fmt.Sprintf("error %04x: %s", uint32(e.Code), e.Message)
}

// TestOtherDatacenter asks for levels in a keyspace whose replicas are in a datacenter that the node is not in.
func TestOtherDatacenter(t *testing.T) {
	s := newSession(t)
	s.must("CREATE KEYSPACE r WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': 3}")
	s.must("CREATE TABLE r.t (k int PRIMARY KEY)")
	insert := "INSERT INTO r.t (k) VALUES (1)"
	check := func(level cqlerr.Consistency, want string) {
		t.Helper()
		got := levelAnswer(s, insert, exec.Options{Consistency: level})
		if got, _, _ = strings.Cut(got, ":"); got != want {
			t.Errorf("%s: got %s, want %s", level, got, want)
		}
	}
	s.executor.StrictReplicas("elsewhere")
	check(cqlerr.Any, "ok")
	check(cqlerr.One, "unavailable ONE 1 0")
	check(cqlerr.Quorum, "unavailable QUORUM 2 0")
	check(cqlerr.LocalQuorum, "unavailable LOCAL_QUORUM 1 0")
	check(cqlerr.EachQuorum, "unavailable EACH_QUORUM 2 0")
	check(cqlerr.LocalOne, "unavailable LOCAL_ONE 1 0")
}
