package control

import (
	"encoding/binary"

	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/server"
)

// nodeTable has the nodes of a ring:
//
//	UPDATE cqld_control.nodes SET up = false WHERE number = 2
//	UPDATE cqld_control.nodes SET partitioned = true, slow = 200ms WHERE number = 3
//	INSERT INTO cqld_control.nodes (number, datacenter, rack) VALUES (4, 'dc1', 'rack1')
//	DELETE FROM cqld_control.nodes WHERE number = 3
type nodeTable struct{ server *server.Server }

func (t nodeTable) rows() (all []Row) {
	ring := t.server.Ring()
	if ring == nil {
		return nil
	}
	for _, n := range ring.Nodes() {
		v := values{"address": types.EncodeInet(n.Address.Addr()), "host_id": n.HostID[:]}
		v.setDuration("slow", n.Slow)
		v.setText("datacenter", n.Datacenter)
		v.setText("rack", n.Rack)
		v.setInt("port", int(n.Address.Port()))
		v.setBool("up", !n.Stopped)
		v.setBool("partitioned", n.Partitioned)
		tokens := make([][]byte, len(n.Tokens))
		for i, token := range n.Tokens {
			tokens[i] = types.EncodeBigInt(token)
		}
		v["tokens"] = types.NewList(tokens)
		all = append(all, Row{types.EncodeInt(int32(n.Number)), v})
	}
	return all
}

// ring returns the nodes of the server.
func (t nodeTable) ring() (*server.Ring, error) {
	if ring := t.server.Ring(); ring != nil {
		return ring, nil
	}
	return nil, errCannot("The server is one node alone: its ring has no nodes to control")
}

// Write changes a node, or adds one.
func (t nodeTable) Write(key []byte, change map[string][]byte) error {
	ring, err := t.ring()
	if err != nil {
		return err
	}
	number := nodeNumber(key)
	v := values(change)
	if _, known := find(t.rows(), key); !known {
		if err := add(ring, number, v); err != nil {
			return err
		}
		v = values{"up": v["up"], "partitioned": v["partitioned"], "slow": v["slow"]}
	}
	if err := readOnly(v, "up", "partitioned", "slow"); err != nil {
		return err
	}
	slow, err := v.duration("slow")
	if err == nil && slow < 0 {
		err = errCannot("slow cannot be negative")
	}
	if err == nil && v["slow"] != nil {
		err = asInvalid(ring.Slow(number, slow))
	}
	if err == nil && v["partitioned"] != nil {
		if v.bool("partitioned") {
			err = asInvalid(ring.Partition(number))
		} else {
			err = asInvalid(ring.Heal(number))
		}
	}
	if err == nil && v["up"] != nil {
		if v.bool("up") {
			err = asInvalid(ring.Start(number))
		} else {
			err = asInvalid(ring.Stop(number))
		}
	}
	return err
}

// add adds a node. Its number is one more than the largest number of a node so far.
func add(ring *server.Ring, number int, v values) error {
	if v["datacenter"] == nil {
		return errCannot("There is no node %d; INSERT with a datacenter adds one", number)
	}
	if err := readOnly(v, "datacenter", "rack", "up", "partitioned", "slow"); err != nil {
		return err
	}
	if next := ring.Next(); number != next {
		return errCannot("The next node has the number %d, not %d", next, number)
	}
	_, err := ring.Add(v.text("datacenter"), v.text("rack"))
	return asInvalid(err)
}

// Delete removes a node from the ring.
func (t nodeTable) Delete(key []byte) error {
	ring, err := t.ring()
	if err != nil {
		return err
	}
	return asInvalid(ring.Remove(nodeNumber(key)))
}

// Truncate refuses to remove all nodes.
func (t nodeTable) Truncate() error { return errCannot("The last node of a ring cannot be removed") }

func nodeNumber(key []byte) int { return int(int32(binary.BigEndian.Uint32(key))) }

// asInvalid shows clients an error of the ring.
func asInvalid(err error) error {
	if err == nil {
		return nil
	}
	return errCannot("%v", err)
}
