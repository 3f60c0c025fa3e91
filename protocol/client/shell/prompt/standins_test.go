package prompt

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/cqltest"
	"github.com/cqld/cqld/internal/certificates"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/protocol/client"
	"github.com/cqld/cqld/protocol/client/shell"
)

// profile is a server as its public documentation describes it. A stand-in answers like it on top of a cqld: it refuses
// what the server does not have, and passes everything else on. This says nothing about the real servers.
type profile struct {
	name          string
	refusal       string // of version 5; "": it is spoken
	supported     []protocol.SupportedOption
	authenticator string             // "": no login
	local         map[string]string  // other values of system.local
	noColumns     []string           // columns that the tables of the system lack
	noTables      []string           // tables, or keyspaces with their point, in addition to notIn41Tables
	missing       string             // error for a table, with its name
	noDescribe    *cqlerr.Error      // for DESCRIBE
	untraced      bool               // requests are not traced
	writeLevel    cqlerr.Consistency // the only one; 0: there are others
	emptyPages    bool               // a first page has no rows
	hangUp        string             // statements with this text end the connection
	tls           bool
}

// noAlternative is the error of a parser without DESCRIBE.
var noAlternative = cqlerr.Syntaxf("line 1:0 no viable alternative at input 'DESCRIBE' ([DESCRIBE]...)")

// What the tables of the system lack in releases before 5.0, 4.1 and 4.0.
var (
	notIn41Tables  = []string{"column_masks", "cqld_control."}
	notIn41        = []string{"allow_auto_snapshot", "incremental_backups"}
	notIn40        = append(notIn41, "memtable")
	notIn311       = append(notIn40, "additional_write_policy", "read_repair", "broadcast_port", "listen_port", "rpc_port")
	notIn311Tables = []string{"peers_v2", "system_virtual_schema.", "system_views."}
)

var profiles = []profile{
	{
		// CASSANDRA-12142 made v5 a beta version in 3.10, which ended with 4.0. CASSANDRA-14825 added DESCRIBE to the server
		// in 4.0, CASSANDRA-7544 system.peers_v2, and CASSANDRA-7622 the virtual keyspaces.
		name:      "Cassandra 3.11",
		refusal:   "Beta version of the protocol used (5/v5-beta), but USE_BETA flag is unset",
		local:     map[string]string{"release_version": "3.11.19", "cql_version": "3.4.4"},
		noColumns: notIn311, noTables: notIn311Tables, missing: "unconfigured table %s", noDescribe: noAlternative,
	},
	{
		// 4.0 has v5, DESCRIBE and peers_v2. Memtables became an option of tables in 4.1 (CASSANDRA-17034).
		name: "Cassandra 4.0", local: map[string]string{"release_version": "4.0.17", "cql_version": "3.4.5"},
		noColumns: notIn40, missing: "table %s does not exist",
	},
	{
		// Masks of columns (CASSANDRA-17940) and snapshots and backups as options of tables came with 5.0.
		name: "Cassandra 4.1", local: map[string]string{"release_version": "4.1.9", "cql_version": "3.4.6"},
		noColumns: notIn41, missing: "table %s does not exist",
	},
	{
		// transport/server.cc knows v3 and v4, validation.cc has the text for tables, and docs/dev/protocol-extensions.md
		// the options of SUPPORTED. system.local has the release 3.0.8. Before 5.2 the server has no DESCRIBE.
		name: "ScyllaDB 5.1", refusal: "Invalid or unsupported protocol version: 5",
		supported: []protocol.SupportedOption{
			{Key: "CQL_VERSION", Values: []string{"3.3.1"}},
			{Key: "COMPRESSION", Values: []string{"lz4", "snappy"}},
			{Key: "SCYLLA_SHARD", Values: []string{"0"}},
			{Key: "SCYLLA_NR_SHARDS", Values: []string{"2"}},
			{Key: "SCYLLA_PARTITIONER", Values: []string{"org.apache.cassandra.dht.Murmur3Partitioner"}},
			{Key: "SCYLLA_SHARDING_ALGORITHM", Values: []string{"biased-token-round-robin"}},
			{Key: "SCYLLA_SHARDING_IGNORE_MSB", Values: []string{"12"}},
		},
		local:     map[string]string{"release_version": "3.0.8", "cql_version": "3.3.1"},
		noColumns: notIn311, noTables: notIn311Tables, missing: "unconfigured table %s", noDescribe: noAlternative,
	},
	{
		// Since 5.2 DESCRIBE is the server's, while the release stays 3.0.8.
		name: "ScyllaDB 6", refusal: "Invalid or unsupported protocol version: 5",
		local:     map[string]string{"release_version": "3.0.8", "cql_version": "3.3.1"},
		noColumns: notIn311, noTables: notIn311Tables, missing: "unconfigured table %s",
	},
	{
		// The developer guide: TLS on port 9142 and a login; CQL 3.11; writes are at LOCAL_QUORUM; pages count rows that were
		// read, so that they can be empty; the partitioner of an account can be the DefaultPartitioner, which has the
		// tokens of the RandomPartitioner; system has local, peers, size_estimates and prepared_statements, system_schema has
		// keyspaces, tables and columns only. There are no traces among them. Users report the texts about levels and about
		// functions that are not yet supported. How DESCRIBE, version 5 and requests for a trace are answered is a guess.
		name: "Amazon Keyspaces", refusal: "Invalid or unsupported protocol version (5); highest supported is 4", tls: true,
		authenticator: protocol.PasswordAuthenticator,
		local: map[string]string{
			"release_version": "3.11.2", "cql_version": "3.4.4", "cluster_name": "Amazon Keyspaces",
			"partitioner": "com.amazonaws.cassandra.DefaultPartitioner",
		},
		noColumns: notIn311, noTables: append(notIn311Tables, "system_traces.", "system_auth.", "system_schema.types",
			"system_schema.functions", "system_schema.aggregates", "system_schema.indexes", "system_schema.views"),
		missing: "unconfigured table %s", noDescribe: cqlerr.Invalidf("DESCRIBE is not yet supported."),
		untraced: true, writeLevel: cqlerr.LocalQuorum, emptyPages: true,
	},
	{
		// Its cqlsh prints release 4.0 and version 4 of the protocol. Issue 61 of datastax/cql-proxy says that there is no
		// DESCRIBE on the server; there are virtual keyspaces.
		name: "Astra DB", refusal: "Invalid or unsupported protocol version (5); supported versions are (3/v3, 4/v4)",
		authenticator: "com.datastax.bdp.cassandra.auth.DseAuthenticator",
		local:         map[string]string{"release_version": "4.0.0.6816", "cql_version": "3.4.5"},
		noColumns:     notIn40, missing: "table %s does not exist", noDescribe: noAlternative,
	},
}

// The login of stand-ins that ask for one.
const user, password = "user", "secret"

// standIn is a running stand-in.
type standIn struct {
	*profile
	backend string // address of the cqld
	run     sync.WaitGroup
}

// start listens; the stand-in ends with the test.
func (s *standIn) start(t *testing.T, config *tls.Config) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	if config != nil {
		l = tls.NewListener(l, config)
	}
	s.run.Go(func() {
		for {
			sock, err := l.Accept()
			if err != nil {
				return
			}
			s.run.Go(func() {
				defer sock.Close()
				c := &standInConn{standIn: s, sock: sock, prepared: map[string]string{}}
				c.segments.Limit = 1 << 24
				if err := c.serve(t.Context()); err != nil && !errors.Is(err, io.EOF) {
					t.Errorf("the stand-in: %v", err)
				}
			})
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		s.run.Wait()
	})
	return addr
}

// standInConn is a connection of a client.
type standInConn struct {
	*standIn
	sock      net.Conn
	server    *client.Conn
	enc       protocol.Encoder
	segments  protocol.Segments
	in        []byte // that was not decoded yet
	envelopes []byte // of a segment
	requests  protocol.Requests
	prepared  map[string]string // statements by id
}

// read returns the next envelope.
func (c *standInConn) read() (h protocol.Header, envelope []byte, err error) {
	buf := make([]byte, 4096)
	for {
		from := &c.in
		if c.enc.Segments {
			whole, n, err := c.segments.Next(c.in)
			if err != nil {
				return h, nil, err
			}
			c.envelopes, c.in = append(c.envelopes, whole...), c.in[n:]
			if from = &c.envelopes; n > 0 && len(whole) == 0 {
				continue
			}
		}
		if b := *from; len(b) >= protocol.HeaderSize {
			h = protocol.ParseHeader(b)
			if end := protocol.HeaderSize + int(h.Length); len(b) >= end {
				*from = b[end:]
				return h, b[:end], nil
			}
		}
		n, err := c.sock.Read(buf)
		if err != nil {
			return h, nil, err
		}
		c.in = append(slices.Clip(c.in), buf[:n]...)
	}
}

func (c *standInConn) write(stream int16, p *protocol.Prefix, m protocol.Response) error {
	_, err := c.sock.Write(c.enc.Flush(c.enc.Append(nil, stream, p, m)))
	return err
}

// serve answers requests one by one.
func (c *standInConn) serve(ctx context.Context) error {
	for {
		h, envelope, err := c.read()
		if err != nil {
			return err
		}
		c.enc.Version = h.Version
		if h.Version > protocol.V4 && c.refusal != "" {
			c.enc.Version = protocol.V4
			return c.write(h.Stream, nil, &protocol.Error{Err: cqlerr.Protocolf("%s", c.refusal)})
		}
		m, err := c.requests.Decode(h, envelope[protocol.HeaderSize:])
		if err != nil {
			return err
		}
		if q, ok := m.(*protocol.Query); ok && c.hangUp != "" && strings.Contains(q.Query, c.hangUp) {
			return nil
		}
		if own := c.answer(m); own != nil {
			if err := c.write(h.Stream, nil, own); err != nil {
				return err
			}
		} else if err := c.pass(ctx, h, m); err != nil {
			return err
		}
		if _, ok := m.(*protocol.Startup); ok && c.server == nil {
			if c.server, err = client.Dial(ctx, c.backend, client.Options{Version: h.Version}); err != nil {
				return err
			}
			defer c.server.Close()
			c.enc.Segments = h.Version.HasSegments()
		}
	}
}

// answer is the stand-in's own answer, or nil.
func (c *standInConn) answer(m protocol.Request) protocol.Response {
	switch m := m.(type) {
	case *protocol.Startup:
		if c.authenticator != "" {
			return &protocol.Authenticate{Authenticator: c.authenticator}
		}
		return &protocol.Ready{}
	case *protocol.AuthResponse:
		if string(m.Token) != "\x00"+user+"\x00"+password {
			return &protocol.Error{Err: &cqlerr.Error{Code: cqlerr.BadCredentials, Message: "Invalid credentials"}}
		}
		return &protocol.AuthSuccess{}
	case *protocol.Options:
		if c.supported != nil {
			return &protocol.Supported{Options: c.supported}
		}
	case *protocol.Query:
		return c.refuse(m.Query, m.Parameters.Consistency)
	case *protocol.Prepare:
		return c.refuse(m.Query, c.writeLevel)
	case *protocol.Execute:
		return c.refuse(c.prepared[string(m.ID)], m.Parameters.Consistency)
	}
	return nil
}

// refuse returns the error for a statement that the server would refuse, or nil.
func (c *standInConn) refuse(statement string, level protocol.Consistency) protocol.Response {
	first, _, _ := strings.Cut(strings.ToUpper(statement), " ")
	if c.noDescribe != nil && strings.HasPrefix(first, "DESC") {
		return &protocol.Error{Err: c.noDescribe}
	}
	_, after, _ := strings.Cut(statement+" ", "FROM ")
	table, _, _ := strings.Cut(after, " ")
	keyspace, short, _ := strings.Cut(table, ".")
	for _, name := range slices.Concat(notIn41Tables, c.noTables) {
		if name == keyspace+"." || name == table || name == short {
			return &protocol.Error{Err: cqlerr.Invalidf(c.missing, short)}
		}
	}
	if c.writeLevel != 0 && level != c.writeLevel && slices.Contains([]string{"INSERT", "UPDATE", "DELETE"}, first) {
		return &protocol.Error{Err: cqlerr.Invalidf("Consistency level %s is not supported for this operation. Supported "+
			"consistency levels are: %s", level, c.writeLevel)}
	}
	return nil
}

// afterEmpty is the paging state after an empty page.
const afterEmpty = "after the empty page"

// pass lets the cqld answer.
func (c *standInConn) pass(ctx context.Context, h protocol.Header, m protocol.Request) error {
	empty := false
	var parameters *protocol.QueryParameters
	statement := ""
	switch m := m.(type) {
	case *protocol.Query:
		parameters, statement = &m.Parameters, m.Query
	case *protocol.Execute:
		parameters, statement = &m.Parameters, c.prepared[string(m.ID)]
	case *protocol.Prepare:
		statement = m.Query
	}
	if parameters != nil && c.emptyPages && parameters.PageSize > 0 && strings.HasPrefix(statement, "SELECT") {
		if string(parameters.PagingState) == afterEmpty {
			parameters.PagingState, parameters.Flags = nil, parameters.Flags&^protocol.WithPagingState
		} else {
			empty = parameters.PagingState == nil
		}
	}
	flags := h.Flags
	if c.untraced {
		flags &^= protocol.FlagTracing
	}
	if err := c.server.Send(ctx, h.Stream, flags, nil, m); err != nil {
		return err
	}
	answer, err := c.server.Receive(ctx)
	if err != nil {
		return err
	}
	switch r := answer.Response.(type) {
	case *protocol.Prepared:
		c.prepared[string(r.ID)] = statement
	case *protocol.Rows:
		if err := c.change(r); err != nil {
			return err
		}
		if empty {
			r.Count, r.Cells, r.Metadata.PagingState = 0, nil, []byte(afterEmpty)
		}
		// Almost no row has a token of 64 bits if the partitioner is another one than Murmur3.
		if c.local["partitioner"] != "" && strings.Contains(statement, "token(") {
			r.Count, r.Cells, r.Metadata.PagingState = 0, nil, nil
		}
	}
	return c.write(h.Stream, answer.Prefix, answer.Response)
}

// change changes rows of the system's tables.
func (c *standInConn) change(r *protocol.Rows) error {
	columns := r.Metadata.Columns.Columns()
	if len(columns) == 0 || !strings.HasPrefix(columns[0].Keyspace, "system") {
		return nil
	}
	rows, err := r.Split()
	if err != nil {
		return err
	}
	var kept []protocol.ColumnSpec
	var cells []byte
	for i, row := range append(rows, nil) {
		for j, column := range columns {
			value, changed := c.local[column.Name]
			changed = changed && column.Table == "local"
			switch {
			case slices.Contains(c.noColumns, column.Name):
			case i == len(rows):
				kept = append(kept, column)
			case changed:
				cells = types.AppendElement(cells, []byte(value))
			default:
				cells = types.AppendElement(cells, row[j])
			}
		}
	}
	r.Metadata.Columns, r.Before, r.Cells = protocol.NewColumnSpecs(kept), nil, cells
	return nil
}

const hotels = `
CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 3};
CREATE TYPE shop.street (name text, number int);
CREATE TYPE shop.address (at frozen<street>, town text);
CREATE TABLE shop.orders (customer int, day date, line int, note text static, item text, price decimal,
	PRIMARY KEY ((customer, day), line)) WITH CLUSTERING ORDER BY (line DESC) AND comment = 'the ''orders''';
CREATE INDEX orders_item ON shop.orders (item);
CREATE CUSTOM INDEX orders_price ON shop.orders (price) USING 'StorageAttachedIndex';
CREATE MATERIALIZED VIEW shop.by_item AS SELECT customer, day, line, item FROM shop.orders
	WHERE item IS NOT NULL AND customer IS NOT NULL AND day IS NOT NULL AND line IS NOT NULL
	PRIMARY KEY (item, customer, day, line);
CREATE TABLE shop.dense (k int, c int, v int, PRIMARY KEY (k, c)) WITH COMPACT STORAGE;
CREATE TABLE shop.thin (k int PRIMARY KEY, b int, a text) WITH COMPACT STORAGE;
CREATE TABLE shop."Guests" (name text PRIMARY KEY, home frozen<address>, tags set<text>);
CREATE FUNCTION shop.twice(n int) RETURNS NULL ON NULL INPUT RETURNS int LANGUAGE java AS 'return n * 2;';
CREATE FUNCTION shop.plus(a int, b int) CALLED ON NULL INPUT RETURNS int LANGUAGE java AS 'return a + b;';
CREATE AGGREGATE shop.total(int) SFUNC plus STYPE int FINALFUNC twice INITCOND 0;
`

// TestStandIns runs commands of the shell on stand-ins for other servers.
func TestStandIns(t *testing.T) {
	backend := cqltest.RunT(t).Addr()
	t.Chdir(t.TempDir())
	authority, err := certificates.NewAuthority("stand-in")
	if err != nil {
		t.Fatal(err)
	}
	pair, err := authority.Server("127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	config, err := authority.ServerConfig(pair)
	if err != nil {
		t.Fatal(err)
	}
	setup := []string{hotels}
	for i := range 20 {
		setup = append(setup, fmt.Sprintf("INSERT INTO shop.orders (customer, day, line, item) "+
			"VALUES (%d, '2024-01-01', %d, 'x');", i%4, i))
	}
	if err := os.WriteFile("same.cql", []byte(hotels), 0o600); err != nil {
		t.Fatal(err)
	}
	plain := shellOptions(backend)
	if out := runShell(t, plain, nil, setup...); strings.Contains(out, "<stdin>:") {
		t.Fatal(out)
	}
	expected := map[string]string{}
	for _, command := range sameOutput {
		expected[command] = runShell(t, plain, nil, "USE shop;", command)
	}
	for _, p := range profiles {
		t.Run(p.name, func(t *testing.T) {
			o := plain
			s := &standIn{profile: &p, backend: backend}
			var secure *tls.Config
			if p.tls {
				secure, o.TLS = config, &tls.Config{RootCAs: authority.Pool()}
			}
			if p.authenticator != "" {
				o.Username, o.Password = user, password
			}
			o.Addr = s.start(t, secure)
			s.checkPing(t, &o)
			s.checkCommands(t, o)
			s.checkDescriptions(t, o, expected)
			s.checkColors(t, o)
			s.checkCompletion(t, o)
		})
	}
}

func shellOptions(addr string) shell.Options {
	return shell.Options{
		Login:          shell.Login{Addr: addr, Timeout: 10 * time.Second},
		RequestTimeout: 10 * time.Second, Format: shell.FormatTable, Name: "<stdin>",
	}
}

// runShell runs lines and returns their output, including errors. then is called before the session ends.
func runShell(t *testing.T, o shell.Options, then func(*shell.Session), lines ...string) string {
	t.Helper()
	var out bytes.Buffer
	o.Out, o.Err = &out, &out
	s, err := shell.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if then != nil {
		then(s)
	}
	for _, line := range lines {
		if _, err := s.Feed(t.Context(), line+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	return out.String()
}

// checkPing asks for SUPPORTED, unless the server wants a login first.
func (s *standIn) checkPing(t *testing.T, o *shell.Options) {
	t.Helper()
	want := " answers, protocol v4\n"
	switch {
	case s.authenticator != "":
		want = " answers and asks for a password\n"
	case s.refusal == "":
		want = " answers, protocol v5\n"
	}
	var out bytes.Buffer
	if err := shell.Ping(t.Context(), o.Addr, o.TLS, &out); err != nil || out.String() != o.Addr+want {
		t.Errorf("ping: %s, error %v", out.String(), err)
	}
}

// printedError matches an error of a statement.
var printedError = regexp.MustCompile(`(?m)^<stdin>:\d+:(.*)$`)

// checkCommands runs commands, and compares their errors with the expected ones.
func (s *standIn) checkCommands(t *testing.T, o shell.Options) {
	t.Helper()
	out := runShell(t, o, func(session *shell.Session) {
		if err := session.Greet(t.Context()); err != nil {
			t.Error(err)
		}
	}, "USE shop;", "CONSISTENCY LOCAL_QUORUM", "PAGING 7", "SELECT line FROM orders;", "SHOW HOST",
		`\plan SELECT * FROM orders WHERE customer = 1 AND day = '2024-01-01'`, `\diagram`, "TRACING ON",
		"SELECT line FROM orders;", "TRACING OFF", "SHOW SESSION 12345678-1234-1234-1234-123456789abc", `\top`, `\live`,
		"SHOW REPLICAS 5", "COPY orders (customer, day, line, item) TO 'rows.csv';",
		"COPY orders (customer, day, line, item) FROM 'rows.csv';", "CONSISTENCY ONE",
		"INSERT INTO orders (customer, day, line) VALUES (0, '2024-01-01', 0);", "SELECT count(*) FROM orders;",
		"LOGIN nobody 'wrong'", "SELECT key FROM system.local;")
	for _, want := range []string{
		"Connected to " + cmp.Or(s.local["cluster_name"], "Test Cluster") + " at ",
		"| Cassandra " + s.local["release_version"] + " | CQL spec " + s.local["cql_version"] + " | ",
		"(20 rows)", "Partitions  1\n", "┌ orders ", "20 rows exported to 1 files", "20 rows imported from 1 files",
		"    20\n", "\n local\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("there is no %q", want)
		}
	}
	var got []string
	for _, m := range printedError.FindAllStringSubmatch(out, -1) {
		got = append(got, m[1])
	}
	notRecorded := "This needs a cqld that was started with --test-controls, which records statements."
	want := []string{"Session 12345678-1234-1234-1234-123456789abc wasn't found.", notRecorded, notRecorded}
	if s.untraced {
		want = []string{
			"The server has not traced the statement.", "The server shows no traces: unconfigured table sessions",
			notRecorded, notRecorded,
		}
	}
	if s.writeLevel != 0 {
		want = append(want, `InvalidRequest: Error from server: code=2200 [Invalid query] message="Consistency level ONE is `+
			`not supported for this operation. Supported consistency levels are: LOCAL_QUORUM"`)
	}
	if s.authenticator != "" {
		want = append(want, fmt.Sprintf(`('Unable to connect to any servers', {'%s': AuthenticationFailed('Failed to `+
			`authenticate to %[1]s: Error from server: code=0100 [Bad credentials] message="Invalid credentials"')})`, o.Addr))
	}
	if !slices.Equal(got, want) {
		t.Errorf("the errors are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if t.Failed() {
		t.Log(out)
	}
}

// sameOutput are commands with the same output as on the cqld, except for options of tables. Servers without types,
// indexes, views and functions know the first ones only.
var sameOutput = []string{
	"SELECT day, line FROM orders LIMIT 5;", "DESCRIBE TABLES", `DESCRIBE "Guests"`, `DESC TABLE shop."Guests"`,
	"DESCRIBE ONLY KEYSPACE shop", "DESCRIBE TABLE nope", "DESCRIBE nope", "DESCRIBE nope.nope", "DESCRIBE KEYSPACE nope",
	"DESCRIBE INDEX nope", "DESCRIBE TYPE nope",

	"DESCRIBE KEYSPACE", "DESCRIBE shop", "DESCRIBE SCHEMA", "DESCRIBE COLUMNFAMILY orders", "DESCRIBE dense",
	"DESCRIBE thin", "DESCRIBE shop.by_item", "DESCRIBE INDEX orders_item", "DESCRIBE MATERIALIZED VIEW by_item",
	"DESCRIBE TYPE address", "DESCRIBE TYPES", "DESCRIBE FUNCTION twice", "DESCRIBE FUNCTIONS", "DESCRIBE AGGREGATE total",
	"DESCRIBE AGGREGATES", `\diff same.cql`,
}

// ofTablesOnly is how many of sameOutput need tables only.
const ofTablesOnly = 11

// beforeOptions matches the beginning of the options of a table or view.
var beforeOptions = regexp.MustCompile(`(?m)^(\)| ) WITH `)

// checkDescriptions compares DESCRIBE with what the shell prints on the cqld, whose definitions have more options.
func (s *standIn) checkDescriptions(t *testing.T, o shell.Options, expected map[string]string) {
	t.Helper()
	commands := sameOutput
	if slices.Contains(s.noTables, "system_schema.types") {
		commands = commands[:ofTablesOnly]
	}
	common := func(text string) string {
		lines := strings.Split(beforeOptions.ReplaceAllString(text, "$1 WITH\n    AND "), "\n")
		return strings.Join(slices.DeleteFunc(lines, func(line string) bool {
			option, _, _ := strings.Cut(strings.TrimPrefix(line, "    AND "), " = ")
			// The tables have no value of cdc unless it is set; the chances of read repair ended with 4.0.
			return option == "extensions" || option == "cdc" || slices.Contains(s.noColumns, option) ||
				strings.HasSuffix(option, "read_repair_chance") && slices.Contains(s.noColumns, "read_repair")
		}), "\n")
	}
	for _, command := range commands {
		got, want := common(runShell(t, o, nil, "USE shop;", command)), common(expected[command])
		if got != want {
			t.Errorf("%s:\n%s\nwant\n%s", command, got, want)
		}
	}
	out := runShell(t, o, nil, "DESCRIBE KEYSPACES", "DESCRIBE TABLES", "DESCRIBE CLUSTER", "DESCRIBE FULL SCHEMA",
		"DESCRIBE TABLE orders", "DESCRIBE TABLE shop.orders WITH INTERNALS")
	for _, want := range []string{
		"shop", "Keyspace shop\n-------------\ndense  \"Guests\"  orders  thin\n", "Partitioner: ",
		"CREATE KEYSPACE system_schema WITH ", "No keyspace specified and no current keyspace\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("there is no %q in\n%s", want, out)
		}
	}
	if (s.noDescribe != nil) != strings.Contains(out, "The server has no DESCRIBE") {
		t.Errorf("WITH INTERNALS:\n%s", out)
	}
}

// checkColors selects with colours, which the shell chooses by the kinds of columns.
func (s *standIn) checkColors(t *testing.T, o shell.Options) {
	t.Helper()
	o.Color = true
	out := runShell(t, o, nil, "SELECT day, line FROM shop.orders LIMIT 1;")
	if !strings.Contains(out, "\x1b[0;1;31mday") || !strings.Contains(out, "\x1b[0;1;36mline") {
		t.Errorf("%q", out)
	}
}

// checkCompletion completes names.
func (s *standIn) checkCompletion(t *testing.T, o shell.Options) {
	t.Helper()
	n, err := read(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	c := completer{names: n, keyspace: "shop"}
	for _, test := range [][3]string{
		{"USE sh", "", "shop"},
		{"SELECT * FROM or", "", "orders"},
		{"SELECT it", " FROM orders", "item"},
		{"SELECT * FROM system.lo", "", "local"},
	} {
		if _, words := c.complete(test[0], test[1]); !slices.Contains(strings.Fields(strings.Join(words, " ")), test[2]) {
			t.Errorf("%s completes to %q", test[0], words)
		}
	}
}

// TestGreetingWithoutAnswer greets on a server that ends the connection instead of describing itself. The session
// connects again.
func TestGreetingWithoutAnswer(t *testing.T) {
	s := &standIn{profile: &profile{hangUp: "system.local"}, backend: cqltest.RunT(t).Addr()}
	out := runShell(t, shellOptions(s.start(t, nil)), func(session *shell.Session) {
		if err := session.Greet(t.Context()); err != nil {
			t.Error(err)
		}
	}, "COPY system_schema.keyspaces (keyspace_name) TO STDOUT;", "SELECT keyspace_name FROM system_schema.keyspaces;")
	for _, want := range []string{"Connected to unknown at ", " rows)"} {
		if !strings.Contains(out, want) {
			t.Errorf("there is no %q in\n%s", want, out)
		}
	}
}

// TestTLSWanted connects to a server that takes TLS only, without it.
func TestTLSWanted(t *testing.T) {
	o := shellOptions(cqltest.RunT(t, cqltest.WithTLS()).Addr())
	if _, err := shell.Start(t.Context(), o); err == nil || !strings.Contains(err.Error(), "TLS") {
		t.Error(err)
	}
}
