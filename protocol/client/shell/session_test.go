package shell

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/cqld/cqld/cqltest"
)

// options are those of a session that reads a text.
func options(addr string, out, errs *bytes.Buffer) Options {
	return Options{
		Login: Login{Addr: addr, Timeout: 10 * time.Second}, RequestTimeout: 10 * time.Second, Format: FormatTable,
		Name: "<stdin>", Out: out, Err: errs,
	}
}

var (
	hostPort = regexp.MustCompile(`127\.0\.0\.1:\d+`)
	ranges   = regexp.MustCompile(`(?m)^ +-?\d+  \[.*\n`)
	shellTag = regexp.MustCompile(`\[cqlsh \S+ \|`)
	rates    = regexp.MustCompile(`(?m)^(Using \d+ child processes|Processed: .*)\n`)
	seconds  = regexp.MustCompile(` in \d.* seconds`)
)

// TestScripts compares the output of scripts with that of cqlsh 6.2.2 on Cassandra 5.0.
// compat_tests/drivers/cqlsh/scripts.py records the files.
func TestScripts(t *testing.T) {
	addr := cqltest.RunT(t).Addr()
	t.Chdir("testdata")
	scripts, err := filepath.Glob("*.cql")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("%d scripts, error %v", len(scripts), err)
	}
	for _, script := range scripts {
		t.Run(script, func(t *testing.T) {
			text, err := os.ReadFile(script)
			if err != nil {
				t.Fatal(err)
			}
			recorded, err := os.ReadFile(strings.TrimSuffix(script, ".cql") + ".txt")
			if err != nil {
				t.Fatal(err)
			}
			var out, errs bytes.Buffer
			o := options(addr, &out, &errs)
			o.In, o.Name = bytes.NewReader(text), script
			exit := "0"
			switch err := runSession(t.Context(), o); {
			case errors.Is(err, ErrStatements):
				exit = "2"
			case err != nil:
				t.Fatal(err)
			}
			got := out.String() + "== errors\n" + errs.String() + "== exit " + exit + "\n"
			for _, n := range []struct {
				match *regexp.Regexp
				by    string
			}{{ranges, ""}, {shellTag, "[cqlsh VERSION |"}, {rates, ""}, {seconds, " in N seconds"}, {
				hostPort,
				"127.0.0.1:PORT",
			}} {
				got = n.match.ReplaceAllString(got, n.by)
			}
			_, want, _ := strings.Cut(string(recorded), "\n")
			compareLines(t, got, want)
		})
	}
}

func runSession(ctx context.Context, o Options) error {
	s, err := Start(ctx, o)
	if err != nil {
		return err
	}
	defer s.Close()
	return s.RunInput(ctx)
}

// compareLines reports the first line in which two texts differ.
func compareLines(t *testing.T, got, want string) {
	t.Helper()
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || a[i] != b[i] {
			t.Fatalf("line %d differs; got\n%s\nwant\n%s", i+1, around(a, i), around(b, i))
		}
	}
}

// around is a line with those before and after it.
func around(lines []string, at int) string {
	return strings.Join(lines[max(0, min(at-3, len(lines))):min(at+4, len(lines))], "\n")
}

// TestText runs statements as -e does, and checks their output.
func TestText(t *testing.T) {
	addr := cqltest.RunT(t).Addr()
	folder := t.TempDir()
	t.Chdir(folder)
	if err := os.WriteFile("lines.csv", []byte("1,\"two\nlines\"\n2,\"say \"\"hi\"\"\"\n3\nx,bad\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("bad.csv", []byte("1,a\n2,b\nx,bad\n3,c\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, text, format string
		out, errs          string // parts
	}{
		{"no semicolon", "SELECT key FROM system.local", FormatTable, "\n key\n-------\n local\n\n(1 rows)\n", ""},
		{"incomplete", "SELECT 'a", FormatTable, "", "Incomplete statement: nothing was run"},
		{"timing", "SELECT key FROM system.local;", formatJSON, "[\n  {\"key\": \"local\"}\n]\n", ""},
		{"lines", "SELECT key, tokens FROM system.local WHERE key = 'x';", formatLines, "", ""},
		{
			"csv", "SELECT key AS \"a,b\", bootstrapped FROM system.local;", formatCSV,
			"\"a,b\",bootstrapped\nlocal,COMPLETED\n", "",
		},
		{"markdown", "SELECT key FROM system.local;", formatMarkdown, "| key |\n| --- |\n| local |\n", ""},
		{"vertical", "SELECT key FROM system.local;", formatVertical, "@ Row 1\n-----+-------\n key | local\n", ""},
		{"history", "HISTORY;", FormatTable, "", "<stdin>:1:There is no history"},
		{"help", "HELP copy;", FormatTable, "COPY table [(columns)] TO", ""},
		{
			"copy", `CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};
			CREATE TABLE k.t (k int PRIMARY KEY, v text);
			COPY k.t FROM 'lines.csv' WITH NUMPROCESSES = 1 AND TTL = 100; SELECT v, ttl(v) > 0 FROM k.t;
			COPY k.t (v) TO 'out.csv'; SELECT v FROM k.t`, formatLines,
			`{"v": "two\nlines"}`,
			"Failed to import 1 rows: ParseError - Failed to parse x : 'x' is no int,  given up without retries\n",
		},
		{
			"copy options", "COPY k.t TO 'out.csv' WITH MAXREQUESTS = 7", FormatTable, "",
			"MAXREQUESTS = '7' is not supported",
		},
		{"copy split", "COPY k.t TO 'split.csv' WITH MAXOUTPUTSIZE = 1", FormatTable, "2 rows exported to 2 files", ""},
		{
			"copy ends early", "COPY k.t FROM 'bad.csv' WITH RESUME = true AND MAXPARSEERRORS = 0 AND NUMPROCESSES = 1",
			FormatTable, "The first 2 rows are finished, and some after them may be; the same command continues.\n",
			"Exceeded maximum number of parse errors 0",
		},
		{
			"copy of another", "COPY k.t (k) FROM 'bad.csv' WITH RESUME = true", FormatTable, "",
			"import_k_t.resume is of another COPY",
		},
		{
			"copy continues", "COPY k.t FROM 'bad.csv' WITH RESUME = true", FormatTable,
			"Continuing after the first 2 rows", "Failed to process 1 rows",
		},
		{
			"copy skips", "COPY k.t FROM 'bad.csv' WITH MAXPARSEERRORS = 0 AND NUMPROCESSES = 1", FormatTable,
			"The first 2 rows are finished, and some after them may be; WITH SKIPROWS = 2 continues.\n", "Exceeded",
		},
		{"copy typed", "COPY k.t FROM STDIN WITH RESUME = true", FormatTable, "", "RESUME needs a file"},
		{
			"copy counters", `CREATE TABLE k.c (k int PRIMARY KEY, n counter);
			COPY k.c FROM 'bad.csv' WITH RESUME = true`, FormatTable, "", "RESUME is not possible with counters",
		},
		{"width", `\width x`, FormatTable, "", "takes a number of columns"},
		{"source", "SOURCE 'none.cql'", FormatTable, "", "Could not open 'none.cql': [Errno 2]"},
		{"capture", "CAPTURE 'out.txt'; SELECT key FROM system.local; CAPTURE OFF; SELECT bootstrapped FROM " +
			"system.local;", FormatTable, "COMPLETED", ""},
		{"login", "LOGIN somebody", FormatTable, "", "LOGIN without a password needs a terminal"},
		{"backslash", `\format csv`, FormatTable, "", ""},
		{"unknown", `\nope`, FormatTable, "", `There is no command \nope`},
	} {
		t.Run(test.name, func(t *testing.T) {
			var out, errs bytes.Buffer
			o := options(addr, &out, &errs)
			o.Format = test.format
			s, err := Start(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if err := s.RunText(t.Context(), test.text); err != nil && !errors.Is(err, ErrStatements) {
				t.Fatal(err)
			}
			if !strings.Contains(out.String(), test.out) || !strings.Contains(errs.String(), test.errs) ||
				test.errs == "" && errs.Len() > 0 {
				t.Errorf("it prints\n%s\nand the errors\n%s", out.String(), errs.String())
			}
		})
	}
	captured, err := os.ReadFile("out.txt")
	if err != nil || !strings.Contains(string(captured), "local") || strings.Contains(string(captured), "COMPLETED") {
		t.Errorf("captured: %s, error %v", captured, err)
	}
	copied, err := os.ReadFile("out.csv")
	if err != nil || !strings.Contains(string(copied), "\"two\nlines\"\n") || !strings.Contains(string(copied),
		`say \"hi\"`) {
		t.Errorf("copied: %q, error %v", copied, err)
	}
}

// TestTimeouts keeps the session after a statement that took too long.
func TestTimeouts(t *testing.T) {
	server := cqltest.RunT(t)
	var out, errs bytes.Buffer
	o := options(server.Addr(), &out, &errs)
	s, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Feed(ctx, "SELECT key FROM system.local;\n"); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(errs.String(), "cancelled") {
		t.Errorf("the errors are %s", errs.String())
	}
	if _, err := s.Feed(t.Context(), "SELECT key FROM system.local;\n"); err != nil || !strings.Contains(out.String(),
		"local") {
		t.Errorf("afterwards: %s, error %v", out.String(), err)
	}
}

func TestColumnize(t *testing.T) {
	if got := columnize([]string{"a", "bb", "ccc"}); got != "a  bb  ccc\n" {
		t.Errorf("%q", got)
	}
	if got := columnize([]string{strings.Repeat("x", 50), "b", strings.Repeat("y", 28)}); !strings.HasPrefix(got,
		strings.Repeat("x", 50)+"  yyyy") {
		t.Errorf("%q", got)
	}
}

func TestReplicas(t *testing.T) {
	var ring []vnode
	for i, n := range []*ringNode{
		{address: "a", datacenter: "d1", rack: "r1"},
		{address: "b", datacenter: "d1", rack: "r1"},
		{address: "c", datacenter: "d1", rack: "r2"},
		{address: "d", datacenter: "d2", rack: "r1"},
	} {
		ring = append(ring, vnode{int64(i) * 10, n})
	}
	for _, test := range []struct {
		replication map[string]string
		token       int64
		want        string
	}{
		{map[string]string{"class": "SimpleStrategy", "replication_factor": "2"}, 5, "bc"},
		{map[string]string{"class": "SimpleStrategy", "replication_factor": "3"}, 31, "abc"},
		{map[string]string{"class": "org.apache.cassandra.locator.NetworkTopologyStrategy", "d1": "2"}, -5, "ac"},
		{map[string]string{"class": "NetworkTopologyStrategy", "d1": "3", "d2": "1"}, -5, "acbd"},
	} {
		got := ""
		for _, n := range replicas(ring, test.token, test.replication) {
			got += n.address
		}
		if got != test.want {
			t.Errorf("%v, token %d: %s, want %s", test.replication, test.token, got, test.want)
		}
	}
}
