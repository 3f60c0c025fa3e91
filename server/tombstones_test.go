package server_test

import (
	"strings"
	"testing"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/protocol/client"
)

// A read that passes more than 100,000 tombstones fails, and its error has the warning too. The error is that of
// Cassandra 5.0.8, except for its port.
func TestTooManyTombstones(t *testing.T) {
	s := withTable(t)
	c := connect(t, s, client.Options{Version: protocol.V5})
	run := func(text string, values ...types.Value) {
		t.Helper()
		if _, err := c.Query(testContext(t), text, values, nil); err != nil {
			t.Fatal(err)
		}
	}
	run("CREATE TABLE ks.dead (k int, c int, v set<int>, PRIMARY KEY (k, c))")
	elems := make([][]byte, 0, 100_010)
	for i := range int32(cap(elems)) {
		elems = append(elems, types.EncodeInt(i))
	}
	set := types.NewSet(&types.Set{Elem: types.Int}, elems)
	run("UPDATE ks.dead SET v = v - ? WHERE k = 1 AND c = 1", types.Value{Bytes: set})
	m := &protocol.Query{Query: "SELECT c FROM ks.dead WHERE k = 1"}
	m.Parameters.Consistency = cqlerr.One
	a, err := c.Do(testContext(t), m)
	e, ok := cqlerr.As(err)
	if !ok || e.Code != cqlerr.ReadFailure {
		t.Fatalf("%v", err)
	}
	const text = "Operation failed - received 0 responses and 1 failures: READ_TOO_MANY_TOMBSTONES from /127.0.0.1:7000"
	d := e.Detail.(cqlerr.FailureDetail)
	if e.Message != text || d.Consistency != cqlerr.One || d.Received != 0 || d.BlockFor != 1 || d.DataPresent ||
		len(d.Reasons) != 1 || d.Reasons[0].Replica.String() != "127.0.0.1" || d.Reasons[0].Reason != 1 {
		t.Errorf("%q %+v", e.Message, d)
	}
	const warning = "Read 0 live rows and 100001 tombstone cells for a query of ks.dead (see tombstone_warn_threshold)"
	if got := strings.Join(a.Prefix.Warnings, "|"); got != warning {
		t.Errorf("warnings %q", got)
	}
}
