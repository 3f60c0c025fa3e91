package main

import (
	"context"
	"fmt"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/protocol/client"
)

// batches writes the same rows again and again, as many with one request as fit.
func batches(ctx context.Context, s *siege) error {
	insert, err := s.prepare(ctx, protocol.V4, "INSERT INTO hostile.scratch (k, n) VALUES (?, ?)")
	if err != nil {
		return err
	}
	m := &protocol.Batch{Type: protocol.UnloggedBatch, Parameters: protocol.QueryParameters{Consistency: cqlerr.One}}
	for k := range 5000 {
		m.Children = append(m.Children, protocol.BatchChild{
			Prepared: true, ID: insert.ID, Values: []types.Value{{Bytes: intValue(k)}, {Bytes: intValue(k)}},
		})
	}
	s.each(ctx, s.size.clients(20), v4, func(_ int, p *peer) {
		for ctx.Err() == nil && p.send(1, m) {
		}
	})
	return nil
}

// bigWrites writes large values, each client to a different row.
func bigWrites(ctx context.Context, s *siege) error {
	insert, err := s.prepare(ctx, protocol.V4, "INSERT INTO hostile.scratch (k, v) VALUES (?, ?)")
	if err != nil {
		return err
	}
	const requests = 4
	value := make([]byte, 8<<20)
	s.each(ctx, s.size.clients(16), v4, func(i int, p *peer) {
		if p.send(requests, execute(insert, 0, intValue(i), value)) {
			p.read(requests)
		}
	})
	return nil
}

// traced requests a trace of each read.
func traced(ctx context.Context, s *siege) error {
	read, err := s.prepare(ctx, protocol.V4, "SELECT * FROM hostile.many WHERE k = ?")
	if err != nil {
		return err
	}
	const requests = 5000
	s.each(ctx, 4, v4, func(i int, p *peer) {
		if p.sendFlags(requests, protocol.FlagTracing, execute(read, 0, intValue(i))) {
			p.read(requests)
		}
	})
	return nil
}

// definitions creates and drops tables, with some requests in flight.
func definitions(ctx context.Context, s *siege) error {
	s.each(ctx, 8, client.Options{Version: protocol.V4}, func(i int, p *peer) {
		create := query(fmt.Sprintf("CREATE TABLE IF NOT EXISTS hostile.made%d (k int PRIMARY KEY, a text, b text, c set<text>)", i))
		drop := query(fmt.Sprintf("DROP TABLE IF EXISTS hostile.made%d", i))
		for ctx.Err() == nil && p.send(1, create) && p.send(1, drop) && p.read(2) {
		}
	})
	return nil
}

// counters has many clients contend for one row.
func counters(ctx context.Context, s *siege) error {
	add, err := s.prepare(ctx, protocol.V4, "UPDATE hostile.counters SET n = n + 1 WHERE k = 0")
	if err != nil {
		return err
	}
	const requests = 200
	s.each(ctx, s.size.clients(50), v4, func(_ int, p *peer) {
		if p.send(requests, execute(add, 0)) {
			p.read(requests)
		}
	})
	return nil
}
