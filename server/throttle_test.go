package server_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cqltest"
	"github.com/cqld/cqld/internal/inside"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/protocol/client"
	"github.com/cqld/cqld/server"
)

// Over the rate, clients are held back and warned, or get an error if they asked for that. Texts are Cassandra's.
func TestRequestsPerSecond(t *testing.T) {
	const perSecond = 20
	s := cqltest.RunT(t, inside.Limits(server.Limits{RequestsPerSecond: perSecond}))
	c := connect(t, s, client.Options{Version: protocol.V4})
	began := time.Now()
	const asked = perSecond + 4
	var warnings []string
	for range asked {
		r := run(t, c, "SELECT key FROM system.local")
		warnings = append(warnings, r.Warnings...)
	}
	// A second's worth is free.
	if took := time.Since(began); took < (asked-perSecond-1)*time.Second/perSecond {
		t.Errorf("%d requests at %d a second took %v", asked, perSecond, took)
	}
	if !slices.Contains(warnings, "Request breached global limit of 20 requests/second and triggered backpressure.") {
		t.Errorf("warnings %q", warnings)
	}
	throwing := connect(t, s, client.Options{
		Version: protocol.V4, Startup: []protocol.Option{{Key: protocol.OptionThrowOnOverload, Value: "1"}},
	})
	refused := 0
	for range 3 * perSecond {
		_, err := throwing.Query(testContext(t), "SELECT key FROM system.local", nil, nil)
		if err != nil {
			refused++
			expectError(t, err, cqlerr.Overloaded, "Request breached global limit of 20 requests/second. "+
				"Server is currently in an overloaded state and cannot accept more requests.")
		}
	}
	if refused == 0 {
		t.Error("no request was refused")
	}
	if _, err := c.Supported(testContext(t)); err != nil {
		t.Error(err)
	}
}

// The limits of statements are settings.
func TestStatementLimits(t *testing.T) {
	s := cqltest.RunT(t, inside.Limits(server.Limits{Statement: 200, Nesting: 20}))
	c := connect(t, s, client.Options{})
	run(t, c, "SELECT key FROM system.local"+strings.Repeat(" ", 100))
	_, err := c.Query(testContext(t), "SELECT key FROM system.local"+strings.Repeat(" ", 200), nil, nil)
	expectError(t, err, cqlerr.Invalid, "The statement is longer than 200 bytes")
	_, err = c.Prepare(testContext(t), "SELECT "+strings.Repeat("(int)", 30)+"1 FROM system.local", "")
	expectError(t, err, cqlerr.SyntaxError, "The statement is nested deeper than 20 levels")
}
