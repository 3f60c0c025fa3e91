package main

import (
	"context"
	"strings"

	"github.com/cqld/cqld/protocol"
)

// The scans: both read every row of a table and return one row.
const (
	countScan  = "SELECT count(*) FROM hostile.many"
	filterScan = "SELECT * FROM hostile.many WHERE v = -1 ALLOW FILTERING"
)

// scans keeps n scans in flight on one connection.
func scans(n int) func(context.Context, *siege) error {
	return func(ctx context.Context, s *siege) error {
		p := s.connect(ctx, v4)
		if p == nil || !p.send(n/2, query(countScan)) || !p.send(n-n/2, query(filterScan)) {
			return nil
		}
		for i := 0; ctx.Err() == nil && p.read(1); i++ {
			next := countScan
			if i%2 > 0 {
				next = filterScan
			}
			if !p.send(1, query(next)) {
				return nil
			}
		}
		return nil
	}
}

// scansLeft sends scans and disconnects at the end of its short attack.
func scansLeft(ctx context.Context, s *siege) error {
	if p := s.connect(ctx, v4); p != nil {
		p.send(500, query(filterScan))
		hold(ctx)
	}
	return nil
}

// crowdOfScans has many clients with many scans each in flight.
func crowdOfScans(ctx context.Context, s *siege) error {
	const requests = 500
	s.each(ctx, s.size.clients(200), v4, func(_ int, p *peer) {
		if p.send(requests, query(filterScan)) {
			p.read(requests)
		}
	})
	return nil
}

// sliceQuery reads nearly as many rows as make a read count as long.
const sliceQuery = "SELECT c FROM hostile.wide WHERE p = 0 LIMIT 450"

// crowdOfSlices has many clients with many slices each in flight.
func crowdOfSlices(ctx context.Context, s *siege) error {
	const requests = 500
	s.each(ctx, s.size.clients(200), v4, func(_ int, p *peer) {
		for ctx.Err() == nil && p.send(requests, query(sliceQuery)) && p.read(requests) {
		}
	})
	return nil
}

// arithmeticQuery multiplies large numbers: the product of the table's number a hundred times.
var arithmeticQuery = "SELECT v" + strings.Repeat("*v", 99) + " FROM hostile.numbers WHERE k = 0"

// arithmeticOnce sends one request and waits for the answer.
func arithmeticOnce(ctx context.Context, s *siege) error {
	s.each(ctx, 1, v4, func(_ int, p *peer) {
		if p.send(1, query(arithmeticQuery)) {
			p.read(1)
		}
	})
	return nil
}

// arithmeticAgain sends requests without pause, so that one is running when it disconnects.
func arithmeticAgain(ctx context.Context, s *siege) error {
	s.each(ctx, 1, v4, func(_ int, p *peer) {
		for ctx.Err() == nil && p.send(1, query(arithmeticQuery)) && p.read(1) {
		}
	})
	return nil
}

// product is a statement whose three lists have 27 million combinations, and its values.
type product struct {
	cql    string
	values [][]byte
}

// inProductOf is how many values each list has.
const inProductOf = 300

func inProductLists() product {
	list := intList(inProductOf)
	return product{
		cql:    "SELECT * FROM hostile.partitions WHERE a IN ? AND b IN ? AND c IN ?",
		values: [][]byte{list, list, list},
	}
}

func inProductMarkers() product {
	markers := "(?" + strings.Repeat(",?", inProductOf-1) + ")"
	p := product{cql: "SELECT * FROM hostile.clusterings WHERE p = 0 AND a IN " + markers + " AND b IN " + markers + " AND c IN " + markers}
	for range 3 {
		for i := range inProductOf {
			p.values = append(p.values, intValue(i))
		}
	}
	return p
}

// inProduct sends few requests on each of some connections and reads the answers, until it leaves.
func inProduct(make func() product) func(context.Context, *siege) error {
	return func(ctx context.Context, s *siege) error {
		which := make()
		prepared, err := s.prepare(ctx, protocol.V4, which.cql)
		if err != nil {
			return err
		}
		const requests = 10
		s.each(ctx, s.size.clients(4), v4, func(_ int, p *peer) {
			if p.send(requests, execute(prepared, 0, which.values...)) {
				p.read(requests)
			}
			hold(ctx)
		})
		return nil
	}
}

// aggregates keeps aggregates of large collections in flight.
func aggregates(ctx context.Context, s *siege) error {
	const requests = 64
	s.each(ctx, 1, v4, func(_ int, p *peer) {
		p.send(requests, query("SELECT max(s), min(s), count(s) FROM hostile.sets"))
		for ctx.Err() == nil && p.read(1) && p.send(1, query("SELECT max(s), min(s), count(s) FROM hostile.sets")) {
		}
	})
	return nil
}
