package tamper

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/protocol"
)

// OtherCode replaces one error code by another.
func OtherCode(from, to cqlerr.Code) Change {
	return func(m protocol.Response) protocol.Response {
		if e, ok := m.(*protocol.Error); ok && e.Err.Code == from {
			e.Err.Code = to
		}
		return m
	}
}

// OtherMessage changes the last letter of every error's text.
func OtherMessage(m protocol.Response) protocol.Response {
	if e, ok := m.(*protocol.Error); ok && e.Err.Message != "" {
		last := len(e.Err.Message) - 1
		e.Err.Message = e.Err.Message[:last] + string(e.Err.Message[last]^1)
	}
	return m
}

// SwapRows swaps the first row of every result with the first row that differs from it.
func SwapRows(m protocol.Response) protocol.Response {
	result, ok := m.(*protocol.Rows)
	if !ok {
		return m
	}
	rows, err := result.Split()
	if err != nil {
		return m
	}
	encoded := make([][]byte, len(rows))
	for i, row := range rows {
		for _, cell := range row {
			encoded[i] = appendCell(encoded[i], cell)
		}
	}
	for i := range encoded {
		if !bytes.Equal(encoded[0], encoded[i]) {
			encoded[0], encoded[i] = encoded[i], encoded[0]
			break
		}
	}
	result.Cells = bytes.Join(encoded, nil)
	return m
}

// appendCell appends a cell as rows encode it.
func appendCell(b, cell []byte) []byte {
	if cell == nil {
		return binary.BigEndian.AppendUint32(b, ^uint32(0))
	}
	return append(binary.BigEndian.AppendUint32(b, uint32(len(cell))), cell...)
}

// withoutWarnings tells the proxy to send a response without its warnings.
type withoutWarnings struct{ protocol.Response }

// DropWarnings removes the warnings of every answer.
func DropWarnings(m protocol.Response) protocol.Response { return withoutWarnings{m} }

// ToggleMore inverts "has more pages": the last page announces another one, and others do not.
func ToggleMore(m protocol.Response) protocol.Response {
	if rows, ok := m.(*protocol.Rows); ok {
		if rows.Metadata.PagingState != nil {
			rows.Metadata.PagingState = nil
		} else {
			rows.Metadata.PagingState = []byte{0}
		}
	}
	return m
}

// OtherType changes the type of the first column, of rows and of prepared results, to blob; a blob becomes a text.
func OtherType(m protocol.Response) protocol.Response {
	switch m := m.(type) {
	case *protocol.Rows:
		if !m.Metadata.Skip {
			m.Metadata.Columns = otherType(m.Metadata.Columns)
		}
	case *protocol.Prepared:
		m.Result = otherType(m.Result)
	}
	return m
}

func otherType(s *protocol.ColumnSpecs) *protocol.ColumnSpecs {
	columns := slices.Clone(s.Columns())
	if len(columns) == 0 {
		return s
	}
	if columns[0].Type != types.Blob {
		columns[0].Type = types.Blob
	} else {
		columns[0].Type = types.Text
	}
	return protocol.NewColumnSpecs(columns)
}
