package system

import (
	"net/netip"
	"strconv"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/store"
)

// Client is one connection as system_views.clients shows it. What is empty is null.
type Client struct {
	Address                netip.AddrPort
	Hostname               string
	Stage                  string            // established, authenticating or ready
	Options                map[string]string // of STARTUP
	Driver, DriverVersion  string
	Keyspace               string
	ProtocolVersion        int
	Requests               int64
	Username               string
	SSL                    bool
	SSLProtocol, SSLCipher string
}

// fillClients makes system_views.clients.
func fillClients(n *node, w *writer, session store.Session, _ *schema.Catalog) {
	if n.Clients == nil {
		return
	}
	for _, c := range n.Clients(session) {
		w.partition(c.Address.Addr().Unmap().AsSlice())
		w.row(types.EncodeInt(int32(c.Address.Port())))
		if c.Options != nil {
			w.mapping("client_options", c.Options)
		}
		w.textOrNull("connection_stage", c.Stage)
		w.textOrNull("driver_name", c.Driver)
		w.textOrNull("driver_version", c.DriverVersion)
		w.textOrNull("hostname", c.Hostname)
		w.textOrNull("keyspace_name", c.Keyspace)
		w.int("protocol_version", c.ProtocolVersion)
		w.set("request_count", types.EncodeBigInt(c.Requests))
		w.textOrNull("ssl_cipher_suite", c.SSLCipher)
		w.bool("ssl_enabled", c.SSL)
		w.textOrNull("ssl_protocol", c.SSLProtocol)
		w.textOrNull("username", c.Username)
	}
}

// Setting is one row of system_views.settings.
type Setting struct {
	Name, Value string
	Null        bool // it has no value
}

// fillSettings makes system_views.settings: those settings of Cassandra's that this node has too.
func fillSettings(n *node, w *writer, session store.Session, _ *schema.Catalog) {
	port := int(n.self(session).Address.Port())
	for _, setting := range [][2]string{
		{"cluster_name", n.ClusterName},
		{"native_transport_port", strconv.Itoa(port)},
		{"num_tokens", strconv.Itoa(tokenCount)},
		{"partitioner", partitioner},
	} {
		w.partition(types.EncodeText(setting[0]))
		w.row()
		w.text("value", setting[1])
	}
	for _, setting := range n.Settings {
		w.partition(types.EncodeText(setting.Name))
		w.row()
		if !setting.Null {
			w.text("value", setting.Value)
		}
	}
}
