package transcripts

import (
	"bytes"
	"fmt"

	"github.com/datastax/go-cassandra-native-protocol/frame"
	"github.com/datastax/go-cassandra-native-protocol/message"

	"github.com/cqld/cqld/protocol"
)

func init() { inspect = agree }

// agree compares our decoding of an answer with another codec's. It does not know v6, which is v5 with another number.
func agree(h protocol.Header, body []byte, m protocol.Response) error {
	h.Flags &^= protocol.FlagCompressed | protocol.FlagUseBeta
	h.Version = min(h.Version, protocol.V5)
	h.Length = uint32(len(body))
	b := append(protocol.AppendHeader(nil, h), body...)
	f, err := frame.NewRawCodec().DecodeFrame(bytes.NewReader(b))
	if err != nil {
		return fmt.Errorf("another codec cannot decode %x: %w", b, err)
	}
	same := true
	switch other := f.Body.Message.(type) {
	case message.Error:
		ours, ok := m.(*protocol.Error)
		same = ok && ours.Err.Message == other.GetErrorMessage() && uint32(ours.Err.Code) == uint32(other.GetErrorCode())
	case *message.RowsResult:
		ours, ok := m.(*protocol.Rows)
		same = ok && ours.Count == len(other.Data) && ours.Metadata.Columns.Len() == int(other.Metadata.ColumnCount) &&
			bytes.Equal(ours.Metadata.PagingState, other.Metadata.PagingState)
	case *message.PreparedResult:
		ours, ok := m.(*protocol.Prepared)
		same = ok && bytes.Equal(ours.ID, other.PreparedQueryId) && ours.Bind.Len() == len(other.VariablesMetadata.Columns) &&
			len(ours.PKIndexes) == len(other.VariablesMetadata.PkIndices)
	case *message.SchemaChangeResult:
		ours, ok := m.(*protocol.SchemaChange)
		same = ok && ours.Target == string(other.Target) && ours.Name == other.Object
	default:
		same = byte(m.Opcode()) == byte(f.Header.OpCode)
	}
	if !same {
		return fmt.Errorf("another codec reads %s, ours %s", f.Body.Message, m)
	}
	return nil
}
