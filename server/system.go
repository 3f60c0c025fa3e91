package server

import (
	"crypto/tls"
	"fmt"
	"net/netip"
	"strings"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/secret"
	"github.com/cqld/cqld/planner/exec"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/server/observe"
	"github.com/cqld/cqld/store"
	"github.com/cqld/cqld/store/system"
)

// SystemKeyspaces are the keyspaces that come with the server. A store has to be opened with them.
func SystemKeyspaces() []*schema.Keyspace { return system.Definitions() }

// registerSystem adds the virtual tables that show this server to the store.
func (s *Server) registerSystem(o Options) {
	var nodes func(store.Session) (system.Node, []system.Node)
	if s.ring != nil {
		nodes = s.ringOf
	}
	if s.cluster != nil {
		nodes = s.cluster.shown
	}
	system.Register(s.store, system.Options{
		Ring:        nodes,
		ClusterName: o.ClusterName,
		Datacenter:  o.Datacenter,
		Rack:        o.Rack,
		Advertise:   o.Advertise.Addr(),
		Port:        int(o.Advertise.Port()),
		Clients:     s.clients,
		Settings:    s.shownSettings(o),
		Monitor:     monitor{s},
	})
}

// ringOf returns the node of a session, and the others, as system tables show them. As in Cassandra, nodes that are
// down are among them.
func (s *Server) ringOf(session store.Session) (self system.Node, peers []system.Node) {
	r := s.ring
	r.mu.Lock()
	defer r.mu.Unlock()
	var up []bool // as the session's node sees them; nil: it was removed
	for _, n := range r.nodes {
		if n.Number == session.Node {
			up = n.view.Load().Up
		}
	}
	for i, n := range r.nodes {
		about := system.Node{
			Address: n.Address, StoragePort: r.topology.StoragePort(n.Node), HostID: n.HostID,
			Datacenter: n.Datacenter, Rack: n.Rack, Tokens: n.Tokens,
			Down: up != nil && !up[i],
		}
		if n.Number == session.Node {
			self = about
		} else {
			peers = append(peers, about)
		}
	}
	return self, peers
}

// clients are the connections to a session's node as system_views.clients shows them.
func (s *Server) clients(session store.Session) []system.Client {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]system.Client, 0, len(s.conns))
	for c := range s.conns {
		if !c.inside && (s.ring == nil || c.node.Number == session.Node) {
			list = append(list, c.describe())
		}
	}
	return list
}

// describe is the connection as system_views.clients shows it.
func (c *conn) describe() system.Client {
	client := system.Client{Address: c.remote, Stage: "established", Requests: c.served.Load()}
	if !c.session.shown.Load() {
		return client
	}
	client.Stage, client.Username = "ready", c.session.username()
	if c.server.roles != nil && c.session.user.Load() == nil {
		client.Stage, client.Username = "authenticating", ""
	}
	client.Hostname = hostname(c.remote.Addr())
	client.Options = c.session.options
	client.Driver = c.session.options[protocol.OptionDriverName]
	client.DriverVersion = c.session.options[protocol.OptionDriverVersion]
	client.Keyspace = c.session.currentKeyspace()
	if secured := c.secured.Load(); secured != nil {
		client.SSL, client.SSLProtocol = true, tlsVersions[secured.Version]
		client.SSLCipher = tls.CipherSuiteName(secured.CipherSuite)
	}
	client.ProtocolVersion = int(c.session.version)
	return client
}

// tlsVersions are the names that Java has for versions of TLS.
var tlsVersions = map[uint16]string{tls.VersionTLS12: "TLSv1.2", tls.VersionTLS13: "TLSv1.3"}

// hostname is the name of a client's host. Names of other hosts are not looked up, because that can take long: their
// address is shown.
func hostname(a netip.Addr) string {
	if a.IsLoopback() {
		return "localhost"
	}
	return a.String()
}

// monitor shows the load of the server in virtual tables.
type monitor struct{ *Server }

// Table returns the latencies of statements on a table, and the rows that they have read.
func (m monitor) Table(t *schema.Table) system.TableActivity { return m.latencies.Activity(t) }

// Batches returns how many partitions batches write to.
func (m monitor) Batches() system.Batches {
	return system.Batches{
		Logged: m.batches[exec.Logged].Distribution(), Unlogged: m.batches[exec.Unlogged].Distribution(),
		Counter: m.batches[exec.Counter].Distribution(),
	}
}

// Statements returns how many statements are prepared and were executed.
func (m monitor) Statements() system.Statements {
	prepared, _, evicted := m.preparedUsage()
	return system.Statements{
		Prepared: int64(prepared), Evicted: int64(evicted),
		Executes: int64(m.metrics.requests[protocol.OpExecute].Load()),
		Queries:  int64(m.metrics.requests[protocol.OpQuery].Load()),
	}
}

// Pools returns the limits of requests and of turns, and how much of them is used. Requests that the reader of a
// connection serves take no place.
func (m monitor) Pools() []system.Pool {
	var requests uint64
	for op := range m.metrics.requests {
		requests += m.metrics.requests[op].Load()
	}
	active, blocked := int(m.memory.goroutines.Load()), 0
	for _, c := range m.connections() {
		if c.waiting.Load() {
			blocked++
		}
	}
	turns, ended := m.scheduler.Turns()
	return []system.Pool{
		{
			Name: "Native-Transport-Requests", Active: active, Limit: m.limits.Requests, Blocked: blocked,
			BlockedAllTime: int64(m.metrics.waits.Load()), Completed: int64(requests) - int64(active),
		},
		{
			Name: "Turns", Active: turns, Limit: m.limits.Reads, Pending: int(m.scheduler.Waiting()), Completed: ended,
		},
	}
}

// Queries returns the requests that are being served in goroutines. Requests of readers are over in no time.
func (m monitor) Queries() (all []system.Query) {
	for _, c := range m.connections() {
		c.listed.mu.Lock()
		for r := c.listed.first; r != nil; r = r.listed.next {
			all = append(all, system.Query{
				ID:      fmt.Sprintf("%s/%d", c.remote, r.header.Stream),
				Running: monotonic() - r.began,
				Task:    task(r.message),
			})
		}
		c.listed.mu.Unlock()
	}
	return all
}

// maxTask is how much of a request's text is shown.
const maxTask = 4 << 10

// task describes a request as Cassandra does.
func task(m protocol.Request) string {
	switch m := m.(type) {
	case *protocol.Query:
		return fmt.Sprintf("QUERY %s [pageSize = %d] at consistency %s", shortened(m.Query), pageSize(&m.Parameters),
			m.Parameters.Consistency)
	case *protocol.Execute:
		return fmt.Sprintf("EXECUTE %x with %d values at consistency %s", m.ID, len(m.Parameters.Values),
			m.Parameters.Consistency)
	case *protocol.Prepare:
		return "PREPARE " + shortened(m.Query)
	case *protocol.Batch:
		var b strings.Builder
		b.WriteString("BATCH of [")
		for i := range m.Children {
			if b.Len() > maxTask {
				b.WriteString(", ...")
				break
			}
			if i > 0 {
				b.WriteString(", ")
			}
			if child := &m.Children[i]; child.Prepared {
				fmt.Fprintf(&b, "%x with %d values", child.ID, len(child.Values))
			} else {
				fmt.Fprintf(&b, "%s with %d values", shortened(child.Query), len(child.Values))
			}
		}
		fmt.Fprintf(&b, "] at consistency %s", m.Parameters.Consistency)
		return b.String()
	}
	return m.Opcode().String()
}

// pageSize is the size of pages that a request asks for; -1: it asks for none.
func pageSize(p *protocol.QueryParameters) int32 {
	if !p.Flags.Has(protocol.WithPageSize) {
		return -1
	}
	return p.PageSize
}

// shortened is a copy of the beginning of a text.
func shortened(text string) string {
	return strings.Clone(observe.Truncate(secret.Hide(text), maxTask))
}
