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
	SchemaVersion [16]byte // of its definitions; zero: it has those of the node that is asked
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

// peers are the other nodes.
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
