package server

import (
	"net/netip"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/store/system"
)

// SystemKeyspaces are the keyspaces that come with the server: a store is to be opened with them.
func SystemKeyspaces() []*schema.Keyspace { return system.Definitions() }

// registerSystem adds the virtual tables that show this server to the store.
func (s *Server) registerSystem(o Options) {
	system.Register(s.store, system.Options{
		ClusterName: o.ClusterName,
		Datacenter:  o.Datacenter,
		Rack:        o.Rack,
		Advertise:   o.Advertise.Addr(),
		Port:        int(o.Advertise.Port()),
		Clients:     s.clients,
		Monitor:     monitor{s},
	})
}

// anonymous is the user of every connection: there are no logins.
const anonymous = "anonymous"

// clients are the connections as system_views.clients shows them.
func (s *Server) clients() []system.Client {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]system.Client, 0, len(s.conns))
	for c := range s.conns {
		if c.remote.IsValid() {
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
	client.Stage = "ready"
	client.Username = anonymous
	client.Hostname = hostname(c.remote.Addr())
	client.Options = c.session.options
	client.Driver = c.session.options[protocol.OptionDriverName]
	client.DriverVersion = c.session.options[protocol.OptionDriverVersion]
	client.Keyspace = c.session.currentKeyspace()
	client.ProtocolVersion = int(c.session.version)
	return client
}

// hostname is the name of a client's host. Names of other hosts are not looked up, because that can take long: their
// address is shown.
func hostname(a netip.Addr) string {
	if a.IsLoopback() {
		return "localhost"
	}
	return a.String()
}
