package main

import (
	"context"
	"fmt"

	"github.com/cqld/cqld/cluster/local"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/protocol/client"
)

const (
	sliceRows   = 20 // rows of a slice
	indexedRows = 10 // rows with the same indexed value
	rows        = 4  // rows per client that it reads and updates
)

// definitions create the tables.
var definitions = []string{
	"CREATE KEYSPACE bench WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
	"CREATE TABLE bench.one (a int PRIMARY KEY, b int)",
	"CREATE TABLE bench.many (a int, b int, c text, PRIMARY KEY (a, b))",
	"CREATE TABLE bench.counters (a int PRIMARY KEY, n counter)",
	"CREATE TABLE bench.indexed (a int PRIMARY KEY, b int)",
	"CREATE INDEX ON bench.indexed (b)",
}

func define(ctx context.Context, c *local.Cluster) error {
	conn, err := client.Dial(ctx, c.Nodes[0].Addr, client.Options{})
	if err != nil {
		return err
	}
	defer conn.Close()
	for _, text := range definitions {
		if _, err := conn.Query(ctx, text, nil, nil); err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
	}
	return nil
}

// statement is a measured statement.
type statement struct {
	name, text string

	// values returns the values of a client's n-th execution. It is nil for a schema change, whose text has a placeholder
	// for n and which only one client sends.
	values func(client, n int) []types.Value
}

// statements are all statements, in the order of the printed lines.
var statements = []statement{
	{"SELECT of one row by its key", "SELECT b FROM bench.one WHERE a = ?", func(client, n int) []types.Value {
		return numbers(rowOf(client, n))
	}},
	{
		fmt.Sprintf("SELECT of a slice of %d rows", sliceRows), "SELECT b, c FROM bench.many WHERE a = ?",
		func(client, _ int) []types.Value { return numbers(client) },
	},
	{
		fmt.Sprintf("SELECT of %d rows by an index", indexedRows), "SELECT a FROM bench.indexed WHERE b = ?",
		func(client, _ int) []types.Value { return numbers(client) },
	},
	{"INSERT of a row", "INSERT INTO bench.one (a, b) VALUES (?, ?)", func(client, n int) []types.Value {
		return numbers((client+1)<<20+n, n)
	}},
	{"UPDATE with a condition that holds", "UPDATE bench.one SET b = ? WHERE a = ? IF b = ?", func(client, n int) []types.Value {
		return numbers(1, rowOf(client, n), 1)
	}},
	{
		"INSERT IF NOT EXISTS of a row that exists", "INSERT INTO bench.one (a, b) VALUES (?, ?) IF NOT EXISTS",
		func(client, n int) []types.Value { return numbers(rowOf(client, n), 1) },
	},
	{"UPDATE of a counter", "UPDATE bench.counters SET n = n + 1 WHERE a = ?", func(client, n int) []types.Value {
		return numbers(rowOf(client, n))
	}},
	{"CREATE TABLE", "CREATE TABLE bench.t%d (a int PRIMARY KEY)", nil},
}

// rowOf returns the key of a row that only one client uses.
func rowOf(client, n int) int { return client*rows + n%rows }

func numbers(all ...int) (values []types.Value) {
	for _, n := range all {
		values = append(values, types.Value{Bytes: types.EncodeInt(int32(n))})
	}
	return values
}

// worker is a client.
type worker struct {
	number   int
	conn     *client.Conn
	prepared []*client.Prepared
	sent     []int // number of executions of each statement
}

// connect connects a client to a node, prepares the statements and writes the rows of the client.
func connect(ctx context.Context, number int, address string) (*worker, error) {
	conn, err := client.Dial(ctx, address, client.Options{})
	if err != nil {
		return nil, err
	}
	w := &worker{number: number, conn: conn, sent: make([]int, len(statements))}
	for _, s := range statements {
		if s.values == nil {
			w.prepared = append(w.prepared, nil)
			continue
		}
		p, err := conn.Prepare(ctx, s.text, "")
		if err != nil {
			return nil, err
		}
		w.prepared = append(w.prepared, p)
	}
	return w, w.fill(ctx)
}

// fill writes the rows of a client.
func (w *worker) fill(ctx context.Context) error {
	text := "BEGIN UNLOGGED BATCH "
	for n := range rows {
		text += fmt.Sprintf("INSERT INTO bench.one (a, b) VALUES (%d, 1); ", rowOf(w.number, n))
	}
	for b := range sliceRows {
		text += fmt.Sprintf("INSERT INTO bench.many (a, b, c) VALUES (%d, %d, 'of twenty bytes each'); ", w.number, b)
	}
	for n := range indexedRows {
		text += fmt.Sprintf("INSERT INTO bench.indexed (a, b) VALUES (%d, %d); ", w.number*indexedRows+n, w.number)
	}
	_, err := w.conn.Query(ctx, text+"APPLY BATCH", nil, nil)
	return err
}

// send executes a statement.
func (w *worker) send(ctx context.Context, number int) error {
	n := w.sent[number]
	w.sent[number]++
	if s := &statements[number]; s.values == nil {
		_, err := w.conn.Query(ctx, fmt.Sprintf(s.text, n), nil, nil)
		return err
	}
	_, err := w.conn.Execute(ctx, w.prepared[number], statements[number].values(w.number, n), nil)
	return err
}
