package main

import (
	"context"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cqld/cqld/cluster/tikv/tikvtest"
)

// metric returns the value of a metric of a server, or 0.
func metric(t *testing.T, p *program, name string) float64 {
	t.Helper()
	_, text := probe(t, p, "/metrics")
	m := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(name) + ` (.*)$`).FindStringSubmatch(text)
	if m == nil {
		return 0
	}
	value, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// TestOutage has a server count the calls of its engine and those that fail, and tell of a cluster that does not
// answer: it is not ready, lives, reads its own tables, and logs one line when that begins and one when it has ended.
func TestOutage(t *testing.T) {
	p := serve(t, tikvtest.New(t, 1), "--http", "127.0.0.1:0")
	conn := dial(t, p)
	ask(t, conn, "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
	ask(t, conn, "CREATE TABLE k.t (a int PRIMARY KEY, b int)")
	for call, text := range map[string]string{
		"commit": "INSERT INTO k.t (a, b) VALUES (1, 1)",
		"get":    "SELECT b FROM k.t WHERE a = 1",
		"view":   "SELECT b FROM k.t",
		"update": "UPDATE k.t SET b = 2 WHERE a = 1 IF b = 5",
	} {
		name := `cqld_engine_call_duration_seconds_count{call="` + call + `"}`
		before := metric(t, p, name)
		ask(t, conn, text)
		if after := metric(t, p, name); after <= before {
			t.Errorf("%s: %s was %v and is %v", text, name, before, after)
		}
	}
	if n := metric(t, p, `cqld_engine_call_duration_seconds_count{call="time"}`); n == 0 {
		t.Error("the time was never asked for")
	}
	failed := `cqld_engine_call_errors_total{call="commit",kind="refused"}`
	if n := metric(t, p, failed); n != 0 {
		t.Errorf("%v commits have failed", n)
	}
	if code, text := probe(t, p, "/ready"); code != http.StatusOK {
		t.Errorf("before the outage /ready answers %d, %s", code, text)
	}

	p.killed.Store(true) // errors may be logged
	p.cut.Store(true)
	writing := dial(t, p)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = writing.Query(t.Context(), "INSERT INTO k.t (a, b) VALUES (2, 2)", nil, nil) // or it fails
	}()
	began := time.Now()
	eventually(t, "/ready tells of the outage", func() bool {
		code, _ := probe(t, p, "/ready")
		return code == http.StatusServiceUnavailable
	})
	if took := time.Since(began); took > 5*time.Second { // two seconds, on a machine with nothing else to do
		t.Errorf("/ready tells of the outage after %v", took)
	}
	if code, text := probe(t, p, "/health"); code != http.StatusOK {
		t.Errorf("in the outage /health answers %d, %s", code, text)
	}
	for _, call := range []string{"probe", "commit"} { // before the engine gives up
		eventually(t, "timeouts are counted", func() bool {
			return metric(t, p, `cqld_engine_call_errors_total{call="`+call+`",kind="timeout"}`) > 0
		})
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := conn.Query(ctx, "SELECT b FROM k.t WHERE a = 1", nil, nil); err == nil {
		t.Error("rows are read in the outage")
	}
	if rows := ask(t, conn, "SELECT key FROM system.local"); len(rows) != 1 {
		t.Errorf("system.local has %v in the outage", rows)
	}
	p.cut.Store(false)
	eventually(t, "the server is ready again", func() bool {
		code, _ := probe(t, p, "/ready")
		return code == http.StatusOK
	})
	<-ended
	eventually(t, "the end is logged", func() bool { return strings.Contains(p.notes(), "answers again") })
	if lines := strings.Count(p.notes(), "\n"); lines != 2 || strings.Count(p.notes(), `"after":`) != 1 {
		t.Errorf("the log has of one outage:\n%s", p.notes())
	}
}

// probe asks a server for a path of HTTP.
func probe(t *testing.T, p *program, path string) (code int, text string) {
	t.Helper()
	r, err := http.Get("http://" + p.http + path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, string(body)
}
