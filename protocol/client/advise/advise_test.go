package advise_test

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/parser"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/cqltest"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/protocol/client"
	"github.com/cqld/cqld/protocol/client/advise"
	"github.com/cqld/cqld/protocol/client/cqlfiles"
	"github.com/cqld/cqld/protocol/client/model"
)

// fixture is a file of testdata:
//
//	-- expect: RULE TABLE, RULE TABLE		or nothing
//	-- run: text					statements are not prepared
//	-- run: script					once each, as by cqld advise FILE
//	-- repeat 60
//	INSERT INTO t (k, v) VALUES ({n%5}, {n});	60 times, n from 0 to 59, and all up to the next comment
//	BEGIN BATCH {12: INSERT INTO t (k, v) VALUES ({i}, 0); } APPLY BATCH;	12 statements, i from 0 to 11
type fixture struct {
	text, run string
	expect    []string
}

var (
	header    = regexp.MustCompile(`(?m)^-- (expect|run): (.*)$`)
	repeat    = regexp.MustCompile(`(?m)^-- repeat (\d+)\n((?:[^-].*\n)+)`)
	inner     = regexp.MustCompile(`(?s)\{(\d+): (.*?;) \}`)
	variables = regexp.MustCompile(`\{([ni])(?:([%/+])(\d+))?\}`)
)

func readFixture(t *testing.T, path string) (f fixture) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f.text = string(content)
	for _, m := range header.FindAllStringSubmatch(f.text, -1) {
		if m[1] == "run" {
			f.run = m[2]
			continue
		}
		if f.expect = strings.Split(m[2], ", "); m[2] == "nothing" {
			f.expect = []string{}
		}
	}
	if f.expect == nil {
		t.Fatalf("%s expects nothing at all", path)
	}
	slices.Sort(f.expect)
	f.text = inner.ReplaceAllStringFunc(f.text, func(s string) string {
		m := inner.FindStringSubmatch(s)
		return expand(m[1], "i", m[2])
	})
	f.text = repeat.ReplaceAllStringFunc(f.text, func(s string) string {
		m := repeat.FindStringSubmatch(s)
		return expand(m[1], "n", m[2])
	})
	return f
}

// expand repeats a text with a variable.
func expand(times, name, text string) string {
	count, _ := strconv.Atoi(times)
	var b strings.Builder
	for n := range count {
		b.WriteString(variables.ReplaceAllStringFunc(text, func(s string) string {
			m := variables.FindStringSubmatch(s)
			if m[1] != name {
				return s
			}
			by, _ := strconv.Atoi(m[3])
			switch m[2] {
			case "%":
				return strconv.Itoa(n % by)
			case "/":
				return strconv.Itoa(n / by)
			case "+":
				return strconv.Itoa(n + by)
			}
			return strconv.Itoa(n)
		}) + " ")
	}
	return b.String()
}

// session is a connection to a server that records its statements.
func session(t *testing.T) (*cqltest.Server, *client.Conn) {
	t.Helper()
	srv := cqltest.RunT(t, cqltest.WithControls(), cqltest.WithStatements())
	conn, err := client.Dial(t.Context(), srv.Addr(), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return srv, conn
}

const useApp = "CREATE KEYSPACE app WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}; USE app;"

// play runs statements: definitions and scripts as texts, others prepared.
func play(ctx context.Context, t *testing.T, conn *client.Conn, text, how string) {
	t.Helper()
	for _, one := range parser.Split(useApp + text) {
		word, _, _ := strings.Cut(one.Text, " ")
		var err error
		if how == "" && slices.Contains([]string{"SELECT", "INSERT", "UPDATE", "DELETE", "BEGIN"}, word) {
			var p *client.Prepared
			if p, err = conn.Prepare(ctx, one.Text, ""); err == nil {
				_, err = conn.Execute(ctx, p, nil, nil)
			}
		} else {
			_, err = conn.Query(ctx, one.Text, nil, nil)
		}
		if err != nil && !strings.Contains(err.Error(), "ALLOW FILTERING") {
			t.Fatalf("%s: %v", one.Text, err)
		}
	}
}

// TestFixtures runs each file of testdata and compares the findings with the expected ones in its comments. Proposed
// statements have to be valid.
func TestFixtures(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.cql")
	if err != nil {
		t.Fatal(err)
	}
	good, planted := 0, map[string]bool{}
	for _, path := range paths {
		f := readFixture(t, path)
		if len(f.expect) == 0 {
			good++
		}
		for _, one := range f.expect {
			rule, _, _ := strings.Cut(one, " ")
			planted[rule] = true
		}
		t.Run(strings.TrimSuffix(filepath.Base(path), ".cql"), func(t *testing.T) {
			_, conn := session(t)
			play(t.Context(), t, conn, f.text, f.run)
			o := advise.Options{Keyspace: "app", Script: f.run == "script"}
			o.Source = advise.ReadSource("app", cqlfiles.File{Name: path, Text: f.text})
			report, err := advise.Advise(t.Context(), model.QueryOn(conn), o)
			if err != nil {
				t.Fatal(err)
			}
			var found []string
			for _, one := range report.Findings {
				found = append(found, one.Rule+" "+strings.TrimPrefix(one.Table, "app."))
				if one.Better == "" {
					continue
				}
				for _, piece := range parser.Split(one.Better) {
					if _, err := conn.Query(t.Context(), piece.Text, nil, nil); err != nil {
						t.Errorf("%s proposes %s: %v", one.Rule, piece.Text, err)
					}
				}
			}
			slices.Sort(found)
			if !slices.Equal(found, f.expect) {
				var b strings.Builder
				_ = report.Print(&b, false)
				t.Errorf("found   %s\nexpects %s\n%s", strings.Join(found, ", "), strings.Join(f.expect, ", "), b.String())
			}
			if len(report.Notes) > 0 {
				t.Error(report.Notes)
			}
		})
	}
	if len(paths) < 40 || good < 20 {
		t.Errorf("%d files, %d of them good", len(paths), good)
	}
	for _, r := range advise.Rules {
		if !planted[r.Name] && !slices.Contains([]string{"huge-partition", "replicas"}, r.Name) {
			t.Errorf("no file expects %s", r.Name)
		}
	}
}

// TestBatches reports BATCH messages of drivers by their types and partitions, and nulls that are bound; unset values
// are none.
func TestBatches(t *testing.T) {
	_, conn := session(t)
	play(t.Context(), t, conn, `CREATE TABLE items (id int PRIMARY KEY, name text, note text);
		CREATE TABLE names (name text PRIMARY KEY, id int);`, "")
	prepare := func(text string) *client.Prepared {
		p, err := conn.Prepare(t.Context(), text, "")
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	items := prepare("INSERT INTO items (id, name, note) VALUES (?, ?, ?)")
	names := prepare("INSERT INTO names (name, id) VALUES (?, ?)")
	of := func(kind protocol.BatchType, n int, note types.Value) {
		t.Helper()
		for range 4 {
			b := &protocol.Batch{Type: kind}
			for i := range n {
				id := types.Value{Bytes: types.EncodeInt(int32(i))}
				b.Children = append(b.Children, protocol.BatchChild{
					Prepared: true, ID: items.ID, Values: []types.Value{id, {Bytes: []byte("x")}, note},
				})
				if kind == protocol.LoggedBatch && n == 1 {
					b.Children = append(b.Children, protocol.BatchChild{
						Prepared: true, ID: names.ID, Values: []types.Value{{Bytes: []byte("x")}, id},
					})
				}
			}
			b.Parameters.Consistency = cqlerr.One
			if a, err := conn.Do(t.Context(), b); err != nil {
				t.Fatal(err)
			} else if _, failed := a.Response.(*protocol.Error); failed {
				t.Fatal(a.Response)
			}
		}
	}
	found := func() (rules []string) {
		t.Helper()
		report, err := advise.Advise(t.Context(), model.QueryOn(conn), advise.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range report.Findings {
			rules = append(rules, f.Rule+" "+f.Evidence[0].Detail)
		}
		return rules
	}
	of(protocol.LoggedBatch, 1, types.Value{Unset: true}) // one fact in two tables
	of(protocol.UnloggedBatch, 10, types.Value{Unset: true})
	if got := found(); len(got) != 0 {
		t.Errorf("good batches: %q", got)
	}
	of(protocol.LoggedBatch, 8, types.Value{Unset: true})
	of(protocol.UnloggedBatch, 11, types.Value{})
	want := []string{
		"batch-many-partitions 10 statements for 10 partitions on average",
		"logged-batch-bulk-load 8 statements for 8 partitions on average", "insert-nulls ",
	}
	if got := found(); !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
}

// TestMeasuredSizes reports sizes and tombstones that a server has measured, and replicas of a cluster.
func TestMeasuredSizes(t *testing.T) {
	rows := map[string]*client.Result{
		"system_schema.keyspaces": table("keyspace_name text, replication map", []any{"shop", map[string]string{
			"class": "org.apache.cassandra.locator.SimpleStrategy", "replication_factor": "1",
		}}),
		"system_schema.columns": table("table_name text, column_name text, kind text, type text, position int",
			[]any{"a", "id", "partition_key", "int", 0}, []any{"a", "at", "clustering", "int", 0}),
		"system_views.max_partition_size": table("keyspace_name text, table_name text, mebibytes int",
			[]any{"shop", "a", 150}),
		"system_views.tombstones_per_read": table("keyspace_name text, table_name text, p99th double",
			[]any{"shop", "a", 2000.0}),
		"system.peers": table("data_center text", []any{"dc1"}, []any{"dc1"}),
	}
	query := func(_ context.Context, statement string) (*client.Result, error) {
		for name, r := range rows {
			if strings.Contains(statement, " FROM "+name) {
				return r, nil
			}
		}
		return nil, cqlerr.Invalidf("unconfigured table")
	}
	report, err := advise.Advise(t.Context(), query, advise.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, f := range report.Findings {
		found = append(found, f.Table+" "+f.Rule+": "+f.Message)
	}
	want := []string{
		"shop.a huge-partition: the largest partition has 150 MiB",
		"shop replicas: rows have one replica: they are unavailable while its node is down",
		"shop.a tombstones-read: one read in a hundred reads 2000 tombstones or more",
	}
	if !slices.Equal(found, want) || report.Recorded {
		t.Errorf("found %q, want %q", found, want)
	}
	rows["system.peers"] = table("data_center text", []any{"dc1"}, []any{"dc2"})
	if report, _ = advise.Advise(t.Context(), query, advise.Options{}); report.Findings[1].Message !=
		"SimpleStrategy chooses replicas regardless of datacenters" {
		t.Errorf("%+v", report.Findings)
	}
}

// table makes a result of columns and rows.
func table(columns string, rows ...[]any) *client.Result {
	r := &client.Result{}
	for one := range strings.SplitSeq(columns, ", ") {
		name, _, _ := strings.Cut(one, " ")
		r.Columns = append(r.Columns, protocol.ColumnSpec{Name: name})
	}
	for _, row := range rows {
		var cells [][]byte
		for _, v := range row {
			switch v := v.(type) {
			case string:
				cells = append(cells, []byte(v))
			case int:
				cells = append(cells, types.EncodeInt(int32(v)))
			case float64:
				cells = append(cells, types.EncodeDouble(v))
			case map[string]string:
				var keys, values [][]byte
				for k, e := range v {
					keys, values = append(keys, []byte(k)), append(values, []byte(e))
				}
				cells = append(cells, types.NewMap(&types.Map{Key: types.Text, Value: types.Text}, keys, values))
			}
		}
		r.Rows = append(r.Rows, cells)
	}
	return r
}

// TestPrint prints findings by table, in colour, and each proposal once.
func TestPrint(t *testing.T) {
	r := advise.Report{Tables: 1, Statements: 9, Recorded: true, Findings: []advise.Finding{
		{
			Rule: "queue", Severity: advise.Error, Table: "a.b", Message: strings.Repeat("word ", 30),
			Better: "CREATE TABLE x;",
		},
		{
			Rule: "full-scan", Severity: advise.Warning, Table: "a.b", Message: "all rows are read",
			Better:   "CREATE TABLE x;",
			Evidence: []advise.Evidence{{Form: "SELECT * FROM b", Count: 1, RowsRead: 500, Returned: 5, Tombstones: 2}},
		},
		{Rule: "unused-table", Severity: advise.Note, Table: "a.a", Message: "none"},
	}}
	var b strings.Builder
	if err := r.Print(&b, true); err != nil {
		t.Fatal(err)
	}
	want := "\x1b[1ma.a\x1b[0m\n  \x1b[36mnote   \x1b[0m unused-table: none\n" +
		"\x1b[1ma.b\x1b[0m\n  \x1b[31merror  \x1b[0m queue: " + strings.Repeat("word ", 17) + "word\n" +
		"          " + strings.Repeat("word ", 11) + "word\n          \x1b[2mCREATE TABLE x;\x1b[0m\n" +
		"  \x1b[33mwarning\x1b[0m full-scan: all rows are read\n" +
		"          SELECT * FROM b  (1 time, 500 rows read, 5 returned, 2 tombstones)\n" +
		"1 error, 1 warning, 1 note in 1 table and 9 statements\n"
	if b.String() != want {
		t.Errorf("printed\n%q, want\n%q", b.String(), want)
	}
	if !r.Worst(advise.Error) || !r.Worst(advise.Note) || (&advise.Report{}).Worst(advise.Note) {
		t.Error("Worst is wrong")
	}
}

var update = flag.Bool("update", false, "rewrite the rules in docs/advisor.md")

// TestRulesInDocs compares the table of rules in docs/advisor.md with Rules.
func TestRulesInDocs(t *testing.T) {
	path := filepath.Join("..", "..", "..", "docs", "advisor.md")
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, after, _ := strings.Cut(string(content), "-run TestRulesInDocs -update -->\n")
	_, after, _ = strings.Cut(after, "\n## Limits")
	table := "\n| rule | severity | | source |\n|---|---|---|---|\n"
	for _, r := range advise.Rules {
		table += "| `" + r.Name + "` | " + string(r.Severity) + " | " + r.Title + ". " + r.Why + " | " + r.Source + " |\n"
	}
	want := before + "-run TestRulesInDocs -update -->\n" + table + "\n## Limits" + after
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
	} else if string(content) != want {
		t.Error("docs/advisor.md has other rules: go test -run TestRulesInDocs -update rewrites them")
	}
}

// TestOneRowOfEvidence prints single things in the singular.
func TestOneRowOfEvidence(t *testing.T) {
	e := advise.Evidence{RowsRead: 1, Returned: 1, Tombstones: 1}
	if got, want := e.String(), "1 row read, 1 returned, 1 tombstone"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
