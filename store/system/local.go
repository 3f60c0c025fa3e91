package system

import (
	"encoding/binary"
	"net/netip"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/store"
)

// What drivers read to know which server they talk to.
const (
	releaseVersion  = "5.0.8"
	cqlVersion      = "3.4.7"
	protocolVersion = "5"
	partitioner     = "org.apache.cassandra.dht.Murmur3Partitioner"
)

// storagePort is the port at which nodes talk to each other. Nobody listens there, but the columns are not null
// in a node of Cassandra's.
const storagePort = 7000

// tokenCount is the number of tokens of a node: Cassandra's num_tokens.
const tokenCount = 16

// fillLocal makes the one row that says what node this is. Drivers connect to the address it has: it is
// the one the client dialled, unless the node was told what to advertise.
func fillLocal(n *node, w *writer, session store.Session, c *schema.Catalog) {
	self := n.self(session)
	address, port := self.Address.Addr(), int(self.Address.Port())
	w.partition(types.EncodeText("local"))
	w.row()
	w.text("bootstrapped", "COMPLETED")
	w.inet("broadcast_address", address)
	w.int("broadcast_port", self.StoragePort)
	w.text("cluster_name", n.ClusterName)
	w.text("cql_version", cqlVersion)
	w.text("data_center", self.Datacenter)
	w.int("gossip_generation", int(n.started.Unix()))
	w.uuid("host_id", self.HostID)
	w.inet("listen_address", address)
	w.int("listen_port", self.StoragePort)
	w.text("native_protocol_version", protocolVersion)
	w.text("partitioner", partitioner)
	w.text("rack", self.Rack)
	w.text("release_version", releaseVersion)
	w.inet("rpc_address", address)
	w.int("rpc_port", port)
	w.uuid("schema_version", c.Version())
	w.texts("tokens", self.tokenTexts()...)
	w.set("truncated_at", n.truncations())
}

// address is where clients of the session reach this node.
func (n *node) address(session store.Session) (netip.Addr, int) {
	address, port := session.LocalAddr.Addr().Unmap().WithZone(""), int(session.LocalAddr.Port())
	if n.Advertise.IsValid() {
		address = n.Advertise.Unmap()
	}
	if !address.IsValid() {
		address = netip.AddrFrom4([4]byte{127, 0, 0, 1})
	}
	if n.Port != 0 {
		port = n.Port
	}
	return address, port
}

// truncations has the tables that Cassandra empties when it starts: drivers rely on the column not being
// null. Each entry is the place in the commit log, which is none, and the time in milliseconds.
func (n *node) truncations() []byte {
	at := binary.BigEndian.AppendUint64(make([]byte, 12, 20), uint64(n.started.UnixMilli()))
	var keys, values [][]byte
	for _, name := range []string{"table_estimates", "size_estimates", "sstable_activity_v2"} {
		id := table("system", name).ID
		keys, values = append(keys, id[:]), append(values, at)
	}
	return types.NewMap(table("system", "local").Column("truncated_at").Type.(*types.Map), keys, values)
}
