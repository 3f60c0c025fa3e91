package command

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/cqld/cqld/cqltest"
	"github.com/cqld/cqld/protocol/client/transfer"
)

// transferred is a keyspace with values that are hard to write down.
const transferred = `
CREATE KEYSPACE "Ex" WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};
CREATE TYPE "Ex".addr (street text, zips frozen<list<int>>);
CREATE TABLE "Ex".wide (p int, q text, c timeuuid, "Odd Name" text, d decimal, s text static, l list<text>, st set<int>,
	m map<text, frozen<list<int>>>, u addr, fu frozen<addr>, tu tuple<int, text>, v vector<float, 3>, b blob, bo boolean,
	da date, ti time, ts timestamp, du duration, i inet, f float, db double, sm smallint, ty tinyint, vi varint, uu uuid,
	em int, a ascii, PRIMARY KEY ((p, q), c)) WITH CLUSTERING ORDER BY (c DESC);
CREATE INDEX byd ON "Ex".wide (a);
CREATE TABLE "Ex".counts (p int, c text, n counter, m counter, s counter static, PRIMARY KEY (p, c));
CREATE TABLE "Ex".only (p int PRIMARY KEY);
CREATE TABLE "Ex".timed (p int PRIMARY KEY, a int, b text, l list<int>);
INSERT INTO "Ex".wide (p, q, c, "Odd Name", d, s, l, st, m, u, fu, tu, v, b, bo, da, ti, ts, du, i, f, db, sm, ty, vi, uu, em, a)
	VALUES (1, 'it''s, "q"', 50554d6e-29bb-11e5-b345-feff819cdc9f, 'line
two', 123456789012345678901234567890.12345, 'static', ['a', '', 'b,c'], {1, 2, 3}, {'k': [1, 2], '@raw': []},
	{street: 'x', zips: [1]}, {street: null, zips: [7]}, (1, null), [1.5, NaN, -0.0], 0xdeadbeef, true, '2020-01-01',
	'12:34:56.789012345', '2020-01-01 12:00:00.123+0000', 1mo2d3ns, '::1', 1.0000001, 1e308, -3, 127,
	99999999999999999999999, 123e4567-e89b-12d3-a456-426614174000, blob_as_int(0x), 'asc');
INSERT INTO "Ex".wide (p, q, c, "Odd Name", b) VALUES (1, 'it''s, "q"', 50554d6e-29bb-11e5-b345-feff819cdc9e, '', 0x);
INSERT INTO "Ex".wide (p, q, s) VALUES (2, '', 'only static');
INSERT INTO "Ex".wide (p, q, c, f, db, "Odd Name") VALUES (3, '{"@raw": "00"}', 50554d6e-29bb-11e5-b345-feff819cdc9e,
	NaN, Infinity, '{"@raw": "00"}');
UPDATE "Ex".counts SET n = n + 5, m = m - 9, s = s + 3 WHERE p = 1 AND c = 'x';
UPDATE "Ex".counts SET n = n + 7 WHERE p = 1 AND c = 'y';
INSERT INTO "Ex".only (p) VALUES (1);
INSERT INTO "Ex".only (p) VALUES (-5);
INSERT INTO "Ex".timed (p, a, b, l) VALUES (1, 1, 'x', [1, 2]) USING TIMESTAMP 1000;
UPDATE "Ex".timed USING TIMESTAMP 2000 SET b = 'y' WHERE p = 1;
INSERT INTO "Ex".timed (p, a) VALUES (2, 7) USING TIMESTAMP 3000;
`

// must runs a command that has to succeed.
func must(t *testing.T, args ...string) string {
	t.Helper()
	code, out, errs := cqld(t, nil, args...)
	if code != 0 {
		t.Fatalf("%q: exit %d, %s", args, code, errs)
	}
	return out
}

// filesOf reads the files of an export.
func filesOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "imported-") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all[e.Name()] = string(text)
	}
	return all
}

// TestExportAndImport exports in each format, imports into another server, and exports that again: everything is the
// same.
func TestExportAndImport(t *testing.T) {
	from := cqltest.RunT(t).Addr()
	mustExecute(t, from, transferred)
	for _, format := range []string{"jsonl", "csv", "cql"} {
		for _, times := range []string{"--times=false", "--times=true"} {
			into := cqltest.RunT(t).Addr()
			first, second := filepath.Join(t.TempDir(), "first"), filepath.Join(t.TempDir(), "second")
			if out := must(t, "export", from, "Ex", first, "--format", format, times, "--parts", "3"); !strings.HasPrefix(out, "10 rows") {
				t.Errorf("%s", out)
			}
			must(t, "import", into, first)
			must(t, "export", into, "Ex", second, "--format", format, times, "--parts", "3")
			want, got := filesOf(t, first), filesOf(t, second)
			if len(want) != len(got) || len(want) != 2+3*4 {
				t.Errorf("%s: %d files and %d files", format, len(want), len(got))
			}
			for name, text := range want {
				if got[name] != text {
					t.Errorf("%s %s: %s is\n%s\nwant\n%s", format, times, name, got[name], text)
				}
			}
		}
	}
}

// TestInitOfExport starts a server with the statements of an export, whose data files sort before schema.cql.
func TestInitOfExport(t *testing.T) {
	from := cqltest.RunT(t).Addr()
	mustExecute(t, from, transferred)
	first, second := filepath.Join(t.TempDir(), "first"), filepath.Join(t.TempDir(), "second")
	must(t, "export", from, "Ex", first, "--format", "cql", "--parts", "3")
	log, ended, _ := startServe(t, nil, "--memory", "--init", first)
	must(t, "export", log.await(t, listening, ended), "Ex", second, "--format", "cql", "--parts", "3")
	want, got := filesOf(t, first), filesOf(t, second)
	for name, text := range want {
		if got[name] != text {
			t.Errorf("%s is\n%s\nwant\n%s", name, got[name], text)
		}
	}
}

// TestImportGoesOn breaks an import off behind a file, and imports counters twice.
func TestImportGoesOn(t *testing.T) {
	from, into := cqltest.RunT(t).Addr(), cqltest.RunT(t).Addr()
	mustExecute(t, from, transferred)
	dir := filepath.Join(t.TempDir(), "export")
	must(t, "export", from, "Ex", dir, "--parts", "1")
	bad := filepath.Join(dir, "Ex.timed.0001-of-0001.jsonl")
	whole, err := os.ReadFile(bad)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(bad, []byte(strings.Replace(string(whole), "\n", "\n{\n", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	code, _, errs := cqld(t, nil, "import", into, dir, "--jobs", "1")
	if code != exitFailed || !strings.Contains(errs, "Ex.timed.0001-of-0001.jsonl: row 2 ") {
		t.Errorf("a broken file: exit %d, %s", code, errs)
	}
	notes, err := filepath.Glob(filepath.Join(dir, "imported-into-*"))
	if err != nil || len(notes) != 1 {
		t.Fatal(notes, err)
	}
	text, err := os.ReadFile(notes[0])
	if err != nil || !strings.Contains(string(text), "done Ex.counts.0001-of-0001.jsonl\n") || strings.Contains(string(text), "done Ex.timed") {
		t.Errorf("the notes are %s, error %v", text, err)
	}
	again := strings.Replace(string(text), "done Ex.counts.0001-of-0001.jsonl\n", "", 1) // as if it was broken off there
	if err := os.WriteFile(notes[0], []byte(again), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(bad, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	if out := must(t, "import", into, dir); strings.HasPrefix(out, "10 rows") {
		t.Errorf("all is imported again: %s", out)
	}
	for _, query := range []string{`SELECT n, m, s FROM "Ex".counts`, `SELECT * FROM "Ex".timed`} {
		if got, want := mustExecute(t, into, query), mustExecute(t, from, query); got != want {
			t.Errorf("%s is\n%s\nwant\n%s", query, got, want)
		}
	}
}

// TestImportCut cuts the notes of an import anywhere, as a kill or a power cut may: it goes on, with what was begun
// behind, and all is there once.
func TestImportCut(t *testing.T) {
	from, into := cqltest.RunT(t).Addr(), cqltest.RunT(t).Addr()
	mustExecute(t, from, transferred)
	dir := filepath.Join(t.TempDir(), "export")
	must(t, "export", from, "Ex", dir, "--parts", "2")
	must(t, "import", into, dir, "--jobs", "1")
	notes, err := filepath.Glob(filepath.Join(dir, "imported-into-*"))
	if err != nil || len(notes) != 1 {
		t.Fatal(notes, err)
	}
	whole, err := os.ReadFile(notes[0])
	if err != nil {
		t.Fatal(err)
	}
	for at := 0; at < len(whole); at += 13 {
		if err := os.WriteFile(notes[0], whole[:at], 0o600); err != nil {
			t.Fatal(err)
		}
		must(t, "import", into, dir, "--jobs", "1")
		for _, query := range []string{`SELECT n, m, s FROM "Ex".counts`, `SELECT * FROM "Ex".timed`} {
			if got, want := mustExecute(t, into, query), mustExecute(t, from, query); got != want {
				t.Errorf("cut at %d, %s is\n%s\nwant\n%s", at, query, got, want)
			}
		}
		if out := must(t, "import", into, dir); !strings.HasPrefix(out, "nothing to import: all ") {
			t.Errorf("cut at %d, what was done is done again: %s", at, out)
		}
	}
}

// TestImportThroughOtherNode goes on through another node of the cluster.
func TestImportThroughOtherNode(t *testing.T) {
	from, ring := cqltest.RunT(t).Addr(), cqltest.RunT(t, cqltest.Ring(3))
	mustExecute(t, from, transferred)
	dir := filepath.Join(t.TempDir(), "export")
	must(t, "export", from, "Ex", dir)
	must(t, "import", ring.Node(1).Addr(), dir)
	if out := must(t, "import", ring.Node(2).Addr(), dir); !strings.HasPrefix(out, "nothing to import: all ") {
		t.Errorf("all is imported again: %s", out)
	}
}

// TestExportGoesOn leaves the files that are there, and refuses a folder of another export.
func TestExportGoesOn(t *testing.T) {
	addr := cqltest.RunT(t).Addr()
	mustExecute(t, addr, transferred)
	dir := filepath.Join(t.TempDir(), "export")
	must(t, "export", addr, "Ex.only", dir, "--parts", "2")
	missing := filepath.Join(dir, "Ex.only.0002-of-0002.jsonl")
	before := filesOf(t, dir)
	if err := os.Remove(missing); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := cqld(t, nil, "import", cqltest.RunT(t).Addr(), dir); code != exitFailed || !strings.Contains(errs, "not whole") {
		t.Errorf("an export that is not whole: exit %d, %s", code, errs)
	}
	if out := must(t, "export", addr, "Ex.only", dir, "--parts", "2"); !strings.HasSuffix(out, "; 1 of 2 files were done before\n") {
		t.Errorf("%s", out)
	}
	for name, text := range filesOf(t, dir) {
		if before[name] != text {
			t.Errorf("%s is %q, want %q", name, text, before[name])
		}
	}
	want := "nothing to export: all 2 files of this export are in " + dir + " already; to export again, remove the folder or choose another one\n"
	if out := must(t, "export", addr, "Ex.only", dir, "--parts", "2"); out != want {
		t.Errorf("again: %s, want %s", out, want)
	}
	code, _, errs := cqld(t, nil, "export", addr, "Ex.timed", dir, "--parts", "2")
	if code != exitFailed || !strings.Contains(errs, "with other parameters") {
		t.Errorf("into the folder of another export: exit %d, %s", code, errs)
	}
}

// TestImportAfterDrop names the file that says what was imported, where that is not there any more.
func TestImportAfterDrop(t *testing.T) {
	addr := cqltest.RunT(t).Addr()
	mustExecute(t, addr, transferred)
	dir := filepath.Join(t.TempDir(), "export")
	must(t, "export", addr, "Ex", dir, "--parts", "1")
	must(t, "import", addr, dir)
	notes, err := filepath.Glob(filepath.Join(dir, "imported-into-*"))
	if err != nil || len(notes) != 1 {
		t.Fatal(notes, err)
	}
	want := "nothing to import: all 4 files of " + dir + " were imported into this server before; to import them again, remove " + notes[0] + "\n"
	if out := must(t, "import", addr, dir); out != want {
		t.Errorf("again: %s, want %s", out, want)
	}
	mustExecute(t, addr, `DROP KEYSPACE "Ex"`)
	want = "cqld: there is no table Ex.counts, though " + notes[0] + " says that an earlier import has made it: if it was dropped " +
		"since, remove that file, and everything is imported again\n"
	if code, _, errs := cqld(t, nil, "import", addr, dir); code != exitFailed || errs != want {
		t.Errorf("after DROP: exit %d, %s, want %s", code, errs, want)
	}
	if err := os.Remove(notes[0]); err != nil {
		t.Fatal(err)
	}
	if out := must(t, "import", addr, dir); !strings.HasPrefix(out, "10 rows imported from "+dir) {
		t.Errorf("without the file: %s", out)
	}
	code, _, errs := cqld(t, nil, "import", addr, t.TempDir())
	if code != exitFailed || !strings.Contains(errs, "has no export: there is no export.json in it") {
		t.Errorf("an empty folder: exit %d, %s", code, errs)
	}
}

// TestTransferShare has the share that is done grow to 1, also inside of files.
func TestTransferShare(t *testing.T) {
	srv := cqltest.RunT(t)
	srv.Exec(t, "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}; "+
		"CREATE TABLE k.t (p int, q int, v text, PRIMARY KEY ((p, q)))")
	var rows strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&rows, "INSERT INTO k.t (p, q, v) VALUES (%d, 0, '%0400d');", i, i) // more than is read at a time
	}
	srv.Exec(t, rows.String())
	dir := filepath.Join(t.TempDir(), "export")
	server := transfer.Server{Addr: srv.Addr(), Timeout: time.Minute}
	var seen []transfer.Progress
	progress := func(p transfer.Progress) { seen = append(seen, p) }
	export := transfer.Export{Server: server, Keyspace: "k", Dir: dir, Format: "jsonl", Parts: 2, Jobs: 1, Progress: progress}
	load := transfer.Import{Server: server, Dir: dir, Jobs: 1, Progress: progress}
	checkShare(t, "export", &seen, export.Run)
	checkShare(t, "import", &seen, load.Run)
}

// checkShare runs a copy and looks at what it says of its progress.
func checkShare(t *testing.T, name string, seen *[]transfer.Progress, run func(context.Context) (transfer.Progress, error)) {
	t.Helper()
	*seen = nil
	done, err := run(t.Context())
	if err != nil || done.Share < 0.999 || done.Files != 2 || done.All != 2 || done.Skipped != 0 || done.Rows != 3000 {
		t.Fatalf("%s: %+v, error %v", name, done, err)
	}
	inside, last := 0, 0.0
	for _, p := range *seen {
		if p.Share < last || p.Share > 1 {
			t.Errorf("%s: the share is %v after %v", name, p.Share, last)
		}
		if last = p.Share; p.Share > 0.1 && p.Share < 0.45 {
			inside++
		}
	}
	if inside == 0 {
		t.Errorf("%s: nothing is said inside of the first file: %+v", name, *seen)
	}
}

// TestImportStopsAtStatement ends an import of statements at one that is refused, and goes on with the file when that
// is mended: statements are sent before those in front of them are answered.
func TestImportStopsAtStatement(t *testing.T) {
	addr := cqltest.RunT(t).Addr()
	mustExecute(t, addr, transferred)
	dir := filepath.Join(t.TempDir(), "export")
	must(t, "export", addr, "Ex.timed", dir, "--parts", "1", "--format", "cql")
	file := filepath.Join(dir, "Ex.timed.0001-of-0001.cql")
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	rows := mustExecute(t, addr, `SELECT * FROM "Ex".timed`)
	mustExecute(t, addr, `TRUNCATE "Ex".timed`)
	if err := os.WriteFile(file, append([]byte("INSERT INTO nowhere (a) VALUES (1);\n"), whole...), 0o600); err != nil {
		t.Fatal(err)
	}
	code, _, errs := cqld(t, nil, "import", addr, dir, "--no-schema")
	if code != exitFailed || !strings.Contains(errs, "import Ex.timed.0001-of-0001.cql: ") {
		t.Errorf("a wrong statement: exit %d, %s", code, errs)
	}
	if err := os.WriteFile(file, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	if out := must(t, "import", addr, dir, "--no-schema"); strings.HasPrefix(out, "nothing") {
		t.Errorf("the file is taken to be imported: %s", out)
	}
	if got := mustExecute(t, addr, `SELECT * FROM "Ex".timed`); got != rows {
		t.Errorf("there is\n%s\nwant\n%s", got, rows)
	}
}

// TestImportRunsOnlyDefinitions changes an export as somebody could who wants the server of its importer: other
// statements than definitions and writes of its rows are refused, unless --trust asks for them.
func TestImportRunsOnlyDefinitions(t *testing.T) {
	from := cqltest.RunT(t).Addr()
	mustExecute(t, from, transferred)
	for _, test := range []struct{ file, text, refusal string }{
		{"schema.cql", "CREATE ROLE evil WITH SUPERUSER = true AND LOGIN = true AND PASSWORD = 'x';", "--trust"},
		{"schema.cql", `DROP TABLE "Ex".counts;`, "--trust"},
		{"schema.cql", `/* ; */ INSERT INTO "Ex".timed (p) VALUES (99);`, "--trust"},
		{"schema.cql", `ALTER TABLE "Ex".timed WITH comment = 'x';`, "--trust"},
		{"schema.cql", "nonsense;", "no viable alternative"},
		{"Ex.timed.0001-of-0001.cql", `INSERT INTO "Ex".only (p) VALUES (99);`, "--trust"},
		{"Ex.timed.0001-of-0001.cql", `DELETE FROM "Ex".timed WHERE p = 1;`, "--trust"},
		{"Ex.timed.0001-of-0001.cql", "INSERT INTO system_auth.roles (role, is_superuser, can_login) VALUES ('evil', true, true);", "--trust"},
		{"export.json", `{"version": 1, "format": "cql", "parts": 1, "tables": ["system_auth.roles"]}`, "--trust"},
	} {
		dir := filepath.Join(t.TempDir(), "export")
		must(t, "export", from, "Ex", dir, "--parts", "1", "--format", "cql")
		path := filepath.Join(dir, test.file)
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if content = append(content, "\n"+test.text...); test.file == "export.json" {
			content = []byte(test.text)
		}
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		into := cqltest.RunT(t).Addr()
		// One file after the other: an import of counters that is broken off cannot be repeated.
		code, _, errs := cqld(t, nil, "import", into, dir, "--jobs", "1")
		if code != exitFailed || !strings.Contains(errs, test.refusal) {
			t.Errorf("%s: exit %d, %s", test.text, code, errs)
		}
		if strings.Contains(test.text, "(99)") {
			must(t, "import", into, dir, "--trust")
			if rows := mustExecute(t, into, `SELECT p FROM "Ex".only WHERE p = 99`) + mustExecute(t, into, `SELECT p FROM "Ex".timed WHERE p = 99`); !strings.Contains(rows, "99") {
				t.Errorf("%s: --trust does not run it: %s", test.text, rows)
			}
		}
	}
}

// TestExportsArePrivate checks that other users of the machine cannot read what export, COPY TO and CAPTURE write.
func TestExportsArePrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files have no permissions of this kind")
	}
	addr := cqltest.RunT(t).Addr()
	mustExecute(t, addr, transferred)
	dir := t.TempDir()
	export := filepath.Join(dir, "export")
	must(t, "export", addr, "Ex", export, "--parts", "1")
	must(t, "exec", addr, "-e", fmt.Sprintf(`COPY "Ex".only TO '%s'; CAPTURE '%s'; SELECT * FROM "Ex".only`,
		filepath.Join(dir, "only.csv"), filepath.Join(dir, "captured")))
	files := 0
	if err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		files++
		if info, err := e.Info(); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v, error %v", path, info.Mode(), err)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if files < 8 {
		t.Errorf("there are %d files", files)
	}
}

// Lines and heads have fields for times: an export with a column of such a name could not be imported.
func TestExportOfFieldNames(t *testing.T) {
	for _, column := range []string{"@writetime", "v@ttl"} {
		s := cqltest.RunT(t)
		mustExecute(t, s.Addr(), fmt.Sprintf(`CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};
			CREATE TABLE k.t (p int PRIMARY KEY, v text, %q text); INSERT INTO k.t (p, v, %[1]q) VALUES (1, 'a', 'b');`, column))
		for _, format := range []string{"csv", "jsonl"} {
			code, _, errs := cqld(t, nil, "export", s.Addr(), filepath.Join(t.TempDir(), "ex"), "--format", format)
			if code != 1 || !strings.Contains(errs, "k.t has a column "+column+", which is the name of a field") {
				t.Errorf("%s as %s: exit %d, %s", column, format, code, errs)
			}
		}
		dir := filepath.Join(t.TempDir(), "ex")
		must(t, "export", s.Addr(), dir, "--format", "cql")
		to := cqltest.RunT(t)
		must(t, "import", to.Addr(), dir)
		if out := must(t, "exec", to.Addr(), "-e", "SELECT * FROM k.t"); !strings.Contains(out, "(1 rows)") {
			t.Errorf("%s as cql: %s", column, out)
		}
	}
}

// The names of files are made of the format, so another one could lead out of the folder; without parts nothing would
// be imported.
func TestImportChecksManifest(t *testing.T) {
	s := cqltest.RunT(t)
	for _, text := range []string{
		`{"version": 1, "format": "/../../secret", "parts": 1, "tables": ["k.t"]}`,
		`{"version": 1, "format": "jsonl", "parts": -1, "tables": ["k.t"]}`,
	} {
		dir := t.TempDir()
		for name, content := range map[string]string{"export.json": text, "schema.cql": ""} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		code, _, errs := cqld(t, nil, "import", s.Addr(), dir, "--no-schema")
		if code != 1 || !strings.Contains(errs, "is not of an export that this version knows") {
			t.Errorf("%s: exit %d, %s", text, code, errs)
		}
	}
}
