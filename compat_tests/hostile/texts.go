package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/protocol/client"
)

// Sizes of texts: 8 MB, and the largest in a frame of 16 MiB.
const (
	longText    = 8_000_000
	longestText = 16<<20 - 1000
)

func listText() string     { return numbersText(longText) }
func longListText() string { return numbersText(longestText) }

// numbersText is an INSERT with a list of small numbers.
func numbersText(size int) string {
	return "INSERT INTO hostile.lists (k, l) VALUES (0, [1" + strings.Repeat(",1", size/2) + "])"
}

// inText is a SELECT with many keys.
func inText() string {
	return "SELECT * FROM hostile.many WHERE k IN (1" + strings.Repeat(",1", longText/2) + ")"
}

// literals sends a text over each of n connections and reads the answers.
func literals(n int, make func() string) func(context.Context, *siege) error {
	return func(ctx context.Context, s *siege) error {
		text := make()
		s.each(ctx, s.size.clients(n), v4, func(_ int, p *peer) {
			if p.send(1, query(text)) {
				p.read(1)
			}
		})
		return nil
	}
}

// unfoldLiterals sends the longest text compressed, over some connections.
func unfoldLiterals(ctx context.Context, s *siege) error {
	frame := compressedQuery(longListText())
	s.each(ctx, s.size.clients(20), client.Options{Version: protocol.V4, Compression: protocol.LZ4}, func(_ int, p *peer) {
		if p.sendFrame(frameStream, frame) {
			p.read(1)
		}
	})
	return nil
}

// frameStream is the stream of frames that are made before there is a connection.
const frameStream = 1

// compressedQuery is the frame of a QUERY, compressed with LZ4 for v4.
func compressedQuery(text string, values ...[]byte) []byte {
	enc := protocol.Encoder{Version: protocol.V4, Compression: protocol.LZ4}
	return enc.AppendRequest(nil, frameStream, 0, nil, query(text, values...))
}

// nested sends deeply nested texts: recursive parsers run out of stack.
func nested(ctx context.Context, s *siege) error {
	const depth = 100_000
	within := func(before, open, middle, shut, behind string) string {
		return before + strings.Repeat(open, depth) + middle + strings.Repeat(shut, depth) + behind
	}
	texts := []string{
		within("INSERT INTO hostile.lists (k, l) VALUES (0, ", "[", "1", "]", ")"),
		within("INSERT INTO hostile.lists (k, l) VALUES (", "(", "1", ")", ", [])"),
		within("INSERT INTO hostile.lists (k, l) VALUES (0, ", "{", "1", "}", ")"),
		within("SELECT * FROM hostile.many WHERE k = ", "(int)", "1", "", ""),
		within("SELECT ", "- ", "v", "", " FROM hostile.many WHERE k = 1"),
		within("SELECT ", "abs(", "v", ")", " FROM hostile.many WHERE k = 1"),
		within("SELECT ", "CAST(", "v", " AS int)", " FROM hostile.many WHERE k = 1"),
		within("SELECT v", "+v", "", "", " FROM hostile.many WHERE k = 1"),
		within("CREATE TABLE hostile.nested (k int PRIMARY KEY, v ", "frozen<list<", "int", ">>", ")"),
	}
	s.each(ctx, len(texts), v4, func(i int, p *peer) {
		if p.send(1, query(texts[i])) {
			p.read(1)
		}
	})
	return nil
}

// preparedText is 300 KB of statement, another one for each i.
func preparedText(i int) string {
	return fmt.Sprintf("SELECT * FROM hostile.many WHERE k IN (%d", i) + strings.Repeat(",1", 150_000) + ")"
}

// prepareLong prepares n long statements, which the server keeps.
func prepareLong(n int) func(context.Context, *siege) error {
	return func(ctx context.Context, s *siege) error {
		const clients = 4
		s.each(ctx, clients, v4, func(i int, p *peer) {
			for ; i < n && ctx.Err() == nil; i += clients {
				if !p.send(1, &protocol.Prepare{Query: preparedText(i)}) || !p.read(1) {
					return
				}
			}
		})
		return nil
	}
}

// longTexts sends as many unprepared statements, which a server may cache too. They select nothing.
func longTexts(ctx context.Context, s *siege) error {
	const clients, n = 4, 400
	s.each(ctx, clients, v4, func(i int, p *peer) {
		for ; i < n && ctx.Err() == nil; i += clients {
			if !p.send(1, query(strings.Replace(preparedText(i), "hostile.many", "hostile.scratch", 1))) || !p.read(1) {
				return
			}
		}
	})
	return nil
}
