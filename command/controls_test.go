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
