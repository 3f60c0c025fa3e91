package planner

import (
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
)

// checkMarkers refuses a marker that is for nothing: that of the first of two TTLs, for example.
func (p *planning) checkMarkers() error {
	for i, m := range p.info.Markers {
		if m.Type == nil {
			return cqlerr.Invalidf("Bind marker %d is for a value that the statement does not use", i+1)
		}
	}
	return nil
}

// describeMarkers tells what each bind marker is for, and which ones are the partition key.
func (p *planning) describeMarkers() {
	markers := p.info.Markers
	p.out.Markers = make([]Marker, len(markers))
	for i, m := range markers {
		p.out.Markers[i] = Marker{Keyspace: m.Keyspace, Table: m.Table, Name: m.Name, Type: m.Type}
	}
	p.out.KeyMarkers = p.keyMarkers()
}

// keyMarkers has the index of the last marker that stands for each partition key column itself, unless
// one has none or the markers are not all of one table.
func (p *planning) keyMarkers() []int {
	markers := p.info.Markers
	if len(markers) == 0 || len(p.scope.Tables) == 0 {
		return nil
	}
	key := p.scope.Tables[0].PartitionKey
	indexes := make([]int, len(key))
	for i := range indexes {
		indexes[i] = -1
	}
	for i, m := range markers {
		if m.Keyspace != markers[0].Keyspace || m.Table != markers[0].Table {
			return nil
		}
		if m.Column != nil && m.Column.Kind == schema.PartitionKey {
			indexes[m.Column.Position] = i
		}
	}
	for _, i := range indexes {
		if i < 0 {
			return nil
		}
	}
	return indexes
}
