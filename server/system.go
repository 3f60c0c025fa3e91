package server

import (
	"crypto/tls"
	"net/netip"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/planner/guardrail"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/store"
	"github.com/cqld/cqld/store/system"
)

// SystemKeyspaces are the keyspaces that come with the server: a store is to be opened with them.
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
		Settings:    shownSettings(o.Settings),
		Monitor:     monitor{s},
	})
}

// shownSettings are settings as system_views.settings shows them.
func shownSettings(s *guardrail.Settings) []system.Setting {
	var all []system.Setting
	for _, shown := range s.Shown() {
		all = append(all, system.Setting(shown))
	}
	return all
}

// anonymous is the user of connections that have not logged in.
const anonymous = "anonymous"

// ringOf returns the node that a session is with, and the others, as system tables show them. All nodes are among them,
// as in Cassandra, also those that are down.
func (s *Server) ringOf(session store.Session) (self system.Node, peers []system.Node) {
	r := s.ring
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, n := range r.nodes {
		about := system.Node{
			Address: n.Address, StoragePort: r.topology.StoragePort(n.Node), HostID: n.HostID,
			Datacenter: n.Datacenter, Rack: n.Rack, Tokens: n.Tokens,
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
		if c.remote.IsValid() && (s.ring == nil || c.node.Number == session.Node) {
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
