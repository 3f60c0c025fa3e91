package main

import (
	"bytes"
	"context"
	"fmt"
	"sync"

	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/protocol/client"
)

// sizes set how much is stored, and how many clients attack.
type sizes struct {
	Partition        int // rows of the partition in hostile.wide
	Table            int // rows of hostile.many
	Big              int // rows of 1 MB in the partition of hostile.big
	Heavy            int // rows of 20 KB in hostile.heavy
	SortedPartitions int // of 500 rows of 1 KB in hostile.sorted
	Sets             int // rows of hostile.sets
	Huge             int // rows of 1 MB in the partition of hostile.huge
	Share            int // one in so many clients attacks; 0: all
}

var (
	full    = sizes{Partition: 300_000, Table: 1_000_000, Big: 64, Heavy: 5000, SortedPartitions: 100, Sets: 100, Huge: 2000}
	quickly = sizes{Partition: 30_000, Table: 100_000, Big: 64, Heavy: 500, SortedPartitions: 20, Sets: 10, Huge: 100}
)

// clients is how many of n clients attack.
func (s sizes) clients(n int) int {
	if s.Share == 0 {
		return n
	}
	return max(1, n/s.Share)
}

// definitionsOf are the keyspace and the tables.
var definitionsOf = []string{
	"CREATE KEYSPACE hostile WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
	"CREATE TABLE hostile.neighbour (k int PRIMARY KEY, v blob)",
	"CREATE TABLE hostile.wide (p int, c int, v text, PRIMARY KEY (p, c))",
	"CREATE TABLE hostile.many (k int PRIMARY KEY, v int, t text)",
	"CREATE TABLE hostile.big (p int, c int, v blob, PRIMARY KEY (p, c))",
	"CREATE TABLE hostile.heavy (k int PRIMARY KEY, v blob)",
	"CREATE TABLE hostile.sorted (p int, c int, v blob, PRIMARY KEY (p, c))",
	"CREATE TABLE hostile.sets (k int PRIMARY KEY, s set<text>)",
	"CREATE TABLE hostile.numbers (k int PRIMARY KEY, v varint)",
	"CREATE TABLE hostile.partitions (a int, b int, c int, v int, PRIMARY KEY ((a, b, c)))",
	"CREATE TABLE hostile.clusterings (p int, a int, b int, c int, v int, PRIMARY KEY (p, a, b, c))",
	"CREATE TABLE hostile.lists (k int PRIMARY KEY, l list<int>)",
	"CREATE TABLE hostile.counters (k int PRIMARY KEY, n counter)",
	"CREATE TABLE hostile.scratch (k int PRIMARY KEY, n int, v blob)",
}

// Sizes of rows.
const (
	wideText       = 100
	manyText       = 20
	bigValue       = 1_000_000 // nearly the limit of a server that keeps its data in memory
	heavyValue     = 20_000
	sortedRows     = 500
	sortedValue    = 1000
	setElements    = 5000
	numberBytes    = 41_500 // of a number of 100,000 digits
	neighbourRows  = 1000
	neighbourValue = 100
)

// filling is how the rows of a table are made.
type filling struct {
	cql  string
	rows int
	row  func(i int) [][]byte
}

func (s sizes) fillings() []filling {
	text := bytes.Repeat([]byte{'x'}, wideText)
	value := bytes.Repeat([]byte{0x5a}, bigValue)
	return []filling{
		{"INSERT INTO hostile.wide (p, c, v) VALUES (0, ?, ?)", s.Partition, func(i int) [][]byte {
			return [][]byte{intValue(i), text}
		}},
		{"INSERT INTO hostile.many (k, v, t) VALUES (?, ?, ?)", s.Table, func(i int) [][]byte {
			return [][]byte{intValue(i), intValue(i), text[:manyText]}
		}},
		{"INSERT INTO hostile.big (p, c, v) VALUES (0, ?, ?)", s.Big, func(i int) [][]byte {
			return [][]byte{intValue(i), value}
		}},
		{"INSERT INTO hostile.heavy (k, v) VALUES (?, ?)", s.Heavy, func(i int) [][]byte {
			return [][]byte{intValue(i), value[:heavyValue]}
		}},
		{"INSERT INTO hostile.sorted (p, c, v) VALUES (?, ?, ?)", s.SortedPartitions * sortedRows, func(i int) [][]byte {
			return [][]byte{intValue(i / sortedRows), intValue(i % sortedRows), value[:sortedValue]}
		}},
		{"INSERT INTO hostile.sets (k, s) VALUES (?, ?)", s.Sets, func(i int) [][]byte {
			return [][]byte{intValue(i), set(setElements)}
		}},
		{"INSERT INTO hostile.numbers (k, v) VALUES (?, ?)", 1, func(i int) [][]byte {
			return [][]byte{intValue(i), value[:numberBytes]}
		}},
	}
}

// neighbourFilling makes the rows that the neighbour reads and overwrites.
var neighbourFilling = filling{"INSERT INTO hostile.neighbour (k, v) VALUES (?, ?)", neighbourRows, func(i int) [][]byte {
	return [][]byte{intValue(i), neighbourCell(i)}
}}

// neighbourCell is the cell of the neighbour in row i.
func neighbourCell(i int) []byte {
	return bytes.Repeat([]byte{byte(i)}, neighbourValue)
}

// set is a set of n texts.
func set(n int) []byte {
	b := intValue(n)
	for i := range n {
		element := fmt.Sprintf("element %012d", i)
		b = append(append(b, intValue(len(element))...), element...)
	}
	return b
}

// define makes the tables, and the rows of the neighbour.
func define(ctx context.Context, addr string) error {
	conn, err := client.Dial(ctx, addr, client.Options{})
	if err != nil {
		return err
	}
	defer conn.Close()
	for _, cql := range definitionsOf {
		if _, err := conn.Query(ctx, cql, nil, nil); err != nil {
			return fmt.Errorf("%s: %w", cql, err)
		}
	}
	return neighbourFilling.insert(ctx, addr)
}

// fill inserts all other rows.
func fill(ctx context.Context, addr string, size sizes) error {
	for _, f := range size.fillings() {
		if err := f.insert(ctx, addr); err != nil {
			return fmt.Errorf("%s: %w", f.cql, err)
		}
	}
	return nil
}

// fillers is how many connections insert at a time.
const fillers = 4

// insert inserts all rows over some connections.
func (f filling) insert(ctx context.Context, addr string) error {
	var wait sync.WaitGroup
	failed := make([]error, fillers)
	for i := range fillers {
		wait.Go(func() { failed[i] = f.insertPart(ctx, addr, f.rows*i/fillers, f.rows*(i+1)/fillers) })
	}
	wait.Wait()
	for _, err := range failed {
		if err != nil {
			return err
		}
	}
	return nil
}

// Sizes of bursts: requests sent before their answers are read.
const (
	burstRows  = 2000
	burstBytes = 4 << 20
)

// insertPart inserts a half-open range of rows.
func (f filling) insertPart(ctx context.Context, addr string, from, to int) error {
	conn, err := client.Dial(ctx, addr, client.Options{Version: protocol.V4})
	if err != nil {
		return err
	}
	defer conn.Close()
	insert, err := conn.Prepare(ctx, f.cql, "")
	if err != nil {
		return err
	}
	enc := protocol.Encoder{Version: protocol.V4}
	var buf []byte
	for from < to {
		n := 0
		for buf = buf[:0]; n < burstRows && from < to && len(buf) < burstBytes; n++ {
			buf = enc.AppendRequest(buf, int16(n), 0, nil, execute(insert, 0, f.row(from)...))
			from++
		}
		if _, err := conn.NetConn().Write(buf); err != nil {
			return err
		}
		for range n {
			h, body, err := conn.ReceiveEnvelope(ctx)
			if err != nil {
				return err
			}
			if h.Opcode != protocol.OpResult {
				return fmt.Errorf("answered with %s", kindOf(h, body))
			}
		}
	}
	return nil
}
