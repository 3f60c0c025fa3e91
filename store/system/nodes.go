package system

import (
	"crypto/md5"
	"encoding/binary"
	"net/netip"
	"slices"
	"strconv"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/store"
)

// Node is one node of the cluster.
type Node struct {
	Address     netip.AddrPort // that clients connect to
	StoragePort int
	HostID      [16]byte
	Datacenter  string
	Rack        string
	Tokens      []int64 // in order

	Down          bool     // it gives no sign of life
	SchemaVersion [16]byte // of its definitions; zero: that of the node that is asked
}

// schemaVersion is the version of a node's definitions. The node that is asked has a catalog.
func (n *Node) schemaVersion(c *schema.Catalog) [16]byte {
	if n.SchemaVersion == [16]byte{} {
		return c.Version()
	}
	return n.SchemaVersion
}

// self is the node that a session is with.
func (n *node) self(session store.Session) Node {
	if n.Ring != nil {
		self, _ := n.Ring(session)
		return self
	}
	address, port := n.address(session)
	return Node{
		Address: netip.AddrPortFrom(address, uint16(port)), StoragePort: storagePort, HostID: n.hostID,
		Datacenter: n.Datacenter, Rack: n.Rack, Tokens: n.tokens(),
	}
}

func (n *node) peers(session store.Session) []Node {
	if n.Ring == nil {
		return nil
	}
	_, peers := n.Ring(session)
	return peers
}

// tokens are the places on the ring of a node that is alone. They follow from its host id, so that they stay.
func (n *node) tokens() []int64 {
	tokens := make([]int64, tokenCount)
	for i := range tokens {
		sum := md5.Sum(append(n.hostID[:len(n.hostID):len(n.hostID)], byte(i)))
		tokens[i] = int64(binary.BigEndian.Uint64(sum[:]))
	}
	slices.Sort(tokens)
	return tokens
}

// tokenTexts are the tokens as drivers read them.
func (n *Node) tokenTexts() []string {
	texts := make([]string, len(n.Tokens))
	for i, token := range n.Tokens {
		texts[i] = strconv.FormatInt(token, 10)
	}
	return texts
}

// fillPeers makes system.peers, by which drivers find the other nodes at one port.
func fillPeers(n *node, w *writer, session store.Session, c *schema.Catalog) {
	for _, p := range n.peers(session) {
		address := p.Address.Addr()
		w.partition(address.AsSlice())
		w.row()
		w.text("data_center", p.Datacenter)
		w.uuid("host_id", p.HostID)
		w.text("rack", p.Rack)
		w.text("release_version", releaseVersion)
		w.inet("rpc_address", address)
		w.uuid("schema_version", p.schemaVersion(c))
		w.texts("tokens", p.tokenTexts()...)
	}
}

// fillPeersV2 makes system.peers_v2, by which drivers find the other nodes and their ports.
func fillPeersV2(n *node, w *writer, session store.Session, c *schema.Catalog) {
	for _, p := range n.peers(session) {
		address := p.Address.Addr()
		w.partition(address.AsSlice())
		w.row(types.EncodeInt(int32(p.StoragePort)))
		w.text("data_center", p.Datacenter)
		w.uuid("host_id", p.HostID)
		w.inet("native_address", address)
		w.int("native_port", int(p.Address.Port()))
		w.text("rack", p.Rack)
		w.text("release_version", releaseVersion)
		w.uuid("schema_version", p.schemaVersion(c))
		w.texts("tokens", p.tokenTexts()...)
	}
}

// Drivers read these to know which server they talk to.
const (
	releaseVersion  = "5.0.8"
	cqlVersion      = "3.4.7"
	protocolVersion = "5"
	partitioner     = "org.apache.cassandra.dht.Murmur3Partitioner"
)

// storagePort is the port at which nodes talk to each other. It is not open, but the columns are not null in a node of
// Cassandra's.
const storagePort = 7000

// tokenCount is the number of tokens of a node: Cassandra's num_tokens.
const tokenCount = 16

// fillLocal makes the one row that describes this node. Drivers connect to its address: the one the client dialled,
// unless the node advertises another.
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
