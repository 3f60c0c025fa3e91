package exec

import (
	"context"
	"encoding/binary"
	"net/netip"
	"strconv"

	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner/define"
	"github.com/cqld/cqld/store"
)

// describeCluster answers DESCRIBE CLUSTER from system.local.
func (e *Executor) describeCluster(ctx context.Context, r *Request, d *define.Describe) ([][][]byte, error) {
	t := e.store.Catalog().Table("system", "local")
	if t == nil {
		return nil, nil
	}
	var rows [][][]byte
	read := store.Read{Table: t, Now: e.now(&r.Options), Session: r.Session, Turn: r.Turn}
	err := e.store.Read(ctx, &read, func(row *store.Row) (bool, error) {
		value := func(column string) []byte {
			if c := t.Column(column); c != nil {
				return row.Values[c.Index]
			}
			return nil
		}
		told := [][]byte{clone(value("cluster_name")), []byte("Murmur3Partitioner"), []byte("DynamicEndpointSnitch")}
		if d.ShowsRing() {
			told = append(told, ringOwnership(value("tokens"), value("listen_address"), value("listen_port")))
		}
		rows = append(rows, told)
		return false, nil
	})
	return rows, err
}

// ringOwnership is a map<text, frozen<list<text>>> from each token to the only node.
func ringOwnership(tokens, address, port []byte) []byte {
	node := "/"
	if a, ok := netip.AddrFromSlice(address); ok {
		node += a.String()
	}
	if len(port) == 4 {
		node += ":" + strconv.Itoa(int(binary.BigEndian.Uint32(port)))
	}
	owners := types.NewList([][]byte{[]byte(node)})
	var keys, values [][]byte
	if tokens != nil {
		for token := range types.Elements(tokens) {
			keys, values = append(keys, token), append(values, owners)
		}
	}
	m := &types.Map{Key: types.Text, Value: &types.List{Elem: types.Text, Frozen: true}}
	return types.NewMap(m, keys, values)
}

func clone(b []byte) []byte { return append([]byte{}, b...) }
