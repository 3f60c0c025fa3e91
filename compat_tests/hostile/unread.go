package main

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/protocol/client"
)

// v4 is the protocol of most attackers.
var v4 = client.Options{Version: protocol.V4}

// unreadPartition requests a partition of many rows.
func unreadPartition(v protocol.Version, page int32) func(context.Context, *siege) error {
	return func(ctx context.Context, s *siege) error {
		read, err := s.prepare(ctx, v, "SELECT * FROM hostile.wide WHERE p = 0")
		if err != nil {
			return err
		}
		s.each(ctx, s.size.clients(100), client.Options{Version: v}, func(_ int, p *peer) {
			p.send(200, execute(read, page))
			hold(ctx)
		})
		return nil
	}
}

// bigPages requests pages of 64 MB.
func bigPages(clients, pages int) func(context.Context, *siege) error {
	return func(ctx context.Context, s *siege) error {
		read, err := s.prepare(ctx, protocol.V4, "SELECT * FROM hostile.big WHERE p = 0")
		if err != nil {
			return err
		}
		s.each(ctx, s.size.clients(clients), v4, func(_ int, p *peer) {
			p.send(pages, execute(read, 5000))
			hold(ctx)
		})
		return nil
	}
}

// fillHuge makes the partition of readHuge.
func fillHuge(ctx context.Context, addr string, size sizes) error {
	conn, err := client.Dial(ctx, addr, client.Options{})
	if err != nil {
		return err
	}
	defer conn.Close()
	const table = "CREATE TABLE hostile.huge (p int, c int, v blob, PRIMARY KEY (p, c))"
	if _, err := conn.Query(ctx, table, nil, nil); err != nil {
		return fmt.Errorf("%s: %w", table, err)
	}
	value := bytes.Repeat([]byte{0x5a}, bigValue)
	return filling{"INSERT INTO hostile.huge (p, c, v) VALUES (0, ?, ?)", size.Huge, func(i int) [][]byte {
		return [][]byte{intValue(i), value}
	}}.insert(ctx, addr)
}

// readHuge requests more rows in one answer than a frame can hold.
func readHuge(ctx context.Context, s *siege) error {
	const requests = 2
	s.each(ctx, s.size.clients(8), v4, func(_ int, p *peer) {
		if p.send(requests, query("SELECT * FROM hostile.huge WHERE p = 0")) {
			p.read(requests)
		}
	})
	return nil
}

// Statements whose answers are large or expensive.
const (
	jsonQuery   = "SELECT JSON * FROM hostile.big WHERE p = 0"
	sortedQuery = "SELECT * FROM hostile.sorted WHERE p IN ? ORDER BY c"
)

// unreadQuery sends a statement, with a list of a hundred numbers if it has a marker.
func unreadQuery(clients, requests int, cql string) func(context.Context, *siege) error {
	return func(ctx context.Context, s *siege) error {
		var values [][]byte
		if strings.Contains(cql, "?") {
			values = append(values, intList(s.size.SortedPartitions))
		}
		s.each(ctx, s.size.clients(clients), v4, func(_ int, p *peer) {
			p.send(requests, query(cql, values...))
			hold(ctx)
		})
		return nil
	}
}

// repeatedColumn selects a large value very often: a short request for an answer of 1 GB.
func repeatedColumn(ctx context.Context, s *siege) error {
	text := "SELECT v" + strings.Repeat(",v", 999) + " FROM hostile.big WHERE p = 0 AND c = 0"
	s.each(ctx, s.size.clients(8), v4, func(_ int, p *peer) {
		p.send(2, query(text))
		hold(ctx)
	})
	return nil
}

// inKeys requests many large rows by their keys.
func inKeys(ctx context.Context, s *siege) error {
	read, err := s.prepare(ctx, protocol.V4, "SELECT * FROM hostile.heavy WHERE k IN ?")
	if err != nil {
		return err
	}
	s.each(ctx, s.size.clients(16), v4, func(_ int, p *peer) {
		p.send(4, execute(read, 0, intList(s.size.Heavy)))
		hold(ctx)
	})
	return nil
}

// unreadOptions requests a small answer without end.
func unreadOptions(ctx context.Context, s *siege) error {
	s.each(ctx, s.size.clients(250), v4, func(_ int, p *peer) {
		for ctx.Err() == nil && p.send(1000, &protocol.Options{}) {
		}
	})
	return nil
}

// unreadEvents registers for events and reads none.
func unreadEvents(ctx context.Context, s *siege) error { return deafClients(ctx, s, 200) }

// floodEvents is the same with ten times as many.
func floodEvents(ctx context.Context, s *siege) error { return deafClients(ctx, s, 2000) }

// deafClients register for schema changes and do not read.
func deafClients(ctx context.Context, s *siege, n int) error {
	s.each(ctx, s.size.clients(n), v4, func(_ int, p *peer) {
		p.send(1, &protocol.Register{Names: []string{string(protocol.SchemaChanges)}})
		hold(ctx)
	})
	return nil
}
