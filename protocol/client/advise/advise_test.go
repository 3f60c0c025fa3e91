package advise_test

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cqld/cqld/cql/parser"
	"github.com/cqld/cqld/cqltest"
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
		if err != nil {
			t.Fatalf("%s: %v", one.Text, err)
		}
	}
}

// TestFixtures runs each file of testdata, and compares what is found with what the file expects. What is proposed has
// to be valid.
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
			o.Source = advise.ReadSource(cqlfiles.File{Name: path, Text: f.text}, "app")
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
