package prompt

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/protocol/client"
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
