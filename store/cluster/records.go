package cluster

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"

	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/rows"
)

// The records of a cluster are among the store's own ones: keys of table 0.
var (
	memberKeys = ownKey("member/")  // and the host id: a Member
	countKey   = ownKey("members")  // how many members there have ever been
	versionKey = ownKey("versions") // the version of the definitions: see Version
)

func ownKey(name string) []byte { return append(rows.AppendArea(nil, 0, rows.AreaRows), name...) }

// Member is the record of a node.
type Member struct {
	Number     int // in the order in which nodes have joined; numbers of nodes that are gone are not used again
	HostID     [16]byte
	Address    netip.AddrPort // that clients connect to
	Datacenter string
	Rack       string
	Release    string // of the server, as its operators name it
	Tokens     []int64

	Process     uint64   // a random number of the process that the node is
	Beat        uint64   // how often the process has renewed the record
	Left        bool     // the process has ended as it should
	Alone       bool     // the process does not wait for timestamps to pass: see alone.go
	Definitions uint64   // the version that the node has followed, with nothing under way under older ones
	Schema      [16]byte // the version that drivers see
}

// IsMember reports whether a key of the engine is that of a member's record.
func IsMember(key []byte) bool { return bytes.HasPrefix(key, memberKeys) }

func (m *Member) key() []byte {
	return append(memberKeys[:len(memberKeys):len(memberKeys)], m.HostID[:]...)
}

func (m *Member) op() engine.Op {
	value, err := json.Marshal(m)
	if err != nil {
		panic(fmt.Sprintf("a member that cannot be written: %v", err)) // it has nothing that JSON does not have
	}
	return engine.Op{Kind: engine.Put, Key: m.key(), Value: value}
}

func readMembers(r engine.Reader) (all []Member, err error) {
	end := rows.Successor(append([]byte(nil), memberKeys...))
	err = r.Scan(memberKeys, end, engine.ScanOptions{}, func(key, value []byte) (bool, error) {
		var m Member
		if err := json.Unmarshal(value, &m); err != nil {
			return false, fmt.Errorf("read the record of node %x: %w", key[len(memberKeys):], err)
		}
		all = append(all, m)
		return true, nil
	})
	return all, err
}

// Version is the version of the definitions. Changes names the last changes, so that a node can find out the outcome
// of an interrupted change.
type Version struct {
	Number  uint64
	Changes [][16]byte // the last one first
}

// rememberedChanges is how many changes a Version names.
const rememberedChanges = 32

var errVersion = errors.New("the version of the definitions is damaged")

// ReadVersion reads the version; it is zero if there is none.
func ReadVersion(r engine.Reader) (v Version, err error) {
	_, err = r.Get(versionKey, func(b []byte) error {
		if len(b) < 8 || len(b)%16 != 8 {
			return errVersion
		}
		v.Number = binary.BigEndian.Uint64(b)
		for b = b[8:]; len(b) > 0; b = b[16:] {
			v.Changes = append(v.Changes, [16]byte(b))
		}
		return nil
	})
	return v, err
}

func (v Version) next(change [16]byte) Version {
	changes := append([][16]byte{change}, v.Changes...)
	return Version{v.Number + 1, changes[:min(len(changes), rememberedChanges)]}
}

func (v Version) value() []byte {
	b := binary.BigEndian.AppendUint64(nil, v.Number)
	for _, c := range v.Changes {
		b = append(b, c[:]...)
	}
	return b
}
