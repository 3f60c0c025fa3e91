package command

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/cqltest"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/protocol/client"
	"github.com/cqld/cqld/protocol/client/advise"
)

// TestProofs compares what cqld advise --prove prints for each script of testdata/prove with the file beside it.
func TestProofs(t *testing.T) {
	paths, err := filepath.Glob("testdata/prove/*.cql")
	if err != nil || len(paths) == 0 {
		t.Fatalf("%d scripts, error %v", len(paths), err)
	}
	for _, path := range paths {
		code, out, errs := cqld(t, nil, "advise", filepath.ToSlash(path), "--prove")
		if code != 0 || errs != "" {
			t.Errorf("%s: exit %d, %s", path, code, errs)
		}
		golden := strings.TrimSuffix(path, ".cql") + ".txt"
		if *update {
			if err := os.WriteFile(golden, []byte(out), 0o600); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if out != string(want) {
			t.Errorf("%s prints\n%s\nwant\n%s", path, out, want)
		}
	}
}

// proofOf proves a table that a rule proposes for the statements of a script. evidence are forms of its queries.
func proofOf(t *testing.T, rule, script, better string, evidence ...string) *advise.Proof {
	t.Helper()
	scripts, err := readScripts(writeFile(t, "script.cql", script))
	if err != nil {
		t.Fatal(err)
	}
	s, err := startScratch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	if err := s.runScripts(t.Context(), scripts); err != nil {
		t.Fatal(err)
	}
	statements, err := s.statements(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	report := &advise.Report{Findings: []advise.Finding{{Rule: rule, Table: "app.orders", Better: better}}}
	for _, form := range evidence {
		report.Findings[0].Evidence = append(report.Findings[0].Evidence, advise.Evidence{Form: form})
	}
	o := adviseOptions{proveTime: defaultProveTime}
	if err := o.addProofs(t.Context(), report, s.conn, statements); err != nil {
		t.Fatal(err)
	}
	return report.Findings[0].Proof
}

// proofScript has two new orders of the same day.
const proofScript = `CREATE TABLE orders (id int PRIMARY KEY, status text, day date, total int);
INSERT INTO orders (id, status, day, total) VALUES (1, 'new', '2025-11-01', 10);
INSERT INTO orders (id, status, day, total) VALUES (2, 'new', '2025-11-01', 20);
INSERT INTO orders (id, status, day, total) VALUES (3, 'new', '2025-11-02', 30);
SELECT id, total FROM orders WHERE status = 'new' ALLOW FILTERING;
SELECT id FROM orders WHERE status = 'paid' ALLOW FILTERING;`

// TestProofFails reports proposals whose key is not unique, that lack a column, and that have one of unknown values.
func TestProofFails(t *testing.T) {
	const form = "SELECT id, total FROM orders WHERE status = ? ALLOW FILTERING"
	const oneOfADay = "CREATE TABLE app.new (status text, day date, id int, total int, PRIMARY KEY (status, day));"
	p := proofOf(t, "allow-filtering", proofScript, oneOfADay, form)
	if len(p.Statements) != 2 || !p.Failed() || p.Rows != 3 {
		t.Fatalf("%+v", p)
	}
	m := p.Statements[1]
	if m.Before != (advise.Cost{Queries: 1, RowsRead: 3, Returned: 3}) || m.After != (advise.Cost{Queries: 1, RowsRead: 2, Returned: 2}) ||
		m.Different != 1 || m.Difference != "the first one lacks 1 row of the old table, and has 0 others" ||
		!strings.Contains(p.String(), "\n  THE PROPOSAL FAILS: 1 of 1 execution returned other rows") {
		t.Errorf("%+v prints\n%s", m, p)
	}
	p = proofOf(t, "allow-filtering", proofScript, "CREATE TABLE app.new (status text, id int, PRIMARY KEY (status, id));")
	if len(p.Omitted) != 1 || p.Omitted[0].Form != form || !strings.Contains(p.Omitted[0].Reason, "Undefined column name total") ||
		p.Failed() || len(p.Statements) != 2 || p.Statements[1].Executions != 1 || p.Statements[1].Different != 0 {
		t.Errorf("without a column: %+v", p)
	}
	for better, want := range map[string]string{
		"CREATE TABLE app.new (shard int, id int, PRIMARY KEY (shard, id));": "its column shard is not one of the old table",
		"CREATE TABLE app.new (id nothing PRIMARY KEY);":                     "its statement fails: ",
	} {
		if p = proofOf(t, "allow-filtering", proofScript, better); !strings.Contains(p.Unproven, want) || p.Rows != 0 {
			t.Errorf("%s: %+v", better, p)
		}
	}
}

// queueProof proves a queue by hours for a script.
func queueProof(t *testing.T, script string) *advise.Proof {
	t.Helper()
	return proofOf(t, "queue", "CREATE TABLE orders (queue int, at timestamp, PRIMARY KEY (queue, at));"+script,
		"CREATE TABLE app.by_hour (queue int, hour timestamp, at timestamp, PRIMARY KEY ((queue, hour), at));")
}

// TestProofOfQueue reads a queue by hours. A consumer that has left an hour misses a row that is written there later.
func TestProofOfQueue(t *testing.T) {
	const early = "INSERT INTO orders (queue, at) VALUES (1, '2025-11-01 10:10+0000'); SELECT at FROM orders WHERE queue = 1 LIMIT 1;" +
		"DELETE FROM orders WHERE queue = 1 AND at = '2025-11-01 10:10+0000';"
	const late = "INSERT INTO orders (queue, at) VALUES (1, '2025-11-01 12:00+0000');"
	const read = "SELECT at FROM orders WHERE queue = 1 LIMIT 1;"
	for script, want := range map[string]struct{ executions, queries, tombstones, different int64 }{
		early + late + read + read:  {3, 4, 1, 0},
		early + early + late + read: {3, 4, 1, 0},
		late + early + read + early: {3, 4, 1, 1},
	} {
		p := queueProof(t, script)
		got := p.Statements[len(p.Statements)-1]
		for _, m := range p.Statements {
			if m.Reads {
				got = m
			}
		}
		if got.Executions != want.executions || got.After.Queries != want.queries || got.After.Tombstones != want.tombstones ||
			got.Different != want.different {
			t.Errorf("%s: %+v\n%s", script, got, p)
		}
	}
}

// TestProofWrites applies writes to both tables where they have a translation, and gives the reasons where not.
func TestProofWrites(t *testing.T) {
	p := proofOf(t, "allow-filtering", `CREATE TABLE orders (customer int, id int, status text, note text, PRIMARY KEY (customer, id));
		INSERT INTO orders (customer, id, status) VALUES (1, 1, 'new');
		INSERT INTO orders (customer, id, status) VALUES (1, 2, 'new') IF NOT EXISTS;
		INSERT INTO orders (customer, id, status) VALUES (1, 3, 'new');
		BEGIN BATCH INSERT INTO orders (customer, id, status) VALUES (2, 4, 'new'); UPDATE orders SET note = 'a' WHERE customer = 2 AND id = 4; APPLY BATCH;
		UPDATE orders SET status = 'paid' WHERE customer = 1 AND id = 1;
		DELETE FROM orders WHERE customer = 1 AND id = 3;
		DELETE FROM orders WHERE customer = 1;
		DELETE note FROM orders WHERE customer = 2 AND id = 4;
		INSERT INTO orders JSON '{"customer": 3, "id": 5}';
		SELECT status FROM orders WHERE id = 1 ALLOW FILTERING;
		SELECT writetime(status) FROM orders WHERE id = 4 ALLOW FILTERING;
		SELECT JSON id FROM orders WHERE id = 4 ALLOW FILTERING;
		SELECT status FROM orders WHERE token(customer) > 0 ALLOW FILTERING;`,
		"CREATE TABLE app.orders_by_id (id int, customer int, status text, PRIMARY KEY (id, customer));")
	got := map[string]int64{}
	for _, m := range p.Statements {
		got[m.Form] = m.Executions
		if m.Different != 0 {
			t.Errorf("%+v", m)
		}
	}
	for form, n := range map[string]int64{
		"INSERT INTO orders (customer, id, status) VALUES (?, ?, ?)": 3,
		"UPDATE orders SET note = ? WHERE customer = ? AND id = ?":   1,
		"UPDATE orders SET status = ? WHERE customer = ? AND id = ?": 1,
		"DELETE FROM orders WHERE customer = ? AND id = ?":           1,
		"DELETE note FROM orders WHERE customer = ? AND id = ?":      1,
		"SELECT status FROM orders WHERE id = ? ALLOW FILTERING":     1,
	} {
		if got[form] != n {
			t.Errorf("%s: %d times, want %d", form, got[form], n)
		}
		delete(got, form)
	}
	if len(got) > 0 || p.Failed() {
		t.Errorf("replayed too: %v\n%s", got, p)
	}
	for form, reason := range map[string]string{
		"IF NOT EXISTS": "a condition holds for one table", "DELETE FROM orders WHERE customer = ?": "it does not give id",
		"INSERT INTO orders JSON": "its values are JSON", "writetime": "it returns times of writes", "SELECT JSON": "other JSON",
		"token": "it reads a range of tokens",
	} {
		found := false
		for _, o := range p.Omitted {
			found = found || strings.Contains(o.Form, form) && strings.Contains(o.Reason, reason)
		}
		if !found {
			t.Errorf("no %s: %s in\n%s", form, reason, p)
		}
	}
}

// TestProofOfServer proves with values of a server's texts, with values of its rows where statements were prepared, and
// with the values of a recording of them. It refuses servers that do not record statements, and clusters.
func TestProofOfServer(t *testing.T) {
	const schema = "CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};" +
		"CREATE TABLE shop.users (id int PRIMARY KEY, name text, age int, raw blob, at timestamp, tags set<text>);"
	recording := filepath.Join(t.TempDir(), "recording.txt")
	srv := cqltest.RunT(t, cqltest.WithControls())
	srv.Exec(t, schema)
	addr, log, stop := startProxy(t, "--to", srv.Addr(), "--out", recording)
	conn, err := client.Dial(t.Context(), addr, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	run := func(text string, values ...types.Value) {
		t.Helper()
		p, err := conn.Prepare(t.Context(), text, "")
		if err == nil {
			_, err = conn.Execute(t.Context(), p, values, nil)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for id := range int32(3) {
		name := types.Value{Bytes: []byte(strings.Repeat("x", int(id)/2+1))}
		run("INSERT INTO shop.users (id, name, age, raw, at, tags) VALUES (?, ?, ?, ?, ?, ?)",
			types.Value{Bytes: types.EncodeInt(id)}, name, types.Value{Unset: true}, types.Value{Bytes: []byte{0, '\''}},
			types.Value{Bytes: types.EncodeBigInt(1)}, types.Value{Bytes: types.NewList([][]byte{[]byte("it's")})})
	}
	named, err := conn.Prepare(t.Context(), "INSERT INTO shop.users (id, name) VALUES (?, ?)", "")
	if err != nil {
		t.Fatal(err)
	}
	var children []protocol.BatchChild
	for id := range int32(2) {
		values := []types.Value{{Bytes: types.EncodeInt(id)}, {Bytes: []byte("x")}}
		children = append(children, protocol.BatchChild{Prepared: true, ID: named.ID, Values: values})
	}
	if _, err := conn.Batch(t.Context(), protocol.LoggedBatch, children, nil); err != nil {
		t.Fatal(err)
	}
	run("SELECT id FROM shop.users WHERE name = ? ALLOW FILTERING", types.Value{Bytes: []byte("x")})
	run("SELECT id FROM shop.users WHERE age = 1 ALLOW FILTERING")
	_ = conn.Close()
	if code := stop(); code != 0 {
		t.Fatalf("proxy: exit %d, %s", code, log)
	}
	proofs := func(args ...string) map[string]*advise.Proof {
		t.Helper()
		code, out, errs := cqld(t, nil, append([]string{"advise", "--prove", "--format", "json"}, args...)...)
		var report advise.Report
		if err := json.Unmarshal([]byte(out), &report); err != nil || code != 0 {
			t.Fatalf("exit %d, error %v: %s%s", code, err, out, errs)
		}
		all := map[string]*advise.Proof{}
		for _, f := range report.Findings {
			all[f.Proof.Table] = f.Proof
		}
		return all
	}
	live := proofs(srv.Addr())
	byName := live["shop.users_by_name"]
	if m := byName.Statements[0]; byName.Rows != 3 || m.Executions != 2 || m.Before.RowsRead != 6 || m.After.RowsRead != 3 ||
		m.Different != 0 || len(byName.Omitted) != 2 || byName.Omitted[0].Reason != "its values were not recorded" ||
		!strings.Contains(byName.Notes[0], "values of 1 execution were not recorded: values of 2 copied rows were used instead") {
		t.Errorf("live: %+v", byName)
	}
	if byAge := live["shop.users_by_age"]; byAge.LeftOut != 3 || len(byAge.Statements) != 1 || byAge.Statements[0].Executions != 1 {
		t.Errorf("live: %+v", byAge)
	}
	recorded := proofs(recording, "--schema", writeFile(t, "schema.cql", schema))["shop.users_by_name"]
	if len(recorded.Statements) != 3 || recorded.Statements[0].Executions != 3 || len(recorded.Omitted) != 0 ||
		recorded.Statements[1].Executions != 2 || recorded.Statements[2].Different != 0 ||
		recorded.Statements[2].Before != (advise.Cost{Queries: 1, RowsRead: 3, Returned: 2}) ||
		recorded.Statements[2].After != (advise.Cost{Queries: 1, RowsRead: 2, Returned: 2}) {
		t.Errorf("recording: %+v", recorded)
	}
	code, out, _ := cqld(t, nil, "advise", srv.Addr(), "--prove", "--format", "sarif")
	if code != 0 || !strings.Contains(out, "rows of the old table") || !strings.Contains(out, "the same rows") {
		t.Errorf("SARIF: exit %d, %s", code, out)
	}
	bare := cqltest.RunT(t)
	cluster := cqltest.RunT(t, cqltest.WithControls(), cqltest.Ring(3))
	for want, args := range map[string][]string{
		"--test-controls":                    {bare.Addr(), "--prove"},
		"--prove needs a single node":        {cluster.Addr(), "--prove"},
		"--prove-time is a time for --prove": {bare.Addr(), "--prove-time", time.Second.String()},
	} {
		if code, out, errs := cqld(t, nil, append([]string{"advise"}, args...)...); code == 0 || !strings.Contains(errs, want) {
			t.Errorf("%q: exit %d, %s%s, want %s", args, code, out, errs, want)
		}
	}
}

// TestProofTime ends proofs with their time.
func TestProofTime(t *testing.T) {
	path := writeFile(t, "script.cql", proofScript)
	code, out, errs := cqld(t, nil, "advise", path, "--prove", "--prove-time", "1ns")
	if code != 0 || !strings.Contains(out, "proof: none, because the time for it has passed") {
		t.Errorf("exit %d, %s%s", code, out, errs)
	}
}
