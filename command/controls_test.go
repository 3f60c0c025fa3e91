package command

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// TestControls serves the controls over CQL and HTTP with --test-controls, on disk without snapshots, and not without
// the flag.
func TestControls(t *testing.T) {
	folder := t.TempDir()
	for _, test := range []struct {
		name     string
		args     []string
		controls bool
		snapshot string // what taking one says; "": it is taken
	}{
		{"memory", []string{"--memory", "--test-controls"}, true, ""},
		{"disk", []string{"--data", folder, "--test-controls"}, true, "this server keeps its data on disk: start it with --memory"},
		{"disk again", []string{"--data", folder}, false, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			log, ended, _ := startServe(t, nil, append(test.args, "--log-format", "json")...)
			addr := log.await(t, listening, ended)
			web := log.await(t, `"address":"([^"]+)"`, ended)
			if said := strings.Contains(log.String(), "every client can control this server"); said != test.controls {
				t.Errorf("the log is\n%s", log)
			}
			code, out, errs := cqld(t, nil, "exec", addr, "-e", "UPDATE cqld_control.clock SET advance = 30d WHERE key = 'local';"+
				"SELECT ahead FROM cqld_control.clock")
			if !test.controls {
				if code == 0 || !strings.Contains(errs, "keyspace cqld_control does not exist") {
					t.Errorf("exit %d, %s%s", code, out, errs)
				}
			} else if !strings.Contains(out, "720h") {
				t.Errorf("exit %d, %s%s", code, out, errs)
			}
			answer, err := http.Get("http://" + web + "/control/clock")
			if err != nil {
				t.Fatal(err)
			}
			defer answer.Body.Close()
			body, err := io.ReadAll(answer.Body)
			if err != nil || (answer.StatusCode == http.StatusOK) != test.controls {
				t.Errorf("HTTP answers %s: %s, error %v", answer.Status, body, err)
			}
			if !test.controls {
				return
			}
			code, _, errs = cqld(t, nil, "exec", addr, "-e", "INSERT INTO cqld_control.snapshots (name) VALUES ('a')")
			if (code == 0) != (test.snapshot == "") || !strings.Contains(errs, test.snapshot) {
				t.Errorf("a snapshot: exit %d, %s", code, errs)
			}
		})
	}
}

// TestControlsNeedLogins asks for a login where clients log in, and for the permissions that CQL asks for.
func TestControlsNeedLogins(t *testing.T) {
	log, ended, _ := startServe(t, nil, "--memory", "--test-controls", "--auth", "password", "--log-format", "json")
	addr := log.await(t, listening, ended)
	web := log.await(t, `"address":"([^"]+)"`, ended)
	code, out, errs := cqld(t, nil, "exec", addr, "--username", "cassandra", "--password", "cassandra", "-e", "CREATE ROLE reader WITH PASSWORD = 'r' AND LOGIN = true;"+
		"GRANT SELECT ON cqld_control.clock TO reader")
	if code != 0 {
		t.Fatalf("exit %d, %s%s", code, out, errs)
	}
	for _, test := range []struct {
		request, name, password string
		status                  int
	}{
		{"GET /control/clock", "", "", 401},
		{"PATCH /control/clock", "", "", 401},
		{"GET /control/openapi.json", "", "", 401},
		{"DELETE /control/faults", "", "", 401},
		{"GET /control/clock", "cassandra", "wrong", 401},
		{"GET /control/clock", strings.Repeat("a", 40_000), strings.Repeat("b", 8000), 401},
		{"GET /control/clock", "cassandra", "cassandra", 200},
		{"PATCH /control/clock", "cassandra", "cassandra", 200},
		{"GET /control/openapi.json", "reader", "r", 200},
		{"GET /control/clock", "reader", "r", 200},
		{"PATCH /control/clock", "reader", "r", 403},
		{"GET /control/faults", "reader", "r", 403},
		{"GET /control/../control/faults", "reader", "r", 403},
		{"GET /control//faults", "reader", "r", 403},
		{"DELETE /control/faults", "reader", "r", 403},
	} {
		method, path, _ := strings.Cut(test.request, " ")
		r, err := http.NewRequestWithContext(t.Context(), method, "http://"+web+path, strings.NewReader(`{"advance": "1h"}`))
		if err != nil {
			t.Fatal(err)
		}
		if test.name != "" {
			r.SetBasicAuth(test.name, test.password)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		if err != nil || answer.StatusCode != test.status || (test.status == 401) != (answer.Header.Get("WWW-Authenticate") != "") {
			t.Errorf("%s as %.10s: %s: %s, error %v, want %d", test.request, test.name, answer.Status, body, err, test.status)
		}
	}
	if !strings.Contains(log.String(), "a login failed") || !strings.Contains(log.String(), `"client":"127.0.0.1:`) {
		t.Errorf("the log is\n%s", log)
	}
}
