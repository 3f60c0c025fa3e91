package exec_test

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/planner/exec"
)

// TestDefinitions runs definitions and reads what they answer.
func TestDefinitions(t *testing.T) {
	s := newSession(t)
	change := func(statement string) string {
		r, err := s.run(statement, exec.Options{})
		if err != nil {
			return errorText(err)
		}
		c, ok := r.(*exec.SchemaChange)
		if !ok {
			return fmt.Sprintf("%T", r)
		}
		var all []string
		for _, e := range append(c.Events, c.Answer) {
			all = append(all, fmt.Sprintf("%s %s %s.%s", e.Kind, e.Target, e.Keyspace, e.Name))
		}
		return strings.Join(all, ", ")
	}
	for _, step := range [][2]string{
		{simple, "CREATED KEYSPACE ks., CREATED KEYSPACE ks."},
		{"CREATE TABLE ks.t (k int PRIMARY KEY)", "CREATED TABLE ks.t, CREATED TABLE ks.t"},
		{"CREATE TABLE IF NOT EXISTS ks.t (k int PRIMARY KEY)", "*exec.Void"},
		{"CREATE TABLE ks.a (k int PRIMARY KEY)", "CREATED TABLE ks.a, CREATED TABLE ks.a"},
		{"DROP TABLE IF EXISTS ks.v", "*exec.Void"},
		{"DROP KEYSPACE ks", "DROPPED TABLE ks.t, DROPPED TABLE ks.a, DROPPED KEYSPACE ks., DROPPED KEYSPACE ks."},
		{"DROP KEYSPACE IF EXISTS ks", "*exec.Void"},
	} {
		if got := change(step[0]); got != step[1] {
			t.Errorf("%s: got %s, want %s", step[0], got, step[1])
		}
	}
}

// TestRecreatedTable runs a plan that was made for a table that is another's by then.
func TestRecreatedTable(t *testing.T) {
	s := withTable(t, "k int PRIMARY KEY, v int")
	read, err := s.prepare("SELECT * FROM t WHERE k = 1")
	if err != nil {
		t.Fatal(err)
	}
	s.must("INSERT INTO t (k, v) VALUES (1, 1)")
	s.must("DROP TABLE t")
	if _, err := s.execute(read, exec.Options{}); err == nil {
		t.Error("a dropped table was read")
	}
	s.must("CREATE TABLE t (k int PRIMARY KEY, v int)")
	if got := s.bound("SELECT * FROM t"); got != "" {
		t.Error("rows of the table before:", got)
	}
}

func TestDescribe(t *testing.T) {
	s := withTable(t, `k int PRIMARY KEY, v text`)
	s.must(`CREATE TABLE "Upper" (k int PRIMARY KEY)`)
	if got := s.text("DESCRIBE TABLES", 0); got != "keyspace_name | type | name\n'ks' | 'table' | 't'\n'ks' | 'table' | '\"Upper\"'\n" {
		t.Error(got)
	}
	keyspaces := s.text("DESCRIBE KEYSPACES", 0)
	if !strings.Contains(keyspaces, "'ks' | 'keyspace' | 'ks'\n'system' | 'keyspace' | 'system'\n") {
		t.Error(keyspaces)
	}
	if paged := strings.ReplaceAll(s.text("DESCRIBE KEYSPACES", 2), "-- page\n", ""); paged != keyspaces {
		t.Error("in pages:", paged)
	}
	for statement, want := range map[string]string{
		"DESCRIBE TABLE nope":       "error 2200: Table 'nope' not found in keyspace 'ks'\n",
		"DESCRIBE KEYSPACE nope":    "error 2200: 'nope' not found in keyspaces\n",
		"DESCRIBE nope":             "error 2200: 'nope' not found in keyspace 'ks'\n",
		"DESCRIBE nope.t":           "error 2200: 'nope' not found in keyspaces\n",
		"DESCRIBE TABLE t":          "CREATE TABLE ks.t (",
		"DESCRIBE ks.t":             "CREATE TABLE ks.t (",
		"DESCRIBE KEYSPACE":         "CREATE KEYSPACE ks WITH replication",
		"DESCRIBE ONLY KEYSPACE ks": "CREATE KEYSPACE ks WITH replication",
		"DESCRIBE SCHEMA":           "CREATE TABLE ks.t (",
		"DESCRIBE CLUSTER":          "'Test Cluster' | 'Murmur3Partitioner' | 'DynamicEndpointSnitch' | {",
		"DESCRIBE TYPES":            "keyspace_name | type | name\n",
	} {
		if got := s.text(statement, 0); !strings.Contains(got, want) {
			t.Errorf("%s: %s", statement, got)
		}
	}
}

// TestDescribeChanged continues a DESCRIBE after the schema has changed.
func TestDescribeChanged(t *testing.T) {
	s := withTable(t, "k int PRIMARY KEY")
	r, err := s.run("DESCRIBE KEYSPACES", exec.Options{PageSize: 1})
	if err != nil {
		t.Fatal(err)
	}
	s.must("CREATE TABLE u (k int PRIMARY KEY)")
	s.state = r.(*exec.Rows).PagingState
	_, err = s.run("DESCRIBE KEYSPACES", exec.Options{PageSize: 1})
	if err == nil || !strings.HasPrefix(err.Error(), "The schema has changed since the previous page") {
		t.Error(err)
	}
}

// TestDescribePagingStates has the form of the states and what is refused.
func TestDescribePagingStates(t *testing.T) {
	s := withTable(t, "k int PRIMARY KEY")
	for version, form := range map[int][2]string{
		3: {"002100010005352e302e38", "000000000000000100007fffffff7fffffff"},
		4: {"2100010005352e302e38", "000000000000000100f07ffffffff07fffffff"},
	} {
		s.version = version
		r, err := s.run("DESCRIBE KEYSPACES", exec.Options{PageSize: 1})
		if err != nil {
			t.Fatal(err)
		}
		state := hex.EncodeToString(r.(*exec.Rows).PagingState)
		if !strings.HasPrefix(state, form[0]) || !strings.HasSuffix(state, form[1]) || len(state) != len(form[0])+32+len(form[1]) {
			t.Errorf("v%d: %s", version, state)
		}
		for _, test := range []struct{ state, want string }{
			{strings.Replace(state, "2e38", "2e37", 1), "error 2200: The server version of the paging state 5.0.7 is different from the one of the server 5.0.8\n"},
			{strings.Replace(state, "00010005", "00020005", 1), "error 2200: Incompatible paging state\n"},
			{"0400000001" + "060004" + "00000001" + "f07ffffffd" + "01", "error 2200: Incompatible paging state\n"},
			{"00" + "060004" + "00000001" + "f07ffffffd" + "01", "error 2200: Incompatible paging state\n"},
			{"04" + "00010005" + "00" + "f07ffffffd" + "01", "error 000a: Invalid value for the paging state\n"},
			{"01", "error 000a: Invalid value for the paging state\n"},
		} {
			b, err := hex.DecodeString(test.state)
			if err != nil {
				t.Fatal(err)
			}
			s.state = b
			if _, err = s.run("DESCRIBE KEYSPACES", exec.Options{}); err == nil || errorText(err) != test.want {
				t.Errorf("v%d, %s: %v, want %s", version, test.state, err, test.want)
			}
		}
	}
}

// TestCancelled runs a scan whose client has gone.
func TestCancelled(t *testing.T) {
	s := withTable(t, "k int PRIMARY KEY")
	for i := range 200 {
		s.must(fmt.Sprintf("INSERT INTO t (k) VALUES (%d)", i))
	}
	p, err := s.prepare("SELECT * FROM t")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	s.executor.Execute(ctx, &exec.Request{Prepared: p, Options: exec.Options{Consistency: cqlerr.One}}, func(_ exec.Result, e error) { err = e })
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
