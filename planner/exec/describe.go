package exec

import (
	"bytes"
	"context"
	"encoding/binary"
	"net/netip"
	"slices"
	"strconv"

	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner"
	"github.com/cqld/cqld/planner/define"
	"github.com/cqld/cqld/planner/exec/paging"
	"github.com/cqld/cqld/planner/exec/ring"
	"github.com/cqld/cqld/store"
)

// describe answers DESCRIBE from the catalog, in pages of rows.
func (e *Executor) describe(ctx context.Context, r *Request, d *define.Describe) (Result, error) {
	catalog := e.store.Catalog()
	d = d.In(r.Keyspace)
	list := func() ([][][]byte, error) { return d.Rows(catalog) }
	if d.IsCluster() {
		list = func() ([][][]byte, error) { return e.describeCluster(ctx, r, d) }
	}
	rows, err := list()
	if err != nil {
		return nil, err
	}
	version := catalog.Version()
	first := 0
	if r.PagingState != nil {
		if first, err = r.PagingState.Described(version); err != nil {
			return nil, err
		}
	}
	out := &Rows{Columns: describedColumns(d)}
	rest := rows[min(first, len(rows)):]
	if r.PageSize > 0 && len(rest) >= r.PageSize {
		rest = rest[:r.PageSize]
		out.PagingState = paging.EncodeDescribed(first+r.PageSize, r.Version, version)
	}
	for _, row := range rest {
		for _, v := range row {
			out.Cells = appendCell(out.Cells, v)
		}
		out.Count++
	}
	return out, nil
}

// describedColumns are the columns of the answer, which Cassandra shows as columns of a table system.describe.
func describedColumns(d *define.Describe) []planner.ResultColumn {
	columns := d.Columns()
	out := make([]planner.ResultColumn, len(columns))
	for i, c := range columns {
		out[i] = planner.ResultColumn{Keyspace: "system", Table: "describe", Name: c.Name, Type: c.Type}
	}
	return out
}

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
		told := [][]byte{bytes.Clone(value("cluster_name")), []byte("Murmur3Partitioner"), []byte("DynamicEndpointSnitch")}
		if d.ShowsRing() {
			owners := func([]byte) [][]byte { return [][]byte{endpoint(value("listen_address"), value("listen_port"))} }
			tokens := value("tokens")
			if v := r.View; v != nil {
				tokens, owners = ringTokens(v), e.ringOwners(v, d.Keyspace)
			}
			told = append(told, ringOwnership(tokens, owners))
		}
		rows = append(rows, told)
		return false, nil
	})
	return rows, err
}

// endpoint prints an address at which nodes would talk to each other.
func endpoint(address, port []byte) []byte {
	node := "/"
	if a, ok := netip.AddrFromSlice(address); ok {
		node += a.String()
	}
	if len(port) == 4 {
		node += ":" + strconv.Itoa(int(binary.BigEndian.Uint32(port)))
	}
	return []byte(node)
}

// ringTokens are the tokens of a ring as a set<text>.
func ringTokens(v *ring.View) []byte {
	texts := make([][]byte, len(v.Tokens()))
	for i, token := range v.Tokens() {
		texts[i] = strconv.AppendInt(nil, token, 10)
	}
	slices.SortFunc(texts, bytes.Compare)
	return types.NewList(texts)
}

// ringOwners returns the function that names the replicas of the range that a token ends.
func (e *Executor) ringOwners(v *ring.View, keyspace string) func(token []byte) [][]byte {
	k := e.store.Catalog().Keyspace(keyspace)
	if k == nil {
		return func([]byte) [][]byte { return nil } // it was dropped
	}
	p := v.Placement(k)
	return func(text []byte) (owners [][]byte) {
		token, err := strconv.ParseInt(string(text), 10, 64)
		if err != nil {
			return nil
		}
		replicas := []int{v.Self}
		if !p.Everywhere {
			replicas = p.Replicas(token)
		}
		for _, i := range replicas {
			n := v.Nodes[i]
			owners = append(owners, endpoint(n.Address.Addr().AsSlice(), types.EncodeInt(int32(v.StoragePort(n)))))
		}
		return owners
	}
}

// ringOwnership is a map<text, frozen<list<text>>> from each token to the nodes that own the range that it ends.
func ringOwnership(tokens []byte, owners func(token []byte) [][]byte) []byte {
	var keys, values [][]byte
	if tokens != nil {
		for token := range types.Elements(tokens) {
			keys, values = append(keys, token), append(values, types.NewList(owners(token)))
		}
	}
	m := &types.Map{Key: types.Text, Value: &types.List{Elem: types.Text, Frozen: true}}
	return types.NewMap(m, keys, values)
}
