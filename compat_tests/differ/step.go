package main

import (
	"fmt"
	"strings"

	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/protocol"
)

// mode is how a statement is sent.
type mode int

// The modes: as a QUERY, perhaps with values; prepared and executed; as a BATCH message.
const (
	plain mode = iota
	prepared
	batchMessage
)

// step is a statement and how it is sent. The statements of a batch are its children.
type step struct {
	production string
	kind       kind
	root       *node
	children   []*node // of a batch, whose root is the text before them
	mode       mode
	page       int32 // 0: not sent
}

// kind is the effect of a step on the stored data.
type kind int

// The kinds: a definition makes or drops tables, a write changes rows, a read neither.
const (
	read kind = iota
	write
	definition
)

// scenario is a list of steps on one connection, in a keyspace that is in use.
type scenario struct {
	version protocol.Version
	steps   []*step
}

// cql is the statement about a table, with markers for bound values.
func (s *step) cql(table string) (string, []*value) {
	var bound []*value
	text := s.root.render(&bound)
	for _, c := range s.children {
		text += "\n" + c.render(&bound) + ";"
	}
	if s.children != nil {
		text += "\nAPPLY BATCH"
	}
	return strings.ReplaceAll(text, tableName, table), bound
}

// values encodes the bound values.
func values(bound []*value) []types.Value {
	var list []types.Value
	for _, v := range bound {
		list = append(list, types.Value{Bytes: v.bytes, Unset: v.unset})
	}
	return list
}

// batch is the step as a BATCH message; its statements are sent as text.
func (s *step) batch(table string) *protocol.Batch {
	m := &protocol.Batch{Parameters: parameters(nil, 0, nil)}
	var none []*value
	text := s.root.render(&none)
	if strings.Contains(text, "UNLOGGED") {
		m.Type = protocol.UnloggedBatch
	}
	for _, c := range s.children {
		var bound []*value
		query := strings.ReplaceAll(c.render(&bound), tableName, table)
		m.Children = append(m.Children, protocol.BatchChild{Query: query, Values: values(bound)})
	}
	return m
}

// parameters are the parameters of a request.
func parameters(vs []types.Value, page int32, state []byte) protocol.QueryParameters {
	p := protocol.QueryParameters{Consistency: consistency, Values: vs, PageSize: page, PagingState: state}
	if len(vs) > 0 {
		p.Flags |= protocol.WithValues
	}
	if page != 0 {
		p.Flags |= protocol.WithPageSize
	}
	if state != nil {
		p.Flags |= protocol.WithPagingState
	}
	return p
}

// how describes the parts of a step besides its text.
func (s *step) how() string {
	var parts []string
	switch s.mode {
	case prepared:
		parts = append(parts, "prepared")
	case batchMessage:
		parts = append(parts, "as a message")
	}
	if s.page != 0 {
		parts = append(parts, fmt.Sprintf("pages of %d", s.page))
	}
	if _, bound := s.cql(tableName); len(bound) > 0 {
		list := make([]string, len(bound))
		for i, v := range bound {
			list[i] = v.String()
		}
		parts = append(parts, "bound "+strings.Join(list, ", "))
	}
	return strings.Join(parts, "; ")
}
