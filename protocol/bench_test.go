package protocol

import "testing"

// BenchmarkExecute decodes an EXECUTE and answers it with two rows, in every version.
func BenchmarkExecute(b *testing.B) {
	for _, v := range versions {
		for _, c := range []Compression{NoCompression, LZ4} {
			b.Run(v.String()[2:]+"/"+c.String(), func(b *testing.B) {
				var requests Requests
				var request []byte
				for _, m := range sampleRequests(v) {
					if m, ok := m.(*Execute); ok {
						m.Parameters.Flags &^= WithKeyspace
						request = AppendRequest(nil, Header{Version: v}, nil, m)
					}
				}
				e := Encoder{Version: v, Compression: c, Segments: v.HasSegments()}
				var rows *Rows
				for _, m := range sampleResponses(v) {
					if m, ok := m.(*Rows); ok {
						rows = m
					}
				}
				var buf []byte
				b.ReportAllocs()
				for b.Loop() {
					if _, err := requests.Decode(ParseHeader(request), request[HeaderSize:]); err != nil {
						b.Fatal(err)
					}
					buf = e.Flush(e.Append(buf[:0], 1, nil, rows))
				}
			})
		}
	}
}
