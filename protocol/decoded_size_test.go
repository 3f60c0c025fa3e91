package protocol

import (
	"strings"
	"testing"
	"unsafe"

	"github.com/cqld/cqld/cql/types"
)

// sizeOf is what DecodedSize estimates, counted in the decoded message.
func sizeOf(body []byte, payload []PayloadEntry, m Request) int64 {
	n := uintptr(len(body)) + uintptr(len(payload))*unsafe.Sizeof(PayloadEntry{})
	ofParameters := func(p *QueryParameters) uintptr {
		return uintptr(len(p.Values))*unsafe.Sizeof(types.Value{}) + uintptr(len(p.Names))*unsafe.Sizeof("")
	}
	switch m := m.(type) {
	case *Query:
		n += ofParameters(&m.Parameters)
	case *Execute:
		n += ofParameters(&m.Parameters)
	case *Batch:
		n += uintptr(len(m.Children))*unsafe.Sizeof(BatchChild{}) + uintptr(len(m.values))*unsafe.Sizeof(types.Value{})
	}
	return int64(n)
}

// DecodedSize agrees with what Decode makes, in every version, with a payload and without.
func TestDecodedSize(t *testing.T) {
	names := strings.Split(strings.Repeat("n ", maxShort), " ")[:maxShort]
	nulls := make([]types.Value, maxShort)
	for _, v := range versions {
		requests := append(sampleRequests(v),
			&Execute{ID: []byte("id"), Parameters: QueryParameters{Flags: WithValues, Values: nulls}},
			&Query{Query: "q", Parameters: QueryParameters{Flags: WithValues | WithNames, Values: nulls, Names: names}},
			&Batch{Children: make([]BatchChild, maxShort)},
			&Batch{Children: []BatchChild{{Query: "q", Values: nulls}}},
		)
		for _, m := range requests {
			for _, payload := range [][]PayloadEntry{nil, {{Key: "k", Value: []byte("v")}, {Key: "null"}}} {
				if payload != nil && !v.HasPayload() {
					continue
				}
				frame := AppendRequest(nil, Header{Version: v}, payload, m)
				h, body := ParseHeader(frame), frame[HeaderSize:]
				var requests Requests
				decoded, err := requests.Decode(h, body)
				if err != nil {
					t.Fatalf("%v: %v", m, err)
				}
				if got, want := DecodedSize(h, body), sizeOf(body, requests.Payload, decoded); got != want {
					t.Errorf("%s %.60v: %d bytes, want %d", v, m, got, want)
				}
				if n := testing.AllocsPerRun(5, func() { DecodedSize(h, body) }); n > 0 {
					t.Errorf("%s %.60v: %g allocations", v, m, n)
				}
			}
		}
	}
}

// A body that claims more values than it has does not count for more than it can hold.
func TestDecodedSizeOfClaims(t *testing.T) {
	body := []byte{0, 1, 'x', 0, 1, byte(WithValues), 0xff, 0xff, 0, 0, 0, 0}
	h := Header{Version: V4, Opcode: OpExecute, Length: uint32(len(body))}
	if got, want := DecodedSize(h, body), int64(len(body))+decodedValue; got != want {
		t.Errorf("%d bytes, want %d", got, want)
	}
}
