package server_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/internal/inside"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/protocol/client"
	"github.com/cqld/cqld/server"
)

// Statements of a table that has many rows in a partition: batches of several partitions may not be large.
const (
	createMany = "CREATE TABLE ks.many (p int, k int, v blob, PRIMARY KEY (p, k))"
	insertMany = "INSERT INTO ks.many (p, k, v) VALUES (1, ?, ?)"
	selectMany = "SELECT v FROM ks.many WHERE p = 1 AND k = ?"
)

// batchOf is a BATCH of n INSERTs into ks.many, from a key on, each with its key as value.
func batchOf(insert *client.Prepared, n, from int) *protocol.Batch {
	m := &protocol.Batch{Type: protocol.UnloggedBatch, Children: make([]protocol.BatchChild, n)}
	for i := range m.Children {
		k := from + i
		m.Children[i] = protocol.BatchChild{Prepared: true, ID: insert.ID, Values: values(intValue(k), textValue(fmt.Sprint(k)))}
	}
	m.Parameters.Consistency = cqlerr.One
	return m
}

// Batches of many statements are decoded when they have their turn; what is wrong with them is told as for short ones.
func TestLongBatches(t *testing.T) {
	s := withTable(t)
	run(t, connect(t, s, client.Options{}), createMany)
	for _, o := range []client.Options{{Version: protocol.V3}, {Version: protocol.V4}, {Version: protocol.V5, Compression: protocol.LZ4}} {
		t.Run(fmt.Sprintf("v%d %s", o.Version, o.Compression), func(t *testing.T) {
			c := connect(t, s, o)
			insert := prepare(t, c, insertMany, "")
			read := prepare(t, c, selectMany, "")
			const n = 5000
			from := int(o.Version) * 1_000_000
			if a, err := c.Do(testContext(t), batchOf(insert, n, from)); err != nil || what(a) != (&protocol.Void{}).String() {
				t.Fatalf("%v, %v", a, err)
			}
			for _, i := range []int{0, 1, n / 2, n - 1} {
				r, err := c.Execute(testContext(t), read, values(intValue(from+i)), nil)
				if err != nil || len(r.Rows) != 1 || string(r.Rows[0][0]) != fmt.Sprint(from+i) {
					t.Errorf("row %d: %+v, %v", from+i, r, err)
				}
			}
			for _, wrong := range []struct {
				name   string
				change func(*protocol.Batch)
				code   cqlerr.Code
				text   string
			}{
				{"a SELECT", func(m *protocol.Batch) {
					m.Children[n-1] = protocol.BatchChild{Query: "SELECT v FROM ks.t"}
				}, cqlerr.Invalid, "Invalid statement in batch: only UPDATE, INSERT and DELETE statements are allowed."},
				{"a value too few", func(m *protocol.Batch) {
					m.Children[n-1].Values = m.Children[n-1].Values[:1]
				}, cqlerr.Invalid, "There were 2 markers(?) in CQL but 1 bound variables"},
				{"an unknown statement", func(m *protocol.Batch) {
					m.Children[n-1].ID = make([]byte, 16)
				}, cqlerr.Unprepared, ""},
				{"a syntax error", func(m *protocol.Batch) {
					m.Children[n-1] = protocol.BatchChild{Query: "INSERT"}
				}, cqlerr.SyntaxError, ""},
			} {
				m := batchOf(insert, n, 9_000_000)
				wrong.change(m)
				_, err := c.Do(testContext(t), m)
				t.Log(wrong.name, err)
				expectError(t, err, wrong.code, wrong.text)
			}
			r, err := c.Execute(testContext(t), read, values(intValue(9_000_000)), nil)
			if err != nil || len(r.Rows) != 0 {
				t.Errorf("of a wrong batch something was written: %+v, %v", r, err)
			}
			malformed(t, c, batchOf(insert, n, 9_000_000))
		})
	}
}

// malformed sends a BATCH whose last child is of a kind that does not exist, and one that ends too early. The
// connection goes on behind each.
func malformed(t *testing.T, c *client.Conn, m *protocol.Batch) {
	t.Helper()
	envelope := protocol.AppendRequest(nil, protocol.Header{Version: c.Version(), Stream: 5}, nil, m)
	unknown := bytes.Clone(envelope)
	unknown[bytes.LastIndex(unknown, m.Children[0].ID)-3] = 7
	short := bytes.Clone(envelope[:len(envelope)-100])
	binary.BigEndian.PutUint32(short[protocol.HeaderSize-4:], uint32(len(short)-protocol.HeaderSize))
	for name, b := range map[string][]byte{"kind": unknown, "end": short} {
		if err := c.SendEnvelope(testContext(t), b); err != nil {
			t.Fatal(err)
		}
		a, err := c.Receive(testContext(t))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if e, ok := a.Response.(*protocol.Error); !ok || e.Err.Code != cqlerr.ProtocolError || a.Header.Stream != 5 {
			t.Errorf("%s: answer %s on stream %d", name, what(a), a.Header.Stream)
		}
		run(t, c, "SELECT v FROM ks.t WHERE k = 1")
	}
}

// Long batches can be traced.
func TestLongBatchTraced(t *testing.T) {
	s := withTable(t)
	c := connect(t, s, client.Options{Version: protocol.V4})
	run(t, c, createMany)
	insert := prepare(t, c, insertMany, "")
	m := batchOf(insert, 5000, 10)
	r, err := c.Batch(testContext(t), m.Type, m.Children, &client.QueryOptions{Tracing: true})
	if err != nil {
		t.Fatal(err)
	}
	session, activities := traceOf(t, c, r.TracingID)
	if string(session["request"]) != "Execute batch of CQL3 queries" ||
		!strings.Contains(strings.Join(activities, "|"), "Executing batch of 5000 statements") {
		t.Errorf("%q %q", session, activities)
	}
}

// pattern is n bytes that tell, now and then, where they are from.
func pattern(n, seed int) []byte {
	b := bytes.Repeat([]byte{byte(seed)}, n)
	for i := 0; i+12 <= n; i += 1000 {
		binary.BigEndian.PutUint32(b[i:], uint32(seed))
		binary.BigEndian.PutUint64(b[i+4:], uint64(i))
	}
	return b
}

// Large requests of several connections keep their values, whatever is done with the buffers they were read into.
func TestLargeWritesKeepTheirValues(t *testing.T) {
	e, withEngine := withHeldEngine()
	s := withTable(t, withEngine, inside.Limits(server.Limits{WriteTimeout: patience}))
	c := connect(t, s, client.Options{})
	run(t, c, createMany)
	fill(t, s, 1000, 1)
	scanning := connect(t, s, client.Options{})
	e.slow(2 * time.Millisecond) // so that batches wait for their turn while others are read
	sendAll(t, scanning, 4, queryOf(0, "SELECT c FROM ks.wide WHERE n = -1 ALLOW FILTERING"))
	eventually(t, "scans are under way", func() bool { return e.scanned.Load() > 0 })
	sizes := []int{10_000, 100_000, 10_000, 300_000, 10_000, 1_000_000, 10_000, 5_000_000, 10_000}
	const (
		atMost   = 250_000   // in a row
		readFrom = 1_000_000 // from here on, what is sent is only asked for: a server for tests does not write so much at a time
	)
	wires := []client.Options{
		{Version: protocol.V4},
		{Version: protocol.V4, Compression: protocol.LZ4},
		{Version: protocol.V5},
		{Version: protocol.V5, Compression: protocol.LZ4},
	}
	var all sync.WaitGroup
	written := make([][]int, len(wires)) // the size of each row
	for w, o := range wires {
		c := connect(t, s, o)
		insert := prepare(t, c, insertMany, "")
		all.Go(func() {
			for i, size := range sizes {
				if size > readFrom {
					m := queryOf(0, "SELECT (blob)? AS v FROM ks.t WHERE k = 1")
					m.Parameters.Flags |= protocol.WithValues
					m.Parameters.Values = values(textValue(string(pattern(size, w))))
					if err := c.Send(testContext(t), int16(i), 0, nil, m); err != nil {
						t.Error(err)
						return
					}
					continue
				}
				var children []protocol.BatchChild
				for left := size; left > 0; left -= atMost {
					k := w*1000 + len(written[w])
					n := min(left, atMost)
					written[w] = append(written[w], n)
					children = append(children, protocol.BatchChild{
						Prepared: true, ID: insert.ID, Values: values(intValue(k), textValue(string(pattern(n, k)))),
					})
				}
				var m protocol.Request = &protocol.Batch{
					Type: protocol.UnloggedBatch, Children: children, Parameters: protocol.QueryParameters{Consistency: cqlerr.One},
				}
				if len(children) == 1 && i%2 == 0 {
					e := &protocol.Execute{ID: insert.ID, ResultMetadataID: insert.ResultMetadataID}
					e.Parameters = protocol.QueryParameters{
						Consistency: cqlerr.One, Flags: protocol.WithValues, Values: children[0].Values,
					}
					m = e
				}
				if err := c.Send(testContext(t), int16(i), 0, nil, m); err != nil {
					t.Error(err)
					return
				}
			}
			for range sizes {
				a, err := c.Receive(testContext(t))
				if err != nil {
					t.Error(err)
					return
				}
				size := sizes[a.Header.Stream]
				switch m := a.Response.(type) {
				case *protocol.Void:
				case *protocol.Rows:
					if m.Count != 1 || !bytes.Equal(m.Cells[4:], pattern(size, w)) {
						t.Errorf("%d bytes come back as others", size)
					}
				default:
					t.Errorf("%d bytes: %s", size, what(a))
				}
			}
		})
	}
	all.Wait()
	e.slow(0)
	scanning.Close()
	read := prepare(t, c, selectMany, "")
	for w := range wires {
		for i, n := range written[w] {
			k := w*1000 + i
			r, err := c.Execute(testContext(t), read, values(intValue(k)), nil)
			if err != nil || len(r.Rows) != 1 || !bytes.Equal(r.Rows[0][0], pattern(n, k)) {
				t.Errorf("v%d %s: row %d of %d bytes is not what was written (%v)", wires[w].Version, wires[w].Compression, i, n, err)
			}
		}
	}
	awaitNothingInFlight(t, s)
}

// Writes whose outcome does not come in time are answered, and what they come to later is nobody's business. Their
// memory is given back then.
func TestWriteTimeouts(t *testing.T) {
	var log lockedBuffer
	e, withEngine := withHeldEngine()
	s := withTable(t, withEngine, inside.Log(zerolog.New(&log).Level(zerolog.WarnLevel)),
		inside.Limits(server.Limits{WriteTimeout: 50 * time.Millisecond, CounterTimeout: 50 * time.Millisecond}))
	c := connect(t, s, client.Options{})
	run(t, c, "CREATE TABLE ks.counted (k int PRIMARY KEY, n counter)")
	insert, count := "INSERT INTO ks.t (k, v) VALUES (7, 'late')", "UPDATE ks.counted SET n = n + 1 WHERE k = 1"
	children := func(text string) []protocol.BatchChild { return []protocol.BatchChild{{Query: text}} }
	one := protocol.QueryParameters{Consistency: cqlerr.One}
	writes := []struct {
		kind string
		m    protocol.Request
	}{
		{"SIMPLE", &protocol.Query{Query: insert, Parameters: one}},
		{"COUNTER", &protocol.Query{Query: count, Parameters: one}},
		{"BATCH", &protocol.Batch{Type: protocol.LoggedBatch, Children: children(insert), Parameters: one}},
		{"UNLOGGED_BATCH", &protocol.Batch{Type: protocol.UnloggedBatch, Children: children(insert), Parameters: one}},
		{"BATCH", &protocol.Query{Query: "BEGIN BATCH " + insert + " APPLY BATCH", Parameters: one}},
		{"UNLOGGED_BATCH", &protocol.Query{Query: "BEGIN UNLOGGED BATCH " + insert + " APPLY BATCH", Parameters: one}},
	}
	var conns []*client.Conn
	for _, v := range []protocol.Version{protocol.V3, protocol.V4, protocol.V5} {
		conns = append(conns, connect(t, s, client.Options{Version: v}))
	}
	e.hold()
	defer e.release()
	for _, c := range conns {
		for i, w := range writes {
			if err := c.Send(testContext(t), int16(i), 0, nil, w.m); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, c := range conns {
		for range writes {
			a, err := c.Receive(testContext(t))
			if err != nil {
				t.Fatal(err)
			}
			told, ok := a.Response.(*protocol.Error)
			want := cqlerr.TimeoutDetail{Consistency: cqlerr.One, BlockFor: 1, WriteType: writes[a.Header.Stream].kind}
			if !ok || told.Err.Code != cqlerr.WriteTimeout || told.Err.Detail != want ||
				told.Err.Message != "Operation timed out - received only 0 responses." {
				t.Errorf("%s, stream %d: %s, want %+v", c.Version(), a.Header.Stream, what(a), want)
			}
		}
	}
	if inside.Of(s).Metrics().BytesInFlight == 0 {
		t.Error("nothing is in flight while the engine has writes")
	}
	e.release()
	awaitNothingInFlight(t, s)
	for _, c := range conns {
		run(t, c, "SELECT v FROM ks.t WHERE k = 7") // the next answer is that of the next request
	}
	if text := log.String(); text != "" {
		t.Errorf("the log has %s", text)
	}
	if n := inside.Of(s).Metrics().Errors["write_timeout"]; n != uint64(len(conns)*len(writes)) {
		t.Errorf("%d timeouts are counted", n)
	}
}

// lockedBuffer is a log.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
