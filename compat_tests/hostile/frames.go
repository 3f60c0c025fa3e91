package main

import (
	"bytes"
	"context"
	"net"
	"sync"

	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/protocol/client"
)

// largestFrame is the longest envelope that a server takes, with its header.
const largestFrame = 16 << 20

// unfoldIdle makes the server unfold a frame on each connection, and keeps the connections.
func unfoldIdle(ctx context.Context, s *siege) error {
	frame := compressedQuery("SELECT key FROM system.local", make([]byte, longestText))
	s.each(ctx, s.size.clients(100), client.Options{Version: protocol.V4, Compression: protocol.LZ4}, func(_ int, p *peer) {
		if p.sendFrame(frameStream, frame) {
			p.read(1) // the error that it has too many values
		}
		hold(ctx)
	})
	return nil
}

// unfinishedFrame is the largest envelope of v4 without its last byte.
func unfinishedFrame(op protocol.Opcode) []byte {
	frame := protocol.AppendHeader(nil, protocol.Header{Version: protocol.V4, Opcode: op, Length: largestFrame - protocol.HeaderSize})
	return append(frame, make([]byte, largestFrame-len(frame)-1)...)
}

// unfinishedStart never ends its STARTUP.
func unfinishedStart(ctx context.Context, s *siege) error {
	frame := unfinishedFrame(protocol.OpStartup)
	s.eachSocket(ctx, s.size.clients(250), func(_ int, sock net.Conn) {
		s.write(sock, frame)
		hold(ctx)
	})
	return nil
}

// tooLong sends texts that are far longer than a frame may be, and reconnects when the server stops reading.
func tooLong(ctx context.Context, s *siege) error {
	const size = 200_000_000
	header := protocol.AppendHeader(nil, protocol.Header{Version: protocol.V4, Opcode: protocol.OpQuery, Length: size})
	part := bytes.Repeat([]byte("SELECT "), 10_000)
	var wait sync.WaitGroup
	for range s.size.clients(16) {
		wait.Go(func() {
			for ctx.Err() == nil {
				p := s.connect(ctx, v4)
				if p == nil {
					continue
				}
				ok := p.write(header)
				for sent := 0; ok && sent < size && ctx.Err() == nil; sent += len(part) {
					ok = p.write(part)
				}
				_ = p.conn.Close()
			}
		})
	}
	wait.Wait()
	return nil
}

// unfinished never ends its QUERY.
func unfinished(v protocol.Version) func(context.Context, *siege) error {
	return func(ctx context.Context, s *siege) error {
		bytes := unfinishedFrame(protocol.OpQuery)
		if v.HasSegments() {
			bytes = unfinishedSegments(v)
		}
		s.each(ctx, s.size.clients(250), client.Options{Version: v}, func(_ int, p *peer) {
			p.write(bytes)
			hold(ctx)
		})
		return nil
	}
}

// unfinishedSegments are segments with a large envelope, without the last byte of the last one.
func unfinishedSegments(v protocol.Version) []byte {
	header := protocol.Header{Version: v, Opcode: protocol.OpQuery, Length: largestFrame - protocol.HeaderSize}
	envelope := append(protocol.AppendHeader(nil, header), make([]byte, header.Length)...)
	enc := protocol.Encoder{Version: v, Segments: true}
	bytes := enc.Flush(enc.AppendEnvelope(nil, envelope))
	return bytes[:len(bytes)-1]
}
