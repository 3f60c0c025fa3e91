package traffic_test

import (
	"bytes"
	"context"
	"flag"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/cqltest"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/protocol/client"
	"github.com/cqld/cqld/protocol/client/traffic"
)

// record names a Cassandra whose answers are to be recorded into testdata again.
var record = flag.String("record", "", "record testdata/cassandra.txt from the Cassandra at this address")

// recorder is a proxy and what it writes.
type recorder struct {
	addr string
	mu   sync.Mutex
	text bytes.Buffer
	stop func() string
}

// Write implements io.Writer.
func (r *recorder) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(b)
}

// newRecorder starts a proxy in front of a server. Its stop returns the recording.
func newRecorder(t *testing.T, to string) *recorder {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	r := &recorder{addr: l.Addr().String()}
	p := traffic.Proxy{To: to, Out: r, Dial: time.Minute, Told: func(err error) { t.Error(err) }}
	served := make(chan error, 1)
	go func() { served <- p.Serve(ctx, l) }()
	r.stop = sync.OnceValue(func() string {
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.text.String()
	})
	t.Cleanup(func() { r.stop() })
	return r
}

// talk says to a server what an application does: definitions, prepared statements, batches, pages, errors and what
// depends on the time.
func talk(t *testing.T, addr, keyspace string, o client.Options) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	conn, err := client.Dial(ctx, addr, o)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	query := func(text string) {
		if _, err := conn.Query(ctx, text, nil, nil); err != nil {
			if told, ok := cqlerr.As(err); !ok || told.Code != cqlerr.Invalid && told.Code != cqlerr.SyntaxError {
				t.Fatalf("%s: %v", text, err)
			}
		}
	}
	query("CREATE KEYSPACE " + keyspace + " WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
	query("USE " + keyspace)
	query("CREATE TABLE t (p int, c int, v text, at timestamp, id timeuuid, PRIMARY KEY (p, c))")
	insert, err := conn.Prepare(ctx,
		"INSERT INTO t (p, c, v, at, id) VALUES (?, ?, ?, toTimestamp(now()), now()) USING TTL 8640000", "")
	if err != nil {
		t.Fatal(err)
	}
	for i := range int32(25) {
		values := []types.Value{
			{Bytes: types.EncodeInt(i % 2)}, {Bytes: types.EncodeInt(i)}, {Bytes: types.EncodeText(strings.Repeat("x", int(i)))},
		}
		if _, err := conn.Execute(ctx, insert, values, nil); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := conn.Batch(ctx, protocol.LoggedBatch, []protocol.BatchChild{
		{Query: "INSERT INTO t (p, c, v) VALUES (3, 1, 'batch')"},
		{Prepared: true, ID: insert.ID, Values: []types.Value{
			{Bytes: types.EncodeInt(3)}, {Bytes: types.EncodeInt(2)}, {Bytes: types.EncodeText("batch")},
		}},
	}, nil); err != nil {
		t.Fatal(err)
	}
	sel, err := conn.Prepare(ctx, "SELECT p, c, v, at, id, ttl(v), writetime(v) FROM t WHERE p = ?", "")
	if err != nil {
		t.Fatal(err)
	}
	page := client.QueryOptions{PageSize: 5}
	for {
		r, err := conn.Execute(ctx, sel, []types.Value{{Bytes: types.EncodeInt(1)}}, &page)
		if err != nil {
			t.Fatal(err)
		}
		if page.PagingState = r.PagingState; len(r.PagingState) == 0 {
			break
		}
	}
	query("SELECT * FROM t")
	query("SELECT now(), uuid(), toTimestamp(now()), count(*) FROM t")
	query("SELECT * FROM system.local")
	query("SELECT nope FROM t")
	query("SELEC * FROM t")
	query("SELECT * FROM t WHERE v = 'x'")
	query("INSERT INTO t (p, c) VALUES (1, 100) IF NOT EXISTS")
	query("CREATE ROLE IF NOT EXISTS talker WITH PASSWORD = 'secret word' AND LOGIN = true")
	query("CREATE ROLE talker WITH PASWORD = 'secret word'")
}

// replay plays a recording against a server.
func replay(t *testing.T, recording, addr string) (traffic.Outcome, string) {
	t.Helper()
	var out strings.Builder
	r := traffic.Replay{Against: addr, Username: "cassandra", Password: "cassandra", Timeout: time.Minute, Out: &out}
	outcome, err := r.Run(t.Context(), strings.NewReader(recording))
	if err != nil {
		t.Fatal(err)
	}
	return outcome, out.String()
}

// TestProxy records connections of all kinds, which get the answers that they would get without the proxy, and plays
// them against another server. Passwords are not in the recording.
func TestProxy(t *testing.T) {
	r := newRecorder(t, cqltest.RunT(t, cqltest.WithAuth()).Addr())
	for name, o := range map[string]client.Options{
		"v3": {Version: protocol.V3}, "v4lz4": {Version: protocol.V4, Compression: protocol.LZ4},
		"v4snappy": {Version: protocol.V4, Compression: protocol.Snappy},
		"v5":       {Version: protocol.V5}, "v5lz4": {Version: protocol.V5, Compression: protocol.LZ4},
	} {
		o.Username, o.Password = "cassandra", "cassandra"
		talk(t, r.addr, "k_"+name, o)
	}
	recording := r.stop()
	for _, secret := range []string{"secret word", "0063617373616e647261", "cassandra\x00"} {
		for _, form := range []string{secret, strings.ToLower(hexOf(secret))} {
			if strings.Contains(recording, form) {
				t.Errorf("the recording has %q", form)
			}
		}
	}
	outcome, differences := replay(t, recording, cqltest.RunT(t, cqltest.WithAuth()).Addr())
	if want := (traffic.Outcome{Requests: 215, Compared: 200, System: 5, LeftOut: 10}); outcome != want {
		t.Errorf("%s\n%s", outcome, differences)
	}
}

func hexOf(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		b.WriteString(string("0123456789abcdef"[c>>4]) + string("0123456789abcdef"[c&15]))
	}
	return b.String()
}

const cassandra = "testdata/cassandra.txt"

// TestCassandra plays what was recorded from Cassandra 5.0.8.
func TestCassandra(t *testing.T) {
	if *record != "" {
		r := newRecorder(t, *record)
		talk(t, r.addr, "traffic", client.Options{Version: protocol.V5})
		text := strings.ReplaceAll(r.stop(), *record, "Cassandra 5.0.8")
		if err := os.WriteFile(cassandra, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	recording, err := os.ReadFile(cassandra)
	if err != nil {
		t.Fatal(err)
	}
	outcome, differences := replay(t, string(recording), cqltest.RunT(t).Addr())
	if outcome.Different > 0 || outcome.Compared < 40 {
		t.Errorf("%s\n%s", outcome, differences)
	}
}

// TestDifferences finds what another server answers otherwise: rows, errors, metadata and pages.
func TestDifferences(t *testing.T) {
	recording, err := os.ReadFile(cassandra)
	if err != nil {
		t.Fatal(err)
	}
	s := cqltest.RunT(t)
	s.Faults().Add(t, cqltest.Fault{Text: "count(*)", Act: cqltest.Overloaded()})
	s.Exec(t, "CREATE KEYSPACE traffic WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};"+
		"CREATE TABLE traffic.t (p int, c int, v ascii, at timestamp, id timeuuid, PRIMARY KEY (p, c));"+
		"INSERT INTO traffic.t (p, c, v) VALUES (1, -1, 'more')")
	outcome, differences := replay(t, string(recording), s.Addr())
	if outcome.Different < 9 {
		t.Errorf("%s\n%s", outcome, differences)
	}
	for _, want := range []string{
		"the recorded answer is RESULT schema change",
		"the markers are [traffic.t.p int, traffic.t.c int, traffic.t.v ascii], recorded are [",
		"there are 28 rows, recorded are 27",
		"row 1 is (", "the recorded answer is 1 rows, this one an error 0x1001: ",
	} {
		if !strings.Contains(differences, want) {
			t.Errorf("the differences do not have %q:\n%s", want, differences)
		}
	}
}

// TestWrongRecordings names the line that is wrong.
func TestWrongRecordings(t *testing.T) {
	for text, want := range map[string]string{
		"# fine\n\n@ 1 2 open\n> 1 2 v5 00 1 QUERY 00\nnonsense here and there\n": "line 5: it is no line of a recording",
		"> 1 2 v5 00 1 QUERY xx\n":   "line 1: its body is no hexadecimal number",
		"> 1 2 v5 00 1 NOTHING 00\n": "line 1: its opcode is unknown",
		"> 1 2 v5 00 QUERY 00\n":     "line 1: a message has 8 words, not 7",
		"> a 2 v5 00 1 QUERY 00\n":   "line 1: its second word is no number of a connection",
	} {
		_, err := (&traffic.Replay{}).Run(t.Context(), strings.NewReader(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %s", text, err, want)
		}
	}
}
