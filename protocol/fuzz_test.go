package protocol

import (
	"bytes"
	"runtime"
	"testing"
)

// fuzzLimit is the longest body and the largest decompressed one while fuzzing.
const fuzzLimit = 1 << 20

// allocated returns how many bytes f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// FuzzEnvelope reads envelopes of any kind: what is decoded can be encoded and decoded again.
func FuzzEnvelope(f *testing.F) {
	for _, v := range versions {
		for _, m := range sampleRequests(v) {
			f.Add(AppendRequest(nil, Header{Version: v}, nil, m))
		}
		for _, m := range sampleResponses(v) {
			f.Add(AppendResponse(nil, v, 0, &Prefix{Traced: true, Warnings: []string{"w"}}, m))
		}
		for _, c := range []Compression{LZ4, Snappy} {
			e := Encoder{Version: v, Compression: c}
			f.Add(e.Append(nil, 1, nil, &SetKeyspace{"ks"}))
		}
	}
	f.Add([]byte("GET / HTTP/1.1\r\n\r\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		for len(b) >= HeaderSize {
			h, body, rest, err := CutEnvelope(b, fuzzLimit)
			if err != nil {
				return
			}
			if h.Version.Supported() {
				fuzzEnvelope(t, h, body)
			}
			b = rest
		}
	})
}

func fuzzEnvelope(t *testing.T, h Header, body []byte) {
	for _, c := range []Compression{NoCompression, LZ4, Snappy} {
		body, err := c.Body(h, body, nil, fuzzLimit)
		if err != nil {
			continue
		}
		if len(body) > fuzzLimit {
			t.Fatalf("%d bytes were decompressed", len(body))
		}
		plain := h
		plain.Flags &^= FlagCompressed
		if h.Response {
			m, prefix, err := DecodeResponse(plain, body)
			if err == nil {
				again := AppendResponse(nil, h.Version, h.Stream, prefix, m)
				if _, _, err := DecodeResponse(ParseHeader(again), again[HeaderSize:]); err != nil {
					t.Fatalf("%s: %v", m, err)
				}
			}
			continue
		}
		if h.Check() != nil {
			continue
		}
		var requests Requests
		if m, err := requests.Decode(plain, body); err == nil {
			again := AppendRequest(nil, plain, requests.Payload, m)
			var second Requests
			if _, err := second.Decode(ParseHeader(again), again[HeaderSize:]); err != nil {
				t.Fatalf("%s: %v", m, err)
			}
		}
	}
}

// FuzzSegment reads segments: whatever arrives, the envelopes that come out of it can be packed again.
func FuzzSegment(f *testing.F) {
	for _, c := range []Compression{NoCompression, LZ4} {
		e := Encoder{Version: V5, Compression: c, Segments: true}
		b := e.Append(nil, 1, nil, &SetKeyspace{"ks"})
		b = e.Append(b, 2, nil, &sizedMessage{make([]byte, 200)})
		f.Add(e.Flush(b), c == LZ4)
		f.Add(segmentOf(e.Append(nil, 1, nil, &Ready{})[:9], false), c == LZ4)
	}
	f.Fuzz(func(t *testing.T, b []byte, compressed bool) {
		fixed := fixChecksums(b, compressed)
		in := Segments{Compressed: compressed, Limit: fuzzLimit}
		for {
			envelopes, n, err := in.Next(fixed)
			if err != nil || n == 0 {
				return
			}
			if len(in.large) > len(b)*(lz4Expansion+1) {
				t.Fatalf("%d bytes are kept of %d", len(in.large), len(b))
			}
			e := Encoder{Version: V5, Segments: true}
			for rest := envelopes; len(rest) > 0; {
				before := rest
				if _, _, rest, err = CutEnvelope(rest, fuzzLimit); err != nil {
					break
				}
				envelope := before[:len(before)-len(rest)]
				again := Segments{Limit: fuzzLimit}
				got, _, err := again.Next(e.Flush(e.AppendEnvelope(nil, envelope)))
				if len(envelope) < largeEnvelope && (err != nil || !bytes.Equal(got, envelope)) {
					t.Fatalf("%x became %x, %v", envelope, got, err)
				}
			}
			fixed = fixed[n:]
		}
	})
}

// fixChecksums returns a copy of b whose segments have the right checksums: a fuzzer does not guess them.
func fixChecksums(b []byte, compressed bool) []byte {
	fixed := bytes.Clone(b)
	for rest := fixed; ; {
		size := segmentHeader
		if compressed {
			size = segmentHeaderLZ4
		}
		if len(rest) < size {
			return fixed
		}
		crc := crc24(rest[:size-3])
		rest[size-3], rest[size-2], rest[size-1] = byte(crc), byte(crc>>8), byte(crc>>16)
		info, _, _ := parseSegmentHeader(rest, compressed)
		end := size + info.length
		if len(rest) < end+segmentTrailer {
			return fixed
		}
		crc = crc32Payload(rest[size:end])
		copy(rest[end:], []byte{byte(crc), byte(crc >> 8), byte(crc >> 16), byte(crc >> 24)})
		rest = rest[end+segmentTrailer:]
	}
}

// FuzzMessage decodes a body as every kind of message of every version. None may take more memory than its
// bytes warrant: counts in them are not believed.
func FuzzMessage(f *testing.F) {
	for _, v := range versions {
		for _, m := range sampleRequests(v) {
			f.Add(AppendBody(nil, v, m))
		}
		for _, m := range sampleResponses(v) {
			f.Add(AppendBody(nil, v, m))
		}
	}
	f.Add([]byte{0, 0, 0, 2, 0, 0, 0, 0, 0x7f, 0xff, 0xff, 0xff})
	f.Add(bytes.Repeat([]byte{0, 0x20}, 1000))
	f.Fuzz(func(t *testing.T, body []byte) {
		limit := uint64(len(body))*2000 + 1<<20
		if n := allocated(func() { fuzzMessage(t, body) }); n > limit {
			t.Fatalf("%d bytes were allocated for %d", n, len(body))
		}
	})
}

func fuzzMessage(t *testing.T, body []byte) {
	var requests Requests
	for _, v := range versions {
		for op := range Opcode(len(opcodes)) {
			if op.IsRequest() {
				h := Header{Version: v, Opcode: op}
				m, err := requests.Decode(h, body)
				if err == nil {
					_ = m.String()
					_ = AppendBody(nil, v, m)
				}
				continue
			}
			m, _, err := DecodeResponse(Header{Version: v, Opcode: op, Response: true}, body)
			if err != nil {
				continue
			}
			_ = m.String()
			if rows, ok := m.(*Rows); ok {
				if split, err := rows.Split(); err == nil && len(split) != rows.Count {
					t.Fatalf("%d rows of %d", len(split), rows.Count)
				}
			}
			_ = AppendBody(nil, v, m)
		}
	}
}
