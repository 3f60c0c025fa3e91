package server_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/protocol/client"
)

// Conditional writes tell roles without UNMASK nothing of what masked columns hold: what compares or names such
// columns is refused as a SELECT is, unless the role has SELECT_MASKED, and what is answered leaves them out.
func TestConditionsHideMaskedColumns(t *testing.T) {
	s, _ := quiet(t)
	super := connect(t, s, asSuperuser(protocol.V5))
	run(t, super, createKeyspace,
		"CREATE TABLE ks.t (k int, c int, s text static MASKED WITH DEFAULT, secret text MASKED WITH DEFAULT, "+
			"m map<text, text> MASKED WITH DEFAULT, v int, PRIMARY KEY (k, c))",
		"CREATE TABLE ks.u (k int, c int MASKED WITH DEFAULT, v int, PRIMARY KEY (k, c))",
		"INSERT INTO ks.t (k, c, s, secret, m, v) VALUES (1, 1, 'hidden', 'hidden', {'hidden': 'hidden'}, 1)",
		"INSERT INTO ks.u (k, c, v) VALUES (1, 1, 1)")
	for role, more := range map[string]string{"plain": "", "comparing": ", SELECT_MASKED", "seeing": ", UNMASK"} {
		run(t, super, "CREATE ROLE "+role+" WITH LOGIN = true AND PASSWORD = 'secret'",
			"GRANT SELECT, MODIFY"+more+" ON KEYSPACE ks TO "+role)
	}
	const refusal = "User plain has no UNMASK nor SELECT_MASKED permission on table ks."
	const ofT, ofU = "t, cannot query masked columns ", "u, cannot query masked columns "
	const inT = " WHERE k = 1 AND c = 1 IF "
	tests := []struct{ cql, refused, comparing, seeing string }{ // what is shown beside [applied]
		{"UPDATE ks.t SET v = 2" + inT + "secret = 'x'", ofT + "[secret]", "", "secret"},
		{"UPDATE ks.t SET v = 2" + inT + "v = 9 AND secret > 'x'", ofT + "[secret]", "v", "v secret"},
		{"UPDATE ks.t SET v = 2" + inT + "m['a'] = 'x'", ofT + "[m]", "", "m"},
		{"UPDATE ks.t SET v = 2" + inT + "m CONTAINS 'x'", ofT + "[m]", "", "m"},
		{"UPDATE ks.t SET v = 2" + inT + "s = 'x' AND secret = 'y'", ofT + "[s, secret]", "", "secret s"},
		{"DELETE FROM ks.t" + inT + "secret = 'x'", ofT + "[secret]", "", "secret"},
		{"UPDATE ks.t SET v = 2" + inT + "v = 9", "", "v", "v"},
		{"INSERT INTO ks.t (k, c, v) VALUES (1, 1, 3) IF NOT EXISTS", "", "k c v", "k c s m secret v"},
		{"INSERT INTO ks.t JSON '{\"k\": 1, \"c\": 1}' IF NOT EXISTS", "", "k c v", "k c s m secret v"},
		{"BEGIN BATCH INSERT INTO ks.t (k, c, v) VALUES (1, 1, 3) IF NOT EXISTS; " +
			"UPDATE ks.t SET v = 3 WHERE k = 1 AND c = 2; APPLY BATCH", "", "k c v", "k c s m secret v"},
		{"BEGIN BATCH UPDATE ks.t SET v = 3 WHERE k = 1 AND c = 2; " +
			"UPDATE ks.t SET v = 2" + inT + "secret = 'x'; APPLY BATCH", ofT + "[secret]", "k c", "k c secret"},
		{"INSERT INTO ks.u (k, c, v) VALUES (1, 1, 3) IF NOT EXISTS", ofU + "[c]", "k v", "k c v"},
		{"UPDATE ks.u SET v = 2 WHERE k = 1 AND c = 1 IF v = 7", ofU + "[c]", "v", "v"},
		{"DELETE FROM ks.u WHERE k = 1 AND c = 1 IF v = 7", ofU + "[c]", "v", "v"},
	}
	for _, role := range []string{"plain", "comparing", "seeing"} {
		c := connect(t, s, client.Options{Version: protocol.V4, Username: role, Password: "secret"})
		check := func(text, want string, r *client.Result, err error) {
			t.Helper()
			if err != nil {
				t.Errorf("%s, as %s: %v", text, role, err)
				return
			}
			var shown []string
			for _, column := range r.Columns[1:] {
				shown = append(shown, column.Name)
			}
			if got := strings.Join(shown, " "); got != want {
				t.Errorf("%s, as %s, shows %q, not %q", text, role, got, want)
			}
			if len(r.Rows) != 1 || len(r.Rows[0]) != len(shown)+1 || string(r.Rows[0][0]) != "\x00" {
				t.Errorf("%s, as %s, answers %q", text, role, r.Rows)
			}
			for _, cell := range r.Rows[0] {
				if role != "seeing" && strings.Contains(string(cell), "hidden") {
					t.Errorf("%s, as %s, tells %q", text, role, r.Rows)
				}
			}
		}
		for _, test := range tests {
			want := test.comparing
			if role == "seeing" {
				want = test.seeing
			}
			r, err := c.Query(testContext(t), test.cql, nil, nil)
			p := prepare(t, c, test.cql, "")
			executed, executeErr := c.Execute(testContext(t), p, nil, nil)
			batched, batchErr := c.Batch(testContext(t), protocol.LoggedBatch, []protocol.BatchChild{{Prepared: true, ID: p.ID}}, nil)
			if strings.HasPrefix(test.cql, "BEGIN") {
				batched, batchErr = executed, executeErr // a batch has no batches
			}
			if role == "plain" && test.refused != "" {
				expectError(t, err, cqlerr.Unauthorized, refusal+test.refused)
				expectError(t, executeErr, cqlerr.Unauthorized, refusal+test.refused)
				expectError(t, batchErr, cqlerr.Unauthorized, refusal+test.refused)
				continue
			}
			check(test.cql, want, r, err)
			check(test.cql, want, executed, executeErr)
			if batchErr != nil || len(batched.Rows) != 1 ||
				role != "seeing" && strings.Contains(fmt.Sprintf("%s", batched.Rows), "hidden") {
				t.Errorf("a batch of %s, as %s, answers %v, %v", test.cql, role, batched, batchErr)
			}
		}
	}
	// what is not conditional tells nothing
	plain := connect(t, s, client.Options{Version: protocol.V4, Username: "plain", Password: "secret"})
	run(t, plain, "UPDATE ks.u SET v = 2 WHERE k = 1 AND c = 1", "DELETE FROM ks.u WHERE k = 1 AND c = 1",
		"UPDATE ks.t SET secret = 'mine', v = 5 WHERE k = 1 AND c = 1")
}
