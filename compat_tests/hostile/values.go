package main

import (
	"encoding/binary"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/protocol/client"
)

// execute is the EXECUTE of a prepared statement; page 0 disables paging.
func execute(p *client.Prepared, page int32, values ...[]byte) *protocol.Execute {
	return &protocol.Execute{ID: p.ID, ResultMetadataID: p.ResultMetadataID, Parameters: parameters(page, values...)}
}

// query is the QUERY of a statement.
func query(text string, values ...[]byte) *protocol.Query {
	return &protocol.Query{Query: text, Parameters: parameters(0, values...)}
}

func parameters(page int32, values ...[]byte) protocol.QueryParameters {
	p := protocol.QueryParameters{Consistency: cqlerr.One}
	if page > 0 {
		p.Flags, p.PageSize = protocol.WithPageSize, page
	}
	if len(values) > 0 {
		p.Flags |= protocol.WithValues
	}
	for _, v := range values {
		p.Values = append(p.Values, types.Value{Bytes: v})
	}
	return p
}

// intValue encodes an int.
func intValue(n int) []byte { return binary.BigEndian.AppendUint32(nil, uint32(n)) }

// intList encodes the list of the numbers below n.
func intList(n int) []byte {
	b := intValue(n)
	for i := range n {
		b = append(append(b, intValue(4)...), intValue(i)...)
	}
	return b
}
