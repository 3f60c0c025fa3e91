package server_test

import (
	"bytes"
	"crypto/md5"
	"errors"
	"strings"
	"testing"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/internal/inside"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/protocol/client"
	"github.com/cqld/cqld/server"
)

func prepare(t *testing.T, c *client.Conn, text, keyspace string) *client.Prepared {
	t.Helper()
	p, err := c.Prepare(testContext(t), text, keyspace)
	if err != nil {
		t.Fatalf("prepare %s: %v", text, err)
	}
	return p
}

// executeID executes by an id alone, as a client does that prepared the statement elsewhere.
func executeID(t *testing.T, c *client.Conn, id, metadataID []byte, flags protocol.ParameterFlags, values ...types.Value) (
	*client.Answer, error,
) {
	t.Helper()
	m := &protocol.Execute{ID: id, ResultMetadataID: metadataID}
	m.Parameters.Consistency, m.Parameters.Flags, m.Parameters.Values = cqlerr.One, flags|protocol.WithValues, values
	return c.Do(testContext(t), m)
}

// The id is the MD5 of the text, with the keyspace before it if the text depends on that; both ids execute,
// on any connection.
func TestPreparedIDs(t *testing.T) {
	s := withTable(t)
	for _, v := range []protocol.Version{protocol.V3, protocol.V4, protocol.V5} {
		other := connect(t, s, client.Options{Version: v})
		c := connect(t, s, client.Options{Version: v, Keyspace: "ks"})
		for text, want := range map[string]string{
			"SELECT v FROM t WHERE k = ?":      "ksSELECT v FROM t WHERE k = ?",
			" SELECT v FROM ks.t WHERE k = ?;": " SELECT v FROM ks.t WHERE k = ?;",
		} {
			p := prepare(t, c, text, "")
			if id := md5.Sum([]byte(want)); !bytes.Equal(p.ID, id[:]) {
				t.Errorf("v%d %s: id %x, want %x", v, text, p.ID, id)
			}
			for _, hashed := range []string{text, "ks" + text} {
				id := md5.Sum([]byte(hashed))
				a, err := executeID(t, other, id[:], p.ResultMetadataID, 0, intValue(1))
				if err != nil {
					t.Errorf("v%d execute MD5(%s): %v", v, hashed, err)
					continue
				}
				if rows, ok := a.Response.(*protocol.Rows); !ok || rows.Count != 1 {
					t.Errorf("v%d execute MD5(%s): %s", v, hashed, what(a))
				}
			}
		}
	}
}

// A text without keyspace that is prepared in several means the first one where it is executed by the MD5 of
// the text alone.
func TestPreparedInSeveralKeyspaces(t *testing.T) {
	s := withTable(t)
	plain := connect(t, s, client.Options{Version: protocol.V5})
	for _, text := range []string{
		"CREATE KEYSPACE other WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
		"CREATE TABLE other.t (k int PRIMARY KEY, v int)",
	} {
		if _, err := plain.Query(testContext(t), text, nil, nil); err != nil {
			t.Fatal(err)
		}
	}
	const text = "SELECT v FROM t WHERE k = ?"
	in := map[string]*client.Conn{
		"ks":    connect(t, s, client.Options{Version: protocol.V5, Keyspace: "ks"}),
		"other": connect(t, s, client.Options{Version: protocol.V5, Keyspace: "other"}),
	}
	id := md5.Sum([]byte(text))
	rows := func() int {
		t.Helper()
		a, err := executeID(t, plain, id[:], make([]byte, len(id)), 0, intValue(1))
		if err != nil {
			t.Fatal(err)
		}
		return a.Response.(*protocol.Rows).Count
	}
	for _, keyspace := range []string{"ks", "other", "ks", "other", "other"} {
		prepare(t, in[keyspace], text, "")
		if n := rows(); n != 1 {
			t.Errorf("%d rows after PREPARE in %s: not of the first keyspace", n, keyspace)
		}
	}
	if _, err := plain.Query(testContext(t), "DROP TABLE ks.t", nil, nil); err != nil {
		t.Fatal(err)
	}
	prepare(t, in["other"], text, "")
	if n := rows(); n != 0 {
		t.Errorf("%d rows: not of the keyspace that is left", n)
	}
}

// The second that a v5 request says it is has no sign: -1 is the last one.
func TestNowInSeconds(t *testing.T) {
	s := withTable(t)
	c := connect(t, s, client.Options{Version: protocol.V5})
	at := func(now int32, text string) int {
		t.Helper()
		m := &protocol.Query{Query: text}
		m.Parameters.Consistency, m.Parameters.Flags, m.Parameters.NowInSeconds = cqlerr.One, protocol.WithNow, now
		a, err := c.Do(testContext(t), m)
		if err != nil {
			t.Fatal(err)
		}
		if rows, ok := a.Response.(*protocol.Rows); ok {
			return rows.Count
		}
		return -1
	}
	at(1000000000, "INSERT INTO ks.t (k, v) VALUES (5, 'v') USING TTL 100")
	for now, want := range map[int32]int{0: 1, 1000000099: 1, 1000000100: 0, -1: 0} {
		if got := at(now, "SELECT * FROM ks.t WHERE k = 5"); got != want {
			t.Errorf("at %d: %d rows, want %d", now, got, want)
		}
	}
}

// The keyspace of a v5 PREPARE or QUERY counts, not that of USE; it has to exist.
func TestRequestKeyspace(t *testing.T) {
	s := withTable(t)
	c := connect(t, s, client.Options{Version: protocol.V5, Keyspace: "system"})
	p := prepare(t, c, "SELECT v FROM t WHERE k = 1", "ks")
	if id := md5.Sum([]byte("ksSELECT v FROM t WHERE k = 1")); !bytes.Equal(p.ID, id[:]) {
		t.Errorf("id %x, want %x", p.ID, id)
	}
	if _, err := c.Query(testContext(t), "SELECT * FROM t", nil, &client.QueryOptions{Keyspace: "ks"}); err != nil {
		t.Error(err)
	}
	_, err := c.Prepare(testContext(t), "SELECT * FROM ks.t", "nope")
	expectError(t, err, cqlerr.Invalid, "Keyspace 'nope' does not exist")
	_, err = c.Query(testContext(t), "SELECT * FROM ks.t", nil, &client.QueryOptions{Keyspace: "KS"})
	expectError(t, err, cqlerr.Invalid, "Keyspace 'KS' does not exist")
	_, err = c.Do(testContext(t), &protocol.Prepare{Query: "SELECT * FROM ks.t", Flags: protocol.PrepareWithKeyspace})
	expectError(t, err, cqlerr.Invalid, "Keyspace '' does not exist")
}

// UNPREPARED carries the id that was sent, of whatever length.
func TestUnprepared(t *testing.T) {
	s := withTable(t)
	c := connect(t, s, client.Options{})
	for _, id := range []string{"", "foobar", "0123456789abcdef"} {
		_, err := executeID(t, c, []byte(id), nil, 0)
		expectUnprepared(t, err, id)
		m := &protocol.Batch{Children: []protocol.BatchChild{{Prepared: true, ID: []byte(id)}}}
		m.Parameters.Consistency = cqlerr.One
		_, err = c.Do(testContext(t), m)
		expectUnprepared(t, err, id)
	}
}

func expectUnprepared(t *testing.T, err error, id string) {
	t.Helper()
	e, ok := cqlerr.As(err)
	if !ok || e.Code != cqlerr.Unprepared {
		t.Errorf("got %v, want UNPREPARED", err)
		return
	}
	if d, ok := e.Detail.(cqlerr.UnpreparedDetail); !ok || string(d.ID) != id {
		t.Errorf("UNPREPARED of %+v, want %q", e.Detail, id)
	}
}

// What changes about a table decides whether a statement has to be prepared again.
func TestPreparedInvalidation(t *testing.T) {
	s := withTable(t)
	c, other := connect(t, s, client.Options{Version: protocol.V5}), connect(t, s, client.Options{Version: protocol.V4})
	read := prepare(t, c, "SELECT * FROM ks.t WHERE k = ?", "")
	write := prepare(t, c, "INSERT INTO ks.t (k, v) VALUES (?, ?)", "")

	run(t, other, "CREATE TABLE ks.unrelated (k int PRIMARY KEY)", "DROP TABLE ks.unrelated", "TRUNCATE ks.t")
	if _, err := executeID(t, c, write.ID, write.ResultMetadataID, 0, intValue(1), textValue("two")); err != nil {
		t.Fatalf("execute after TRUNCATE: %v", err)
	}
	if r := run(t, c, "SELECT v FROM ks.t WHERE k = 1"); len(r.Rows) != 1 || string(r.Rows[0][0]) != "two" {
		t.Errorf("rows %q after TRUNCATE", r.Rows)
	}

	run(t, other, "DROP TABLE ks.t")
	_, err := executeID(t, c, read.ID, read.ResultMetadataID, 0, intValue(1))
	expectUnprepared(t, err, string(read.ID))
	run(t, other, "CREATE TABLE ks.t (k int PRIMARY KEY, v text, w int)")
	for _, p := range []*client.Prepared{read, write} {
		_, err = executeID(t, other, p.ID, nil, 0, intValue(1), textValue("x"))
		expectUnprepared(t, err, string(p.ID))
	}
	again := prepare(t, other, "SELECT * FROM ks.t WHERE k = ?", "")
	if !bytes.Equal(again.ID, read.ID) || again.Result.Len() != 3 {
		t.Errorf("prepared again: id %x, %d columns", again.ID, again.Result.Len())
	}

	// A client that knows the old columns is told the new ones.
	a, err := executeID(t, c, read.ID, read.ResultMetadataID, protocol.SkipMetadata, intValue(1))
	if err != nil {
		t.Fatal(err)
	}
	rows := a.Response.(*protocol.Rows)
	if rows.Metadata.NewMetadataID == nil || rows.Metadata.Columns.Len() != 3 || rows.Metadata.Skip {
		t.Errorf("metadata %+v", rows.Metadata)
	}
	a, err = executeID(t, c, read.ID, rows.Metadata.NewMetadataID, protocol.SkipMetadata, intValue(1))
	if err != nil {
		t.Fatal(err)
	}
	if rows := a.Response.(*protocol.Rows); !rows.Metadata.Skip || rows.Metadata.NewMetadataID != nil {
		t.Errorf("metadata %+v", rows.Metadata)
	}
	run(t, other, "DROP KEYSPACE ks")
	_, err = executeID(t, c, read.ID, nil, 0, intValue(1))
	expectUnprepared(t, err, string(read.ID))
	if m := inside.Of(s).Metrics(); m.PreparedStatements != 0 {
		t.Errorf("%d prepared statements are kept without their table", m.PreparedStatements)
	}
}

// Columns are left out if the client asks for that, before v5 always.
func TestSkipMetadata(t *testing.T) {
	s := withTable(t)
	for _, v := range []protocol.Version{protocol.V3, protocol.V4, protocol.V5} {
		c := connect(t, s, client.Options{Version: v})
		p := prepare(t, c, "SELECT * FROM ks.t WHERE k = ?", "")
		for flags, skip := range map[protocol.ParameterFlags]bool{0: false, protocol.SkipMetadata: true} {
			a, err := executeID(t, c, p.ID, p.ResultMetadataID, flags, intValue(1))
			if err != nil {
				t.Fatal(err)
			}
			if m := a.Response.(*protocol.Rows).Metadata; m.Skip != skip || m.NewMetadataID != nil || m.Columns.Len() != 2 {
				t.Errorf("v%d, asked to skip %v: %+v", v, skip, m)
			}
		}
		if v.HasResultMetadataID() {
			a, err := executeID(t, c, p.ID, []byte("made up"), protocol.SkipMetadata, intValue(1))
			if err != nil {
				t.Fatal(err)
			}
			if m := a.Response.(*protocol.Rows).Metadata; m.Skip || !bytes.Equal(m.NewMetadataID, p.ResultMetadataID) {
				t.Errorf("a made up metadata id: %+v", m)
			}
		}
		r, err := c.Query(testContext(t), "SELECT * FROM ks.t WHERE k = 1", nil, &client.QueryOptions{SkipMetadata: true})
		if err != nil || len(r.Columns) != 0 {
			t.Errorf("v%d QUERY: %+v, %v", v, r, err)
		}
	}
}

func TestValueCounts(t *testing.T) {
	s := withTable(t)
	c := connect(t, s, client.Options{})
	p := prepare(t, c, "SELECT v FROM ks.t WHERE k = ?", "")
	_, err := executeID(t, c, p.ID, p.ResultMetadataID, 0)
	expectError(t, err, cqlerr.Invalid, "there were 1 markers(?) in CQL but 0 bound variables")
	_, err = c.Execute(testContext(t), p, []types.Value{intValue(1)}, &client.QueryOptions{Names: []string{"zz"}})
	expectError(t, err, cqlerr.Invalid, "there were 1 markers(?) in CQL but 0 bound variables")
	_, err = c.Query(testContext(t), "SELECT v FROM ks.t WHERE k = ?", nil, nil)
	expectError(t, err, cqlerr.Invalid, "Invalid amount of bind variables")
	_, err = c.Query(testContext(t), "SELECT v FROM ks.t", []types.Value{intValue(1)}, nil)
	expectError(t, err, cqlerr.Invalid, "Invalid amount of bind variables")
	_, err = c.Batch(testContext(t), protocol.LoggedBatch,
		[]protocol.BatchChild{{Query: "INSERT INTO ks.t (k) VALUES (?)"}}, nil)
	expectError(t, err, cqlerr.Invalid, "There were 1 markers(?) in CQL but 0 bound variables")

	r, err := c.Query(testContext(t), "SELECT v FROM ks.t WHERE k = :key", []types.Value{textValue("?"), intValue(1)},
		&client.QueryOptions{Names: []string{"surplus", "key"}})
	if err != nil || len(r.Rows) != 1 || string(r.Rows[0][0]) != "one" {
		t.Errorf("named values: %+v, %v", r, err)
	}
}

// The warning about USE is sent once per connection.
func TestUseWarning(t *testing.T) {
	s := withTable(t)
	c := connect(t, s, client.Options{Version: protocol.V4, Keyspace: "ks"})
	warnings := func(text string) []string {
		a, err := c.Do(testContext(t), &protocol.Prepare{Query: text})
		if err != nil {
			t.Fatal(err)
		}
		return a.Prefix.Warnings
	}
	if got := warnings("SELECT * FROM ks.t"); len(got) != 0 {
		t.Errorf("qualified: %q", got)
	}
	got := warnings("SELECT * FROM t")
	if len(got) != 1 || !strings.HasPrefix(got[0], "`USE <keyspace>` with prepared statements") ||
		!strings.Contains(got[0], "Keyspace used: ks, statement keyspace: ks, statement id: ") {
		t.Errorf("unqualified: %q", got)
	}
	if got := warnings("SELECT k FROM t"); len(got) != 0 {
		t.Errorf("the second time: %q", got)
	}
	other := connect(t, s, client.Options{Version: protocol.V4})
	id := md5.Sum([]byte("ksSELECT * FROM t"))
	for i, want := range []int{1, 0} {
		a, err := executeID(t, other, id[:], nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		if len(a.Prefix.Warnings) != want {
			t.Errorf("execution %d from another keyspace: %q", i, a.Prefix.Warnings)
		}
	}
}

// What does not fit is evicted, and clients prepare it again.
func TestPreparedEviction(t *testing.T) {
	s := withTable(t, inside.Limits(server.Limits{PreparedBytes: 50_000}))
	c := connect(t, s, client.Options{})
	first := prepare(t, c, "SELECT v FROM ks.t WHERE k = ?", "")
	for i := range 100 {
		prepare(t, c, "SELECT v FROM ks.t WHERE k = ?"+strings.Repeat(" ", i+1), "")
	}
	_, err := executeID(t, c, first.ID, first.ResultMetadataID, 0, intValue(1))
	expectUnprepared(t, err, string(first.ID))
	if m := inside.Of(s).Metrics(); m.PreparedEvicted == 0 || m.PreparedBytes > 50_000 {
		t.Errorf("%+v", m)
	}
}

// What is larger than all that may be kept is refused: an EXECUTE would not find it, and clients would prepare it
// again and again.
func TestPreparedTooLarge(t *testing.T) {
	s := withTable(t, inside.Limits(server.Limits{PreparedBytes: 1 << 20}))
	c := connect(t, s, client.Options{})
	text := "SELECT v FROM ks.t WHERE k IN (1" + strings.Repeat(", 1", 500_000) + ")"
	_, err := c.Prepare(testContext(t), text, "")
	var refused *cqlerr.Error
	if !errors.As(err, &refused) || refused.Code != cqlerr.Invalid ||
		!strings.HasPrefix(refused.Message, "Prepared statement of size ") ||
		!strings.HasSuffix(refused.Message, " bytes is larger than allowed maximum of 1 MB: "+text[:200]+"...") {
		t.Errorf("%v", err)
	}
}

// A batch may have prepared and other statements, but only modifications.
func TestBatch(t *testing.T) {
	s := withTable(t)
	eachWire(t, s, func(t *testing.T, c *client.Conn) {
		p := prepare(t, c, "INSERT INTO ks.t (k, v) VALUES (?, ?)", "")
		prepared := protocol.BatchChild{Prepared: true, ID: p.ID, Values: []types.Value{intValue(10), textValue("ten")}}
		text := protocol.BatchChild{Query: "UPDATE ks.t SET v = ? WHERE k = 11", Values: []types.Value{textValue("eleven")}}
		for _, children := range [][]protocol.BatchChild{{prepared}, {text}, {prepared, text, prepared}, {}} {
			if _, err := c.Batch(testContext(t), protocol.UnloggedBatch, children, nil); err != nil {
				t.Errorf("%d statements: %v", len(children), err)
			}
		}
		r := run(t, c, "SELECT v FROM ks.t WHERE k IN (10, 11)")
		if len(r.Rows) != 2 || string(r.Rows[0][0])+string(r.Rows[1][0]) != "teneleven" {
			t.Errorf("rows %q", r.Rows)
		}
		run(t, c, "DELETE FROM ks.t WHERE k IN (10, 11)")
		for _, text := range []string{
			"SELECT * FROM ks.t", "USE ks", "BEGIN BATCH INSERT INTO ks.t (k) VALUES (1); APPLY BATCH",
		} {
			_, err := c.Batch(testContext(t), protocol.LoggedBatch, []protocol.BatchChild{prepared, {Query: text}}, nil)
			expectError(t, err, cqlerr.Invalid,
				"Invalid statement in batch: only UPDATE, INSERT and DELETE statements are allowed.")
		}
	})
}
