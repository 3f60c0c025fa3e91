package server

import (
	"testing"

	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/protocol"
)

// The budgets of bytes in flight count what values are decoded to: a null has 4 bytes in the body and 32 decoded.
func TestChargeOfManyNulls(t *testing.T) {
	m := &protocol.Execute{ID: make([]byte, 16), Parameters: protocol.QueryParameters{
		Flags: protocol.WithValues, Values: make([]types.Value, 65535),
	}}
	frame := protocol.AppendRequest(nil, protocol.Header{Version: protocol.V5}, nil, m)
	body := frame[protocol.HeaderSize:]
	r := newRequest(new(conn), protocol.ParseHeader(frame), body)
	if want := int64(len(body)) + 32*65535; r.charge != want {
		t.Errorf("a charge of %d bytes, want %d", r.charge, want)
	}
	if r.size != int64(len(body)) {
		t.Errorf("a size of %d bytes, want %d", r.size, len(body))
	}
}
