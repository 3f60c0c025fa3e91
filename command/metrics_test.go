package command

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/cqltest"
	"github.com/cqld/cqld/internal/inside"
	"github.com/cqld/cqld/protocol/client"
	"github.com/cqld/cqld/server"
	"github.com/cqld/cqld/store"
	"github.com/cqld/cqld/store/engine/disk"
)

// TestMetrics scrapes, runs statements and scrapes again.
func TestMetrics(t *testing.T) {
	s := cqltest.RunT(t)
	scrape := scraper(t, inside.Of(s).Server, inside.Of(s).Store)
	before := scrape()
	if strings.Contains(before, "cqld_statement_duration_seconds_count") {
		t.Error("there are times of statements before the first")
	}
	c, err := client.Dial(t.Context(), s.Addr(), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	query := func(cql string) {
		t.Helper()
		if _, err := c.Query(t.Context(), cql, nil, nil); err != nil {
			t.Fatalf("%s: %v", cql, err)
		}
	}
	query("CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
	query("CREATE TABLE ks.t (k int PRIMARY KEY, v text)")
	query("INSERT INTO ks.t (k, v) VALUES (1, 'a')")
	query("SELECT v FROM ks.t WHERE k = 1")
	query("SELECT v FROM ks.t WHERE k = 1")
	if _, err := c.Query(t.Context(), "SELECT nope FROM ks.t", nil, nil); err == nil {
		t.Error("a column that does not exist is selected")
	}
	after := scrape()
	for _, line := range []string{
		"# TYPE cqld_connections gauge",
		"cqld_connections 1",
		"# TYPE cqld_requests_total counter",
		`cqld_requests_total{opcode="QUERY"} 6`,
		`cqld_errors_total{kind="invalid"} 1`,
		"# TYPE cqld_statement_duration_seconds histogram",
		`cqld_statement_duration_seconds_count{keyspace="ks",statement="select",table="t"} 2`,
		`cqld_statement_duration_seconds_bucket{keyspace="ks",statement="insert",table="t",le="+Inf"} 1`,
		`cqld_statement_duration_seconds_count{keyspace="",statement="definition",table=""} 2`,
	} {
		if !strings.Contains(after, line+"\n") {
			t.Errorf("no line %s in\n%s", line, after)
		}
		if strings.Contains(before, line+"\n") && !strings.HasPrefix(line, "#") {
			t.Errorf("the line %s was there before the statements", line)
		}
	}
	for _, prefix := range []string{"process_start_time_seconds ", "cqld_goroutines ", "cqld_heap_bytes ", "cqld_gc_total "} {
		if !strings.Contains(after, "\n"+prefix) {
			t.Errorf("no line that begins with %q", prefix)
		}
	}
	query("DROP TABLE ks.t")
	if gone := scrape(); strings.Contains(gone, `table="t"`) {
		t.Errorf("a dropped table has metrics:\n%s", gone)
	}
}

// TestExposition would notice labels that break their line, and lines of a metric that are torn apart by another one,
// because Prometheus refuses to read such a page.
func TestExposition(t *testing.T) {
	all := make(exposition)
	s := sample{to: all}
	for _, table := range []string{"a", "b\n\"\\"} {
		s := s.with("table", table)
		s.gauge("rows", "Rows.", 1<<40)
		s.histogram("took_seconds", "Times.", []bucket{{0.5, 1}, {1, 3}}, 4, 6.25)
	}
	var lines []string
	for _, table := range []string{`a`, `b\n\"\\`} {
		lines = append(lines,
			`cqld_took_seconds_bucket{table="`+table+`",le="0.5"} 1`,
			`cqld_took_seconds_bucket{table="`+table+`",le="1"} 3`,
			`cqld_took_seconds_bucket{table="`+table+`",le="+Inf"} 4`,
			`cqld_took_seconds_sum{table="`+table+`"} 6.25`,
			`cqld_took_seconds_count{table="`+table+`"} 4`)
	}
	want := "# HELP cqld_rows Rows.\n# TYPE cqld_rows gauge\n" +
		`cqld_rows{table="a"} 1.099511627776e+12` + "\n" + `cqld_rows{table="b\n\"\\"} 1.099511627776e+12` + "\n" +
		"# HELP cqld_took_seconds Times.\n# TYPE cqld_took_seconds histogram\n" + strings.Join(lines, "\n") + "\n"
	answer := httptest.NewRecorder()
	all.writeTo(answer)
	if got := answer.Body.String(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// scraper returns a function that asks for /metrics.
func scraper(t *testing.T, srv *server.Server, st *store.Store) func() string {
	web := httptest.NewServer(metricsHandler(srv, st, nil, nil))
	t.Cleanup(web.Close)
	return func() string {
		t.Helper()
		answer, err := http.Get(web.URL)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		if err != nil || answer.StatusCode != http.StatusOK {
			t.Fatalf("status %d, error %v:\n%s", answer.StatusCode, err, body)
		}
		if kind := answer.Header.Get("Content-Type"); !strings.HasPrefix(kind, "text/plain; version=0.0.4") {
			t.Errorf("the content is %q", kind)
		}
		return string(body)
	}
}

// Metrics have the estimates of tables and what sweeps have done.
func TestStoreMetrics(t *testing.T) {
	st, _, err := openStore(t.Context(), &settings{memory: true}, nil, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	}()
	srv, err := server.New(server.Options{Store: st})
	if err != nil {
		t.Fatal(err)
	}
	table := st.Catalog().Table("system_auth", "roles")
	for _, name := range []string{"a", "b"} {
		m := store.NewMutation(table, types.EncodeText(name))
		m.Row(nil)
		m.Set(table.Column("can_login"), types.EncodeBoolean(true), st.Now().UnixMicro(), store.Expiry{})
		done := make(chan error, 1)
		st.Apply([]*store.Mutation{m}, func(err error) { done <- err })
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	if err := st.Sweep(context.Background()); err != nil {
		t.Fatal(err)
	}
	metrics := scraper(t, srv, st)()
	for _, line := range []string{
		"# TYPE cqld_table_rows gauge",
		`cqld_table_rows{keyspace="system_auth",table="roles"} 2`,
		`cqld_table_partitions{keyspace="system_auth",table="roles"} 2`,
		`cqld_table_tombstones{keyspace="system_auth",table="roles"} 0`,
		"cqld_sweep_rows_total 2",
	} {
		if !strings.Contains(metrics, line+"\n") {
			t.Errorf("no line %s", line)
		}
	}
}

var aMetric = regexp.MustCompile("`(cqld_[a-z_]+)`")

// TestDocumentedMetrics checks that a server has the metrics of docs/operating.md and of the dashboard.
func TestDocumentedMetrics(t *testing.T) {
	s := cqltest.RunT(t)
	if code, _, errs := cqld(t, nil, "exec", s.Addr(), "-e", "SELECT key FROM system.local; wrong;"); code != exitFailed {
		t.Fatal(errs)
	}
	answer := httptest.NewRecorder()
	onDisk, err := disk.Open(disk.Options{Dir: t.TempDir()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := onDisk.Close(); err != nil {
			t.Error(err)
		}
	}()
	metricsHandler(inside.Of(s).Server, inside.Of(s).Store, onDisk, nil).ServeHTTP(answer, httptest.NewRequest("GET", "/metrics", nil))
	served := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^# TYPE (cqld_\w+) `).FindAllStringSubmatch(answer.Body.String(), -1) {
		served[m[1]] = true
	}
	listed := map[string]bool{}
	text, err := os.ReadFile("../docs/operating.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range aMetric.FindAllStringSubmatch(string(text), -1) {
		listed[m[1]] = true
	}
	for _, name := range slices.Sorted(maps.Keys(served)) {
		if !listed[name] {
			t.Errorf("docs/operating.md does not list %s", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(listed)) {
		if !served[name] {
			t.Errorf("docs/operating.md lists %s, which /metrics does not have", name)
		}
	}
	checkDashboard(t, answer.Body.String())
}

// checkDashboard checks that the expressions of deploy/grafana.json name only metrics and labels that are served.
func checkDashboard(t *testing.T, metrics string) {
	t.Helper()
	text, err := os.ReadFile("../deploy/grafana.json")
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Panels []struct {
			ID          int
			Title, Type string
			Targets     []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(text, &dashboard); err != nil {
		t.Fatal(err)
	}
	labels := map[string][]string{} // by metric
	for _, m := range regexp.MustCompile(`(?m)^(\w+)(?:\{(.*)\})? `).FindAllStringSubmatch(metrics, -1) {
		labels[m[1]] = append(labels[m[1]], "instance")
		for _, label := range regexp.MustCompile(`(\w+)="`).FindAllStringSubmatch(m[2], -1) {
			labels[m[1]] = append(labels[m[1]], label[1])
		}
	}
	ids, expressions := map[int]bool{}, 0
	for _, p := range dashboard.Panels {
		if ids[p.ID] {
			t.Errorf("panel %q has the same id as another one", p.Title)
		}
		ids[p.ID] = true
		for _, target := range p.Targets {
			expressions++
			known := []string{}
			for _, name := range regexp.MustCompile(`\b(?:cqld|process)_\w+`).FindAllString(target.Expr, -1) {
				if labels[name] == nil {
					t.Errorf("panel %q: /metrics does not have %s", p.Title, name)
				}
				known = append(known, labels[name]...)
			}
			if len(known) == 0 {
				t.Errorf("panel %q: no metric in %s", p.Title, target.Expr)
			}
			for _, m := range regexp.MustCompile(`(\w+)=|by \(([^)]*)\)`).FindAllStringSubmatch(target.Expr, -1) {
				for name := range strings.SplitSeq(m[1]+m[2], ", ") {
					if !slices.Contains(known, name) {
						t.Errorf("panel %q: the metric has no label %s in %s", p.Title, name, target.Expr)
					}
				}
			}
		}
	}
	if expressions < 50 {
		t.Errorf("the dashboard has %d expressions", expressions)
	}
}
