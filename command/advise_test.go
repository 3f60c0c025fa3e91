package command

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cqld/cqld/cqltest"
)

// adviceScript has a fault in line 3, an ignored one, and a fault of its traffic.
const adviceScript = `CREATE KEYSPACE shop WITH replication = {'class': 'NetworkTopologyStrategy', 'eu-west': 3};
USE shop;
CREATE TABLE logs (day date, at timeuuid, body text, PRIMARY KEY (day, at));
-- cqld:ignore boolean-partition-key
CREATE TABLE flags (active boolean PRIMARY KEY);
CREATE ROLE app WITH PASSWORD = 'secret' AND LOGIN = true;
CREATE TABLE elsewhere.users (id int PRIMARY KEY, name text);
SELECT id FROM elsewhere.users WHERE name = 'x' ALLOW FILTERING;
`

func writeFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestAdviseScript reports the faults of a script for people and as SARIF, and exits as --fail-on wants.
func TestAdviseScript(t *testing.T) {
	path := writeFile(t, "schema.cql", adviceScript)
	code, out, errs := cqld(t, nil, "advise", path)
	if code != 0 || errs != "" || !strings.HasSuffix(out, "2 warnings in 3 tables and 1 statement\n") {
		t.Errorf("exit %d, %s%s", code, out, errs)
	}
	for _, want := range []string{
		"shop.logs  " + path + ":3\n  warning hot-time-partition: all writes of the same day go to one partition",
		"CREATE TABLE elsewhere.users_by_name (", "WHERE name = ? ALLOW FILTERING  (1 time",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("want %q in\n%s", want, out)
		}
	}
	code, out, _ = cqld(t, nil, "advise", path, "--format", "sarif", "--fail-on", "warning")
	var log struct {
		Version string
		Runs    []struct {
			Tool struct {
				Driver struct{ Rules []struct{ ID string } }
			}
			Results []struct {
				RuleID    string
				RuleIndex int
				Level     string
				Message   struct{ Text string }
				Locations []struct {
					PhysicalLocation struct {
						ArtifactLocation struct{ URI string }
						Region           struct{ StartLine int }
					}
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(out), &log); err != nil || code != exitFailed || log.Version != "2.1.0" || len(log.Runs) != 1 {
		t.Fatalf("exit %d, error %v: %s", code, err, out)
	}
	lines := map[string]int{"hot-time-partition": 3, "allow-filtering": 7}
	for _, r := range log.Runs[0].Results {
		at := r.Locations[0].PhysicalLocation
		if log.Runs[0].Tool.Driver.Rules[r.RuleIndex].ID != r.RuleID || r.Level != "warning" || r.Message.Text == "" ||
			at.ArtifactLocation.URI != filepath.ToSlash(path) || at.Region.StartLine != lines[r.RuleID] {
			t.Errorf("%+v", r)
		}
	}
	if len(log.Runs[0].Results) != len(lines) {
		t.Errorf("%d results", len(log.Runs[0].Results))
	}
	var report struct {
		Findings []struct {
			Rule, Severity, Table, Message, Better, File string
			Line                                         int
			Evidence                                     []struct{ Form string }
		}
		Tables, Statements int
		Recorded           bool
	}
	_, out, _ = cqld(t, nil, "advise", path, "--format", "json")
	if err := json.Unmarshal([]byte(out), &report); err != nil || len(report.Findings) != 2 || !report.Recorded {
		t.Fatalf("error %v: %s", err, out)
	}
	if f := report.Findings[0]; f.Rule != "allow-filtering" || f.Severity != "warning" || f.Table != "elsewhere.users" ||
		f.Line != 7 || !strings.HasPrefix(f.Better, "CREATE TABLE") || f.Evidence[0].Form == "" {
		t.Errorf("%+v", f)
	}
	for want, args := range map[int][]string{
		0:          {"--fail-on", "error", "--format", "json"},
		exitFailed: {"--fail-on", "note"},
		exitUsage:  {"--ignore", "allow-filter"},
	} {
		if code, _, errs := cqld(t, nil, append([]string{"advise", path}, args...)...); code != want {
			t.Errorf("%q: exit %d, %s", args, code, errs)
		}
	}
}

// TestAdviseMistakes names unknown rules, wrong statements and files of other kinds.
func TestAdviseMistakes(t *testing.T) {
	script := writeFile(t, "a.cql", "-- cqld:ignore selectstar\nCREATE TABLE t (k int PRIMARY KEY);\n-- cqld:ignore queue\nUSE app;")
	code, out, errs := cqld(t, nil, "advise", script)
	if code != 0 || !strings.Contains(out, script+`:2: cqld:ignore: there is no rule "selectstar": did you mean select-star?`) ||
		!strings.Contains(out, script+":4: cqld:ignore queue: the statement after it defines no table") {
		t.Errorf("exit %d, %s%s", code, out, errs)
	}
	for want, args := range map[string][]string{
		`there is no rule "selectstar": did you mean select-star?`: {"advise", script, "--ignore", "queue,selectstar"},
		"b.cql:2: table nowhere does not exist":                    {"advise", writeFile(t, "b.cql", "\nSELECT * FROM nowhere;")},
		"neither a recording of proxy nor a script":                {"advise", writeFile(t, "c.txt", "hello")},
		"cannot read none.cql":                                     {"advise", "none.cql"},
		"has no file whose name ends in .cql":                      {"advise", t.TempDir()},
		"--schema is for recordings":                               {"advise", script, "--schema", script},
	} {
		if code, _, errs := cqld(t, nil, args...); code == 0 || !strings.Contains(errs, want) {
			t.Errorf("%q: exit %d, %s, want %s", args, code, errs, want)
		}
	}
	code, out, _ = cqld(t, nil, "advise", "--rules")
	if code != 0 || !strings.Contains(out, "\nallow-filtering          warning  A query needs ALLOW FILTERING\n") {
		t.Errorf("exit %d, %s", code, out)
	}
}

// TestAdviseServer reports what a server has recorded, what a server without a record has, and the same statements
// from a recording, with the file of their tables.
func TestAdviseServer(t *testing.T) {
	const schema = "CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};" +
		"CREATE TABLE shop.users (id int PRIMARY KEY, name text) WITH comment = 'cqld:ignore select-star, nonsense';"
	const statements = "SELECT * FROM shop.users WHERE name = 'x' ALLOW FILTERING;"
	recording := filepath.Join(t.TempDir(), "recording.txt")
	srv := cqltest.RunT(t, cqltest.WithControls())
	srv.Exec(t, schema)
	addr, log, stop := startProxy(t, "--to", srv.Addr(), "--out", recording)
	if code, _, errs := cqld(t, nil, "exec", addr, "-e", statements); code != 0 {
		t.Fatalf("exit %d, %s", code, errs)
	}
	if code := stop(); code != 0 {
		t.Fatalf("proxy: exit %d, %s", code, log)
	}
	bare := cqltest.RunT(t)
	bare.Exec(t, schema)
	file := writeFile(t, "schema.cql", schema)
	for _, one := range []struct {
		args []string
		want []string
	}{
		{[]string{srv.Addr()}, []string{"1 warning in 1 table and 1 statement\n", "allow-filtering", "there is no rule \"nonsense\""}},
		{[]string{srv.Addr(), "-k", "other"}, []string{"nothing to report in 0 tables"}},
		{[]string{bare.Addr()}, []string{"nothing to report in 1 table; no statements were recorded, so only rules of the schema apply"}},
		{[]string{recording, "--schema", file}, []string{"1 warning in 1 table and 1 statement\n", "users  " + file + ":1\n"}},
		{[]string{recording, "--schema", filepath.Dir(file)}, []string{"users  " + file + ":1\n"}},
		{[]string{filepath.Dir(file), "--ignore", "full-scan"}, []string{"nothing to report in 1 table and 0 statements"}},
		{[]string{recording}, []string{"the recording creates no tables: --schema names a file that does"}},
	} {
		code, out, errs := cqld(t, nil, append([]string{"advise"}, one.args...)...)
		for _, want := range one.want {
			if code != 0 || !strings.Contains(out, want) {
				t.Errorf("%q: exit %d, %s%s, want %s", one.args, code, out, errs, want)
			}
		}
	}
}
