package main

import (
	"context"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/cqld/cqld/cluster/tikv/tikvtest"
)

// metric returns the value of a metric of a server, or 0.
func metric(t *testing.T, p *program, name string) float64 {
	t.Helper()
	r, err := http.Get("http://" + p.http + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(name) + ` (.*)$`).FindSubmatch(text)
	if m == nil {
		return 0
	}
	value, err := strconv.ParseFloat(string(m[1]), 64)
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// TestCallMetrics has a server count the calls of its engine, and those that fail.
func TestCallMetrics(t *testing.T) {
	p := serve(t, tikvtest.New(t, 1), "--http", "127.0.0.1:0", "--lease", "1m", "--down-after", "1m")
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
	p.killed.Store(true)
	p.cut.Store(true)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := conn.Query(ctx, "INSERT INTO k.t (a, b) VALUES (2, 2)", nil, nil); err == nil {
		t.Error("a write is acknowledged that did not reach the cluster")
	}
	kinds := 0.0
	for _, kind := range []string{"refused", "unknown"} {
		kinds += metric(t, p, `cqld_engine_call_errors_total{call="commit",kind="`+kind+`"}`)
	}
	if kinds == 0 {
		t.Error("no commit has failed")
	}
}
