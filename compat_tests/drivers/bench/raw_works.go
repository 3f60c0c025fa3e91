package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"
)

// The tables of the raw client: the table of single rows that gocql uses too, one with partitions of 100 rows, and the
// tables of four numbers.
const (
	rawSlice = 100 // rows of a partition

	rowTableCQL   = "CREATE TABLE IF NOT EXISTS bench.t (k int PRIMARY KEY, a blob, b blob, c blob, d blob, e blob)"
	sliceTableCQL = "CREATE TABLE IF NOT EXISTS bench.s (k int, c int, a blob, b blob, c1 blob, d blob, e blob, PRIMARY KEY (k, c))"
	sliceRowCQL   = "INSERT INTO bench.s (k, c, a, b, c1, d, e) VALUES (?, ?, ?, ?, ?, ?, ?)"
	sliceCQL      = "SELECT a, b, c1, d, e FROM bench.s WHERE k = ?"
	shortSliceCQL = "SELECT a, b, c1, d, e FROM bench.s WHERE k = ? AND c >= ? LIMIT 10"
	scanCQL       = "SELECT k, c, a, b, c1, d, e FROM bench.s WHERE token(k) > ? LIMIT 1000"
	countCQL      = "SELECT count(*) FROM bench.s"
	updateCQL     = "UPDATE bench.t SET a = ?, b = ?, c = ?, d = ?, e = ? WHERE k = ?"
	oneColumnCQL  = "UPDATE bench.t SET c = ? WHERE k = ?"

	derivedRows  = 100_000
	indexedGroup = 10  // rows that have the same value of an indexed column
	viewedGroup  = 100 // rows of a view's partition

	plainInsertCQL   = "INSERT INTO bench.plain (k, v, w, x) VALUES (?, ?, ?, ?)"
	indexedInsertCQL = "INSERT INTO bench.indexed (k, v, w, x) VALUES (?, ?, ?, ?)"
	threeInsertCQL   = "INSERT INTO bench.three (k, v, w, x) VALUES (?, ?, ?, ?)"
	viewedInsertCQL  = "INSERT INTO bench.viewed (k, v, w, x) VALUES (?, ?, ?, ?)"
	sameInsertCQL    = "INSERT INTO bench.same (k, v, w, x) VALUES (?, ?, ?, ?)"
	indexedCQL       = "SELECT k, w FROM bench.indexed WHERE v = ?"
	viewCQL          = "SELECT k, w FROM bench.by_w WHERE w = ?"
	sameCQL          = "SELECT k, w FROM bench.same WHERE w = ?"

	vectorRows      = 100_000
	vectorNumbers   = 64  // of a vector
	vectorCentres   = 100 // that vectors lie around
	fewInFlight     = 4   // of a connection: with more, some requests time out on Cassandra
	vectorInsertCQL = "INSERT INTO bench.vectors (k, v) VALUES (?, ?)"
	nearestCQL      = "SELECT k FROM bench.vectors ORDER BY v ANN OF ? LIMIT 10"
)

// tableRows is how many rows the tables of single rows and of partitions have before requests write others. Parts set
// it before they fill tables.
var tableRows int64 = 100_000

func partitions() int64 { return tableRows / rawSlice }

// vectorTables are a table of vectors with its index.
var vectorTables = []string{
	fmt.Sprintf("CREATE TABLE IF NOT EXISTS bench.vectors (k int PRIMARY KEY, v vector<float, %d>)", vectorNumbers),
	"CREATE INDEX IF NOT EXISTS ON bench.vectors (v) USING 'sai' WITH OPTIONS = {'similarity_function': 'euclidean'}",
}

// vector appends a value: one of the vectors around a centre. Different seeds give different vectors.
func vector(b []byte, n int64, seed uint64) []byte {
	at, around := rand.New(rand.NewPCG(uint64(n%vectorCentres), 0)), rand.New(rand.NewPCG(uint64(n), seed))
	b = binary.BigEndian.AppendUint32(b, 4*vectorNumbers)
	for range vectorNumbers {
		b = binary.BigEndian.AppendUint32(b, math.Float32bits(float32(at.NormFloat64()+around.NormFloat64()/2)))
	}
	return b
}

// indexedTable is a table of four numbers with an index.
var indexedTable = []string{
	"CREATE TABLE IF NOT EXISTS bench.indexed (k int PRIMARY KEY, v int, w int, x int)",
	"CREATE INDEX IF NOT EXISTS ON bench.indexed (v)",
}

// derivedTables are the other tables of four numbers: without an index, with three, with a view, and a plain table with
// the same rows as the view.
var derivedTables = []string{
	"CREATE TABLE IF NOT EXISTS bench.plain (k int PRIMARY KEY, v int, w int, x int)",
	"CREATE TABLE IF NOT EXISTS bench.three (k int PRIMARY KEY, v int, w int, x int)",
	"CREATE INDEX IF NOT EXISTS ON bench.three (v)",
	"CREATE INDEX IF NOT EXISTS ON bench.three (w)",
	"CREATE INDEX IF NOT EXISTS ON bench.three (x)",
	"CREATE TABLE IF NOT EXISTS bench.viewed (k int PRIMARY KEY, v int, w int, x int)",
	"CREATE MATERIALIZED VIEW IF NOT EXISTS bench.by_w AS SELECT * FROM bench.viewed WHERE w IS NOT NULL AND k IS NOT NULL " +
		"PRIMARY KEY (w, k)",
	"CREATE TABLE IF NOT EXISTS bench.same (k int, v int, w int, x int, PRIMARY KEY (w, k))",
}

// derivedRow appends the values of a row of these tables.
func derivedRow(b []byte, k int32) []byte {
	return intValue(intValue(intValue(intValue(b, k), k/indexedGroup), k/viewedGroup), k%indexedGroup)
}

func derivedInsert(b []byte, _ int64) []byte { return derivedRow(b, derivedRows+rawInserted.Add(1)) }

// groupBody asks for the rows with one value, which so many rows have.
func groupBody(group int32) func(b []byte, n int64) []byte {
	return func(b []byte, n int64) []byte { return intValue(b, int32(n*7919%int64(derivedRows/group))) }
}

// rawWork is one kind of request of the raw client.
type rawWork struct {
	name   string
	opcode byte
	depth  int      // of a connection; 0: rawInFlight
	cql    []string // the statements that it needs
	body   func(ids [][]byte) bodyOf
}

const opBatch = 0x0d

// rawInserted counts the rows inserted after the initial ones.
var rawInserted atomic.Int32

func freshKey() int32 { return int32(tableRows) + rawInserted.Add(1) }

// value appends a value of a request, and intValue one of type int.
func value(b, v []byte) []byte {
	return append(binary.BigEndian.AppendUint32(b, uint32(len(v))), v...)
}

func intValue(b []byte, n int32) []byte {
	return binary.BigEndian.AppendUint32(append(b, 0, 0, 0, 4), uint32(n))
}

// execute appends the body of an EXECUTE up to its values, with consistency ONE and skip_metadata.
func execute(b, id []byte, values int) []byte {
	b = append(binary.BigEndian.AppendUint16(b, uint16(len(id))), id...)
	return append(b, 0, 1, 0x03, byte(values>>8), byte(values))
}

// insertRow appends the values of a row.
func insertRow(b []byte, k int32) []byte {
	b = intValue(b, k)
	for range columns {
		b = value(b, cell)
	}
	return b
}

// spread returns the key of an initial row, in pseudo-random order, and spreadPartition that of a partition.
func spread(n int64) int32          { return int32(scattered(n, tableRows)) }
func spreadPartition(n int64) int32 { return int32(scattered(n, partitions())) }

// scattered is the i-th number below n in an order that looks random and has each once.
func scattered(i, n int64) int64 {
	const step = 2_147_483_647 // a prime number that is no factor of any n
	return i % n * step % n
}

// one makes requests of one statement.
func one(values int, row func(b []byte, n int64) []byte) func(ids [][]byte) bodyOf {
	return func(ids [][]byte) bodyOf {
		return func(b []byte, n int64) []byte { return row(execute(b, ids[0], values), n) }
	}
}

func readBody(b []byte, n int64) []byte { return intValue(b, spread(n)) }

// updateBody writes five columns of a row.
func updateBody(b []byte, n int64) []byte {
	for range columns {
		b = value(b, cell)
	}
	return intValue(b, spread(n))
}

func insertBody(b []byte, _ int64) []byte { return insertRow(b, freshKey()) }

// batchOf appends the body of a logged batch of ten inserts of new rows.
func batchOf(ids [][]byte) bodyOf {
	return func(b []byte, _ int64) []byte {
		const n = 10
		b = append(b, 0, 0, n)
		for range n {
			b = append(b, 1)
			b = append(binary.BigEndian.AppendUint16(b, uint16(len(ids[0]))), ids[0]...)
			b = insertRow(append(b, 0, columns+1), freshKey())
		}
		return append(b, 0, 1, 0)
	}
}

// mixed makes eight reads, one update and one insert of every ten requests.
func mixed(ids [][]byte) bodyOf {
	return func(b []byte, n int64) []byte {
		switch n % 10 {
		case 0:
			return insertBody(execute(b, ids[1], columns+1), n)
		case 1:
			return updateBody(execute(b, ids[2], columns+1), n/10) // any row, and not each tenth
		}
		return readBody(execute(b, ids[0], 1), n)
	}
}

// nearestWork is the kind of request that needs vectorTables.
const nearestWork = "ten nearest vectors"

// The kinds of requests of which the page shows how they grow.
var (
	readWork   = rawWork{"read", opExecute, 0, []string{selectCQL}, one(1, readBody)}
	insertWork = rawWork{"insert", opExecute, 0, []string{insertCQL}, one(columns+1, insertBody)}
	updateWork = rawWork{"update", opExecute, 0, []string{updateCQL}, one(columns+1, updateBody)}
	sliceWork  = rawWork{"slice of 100", opExecute, 0, []string{sliceCQL}, one(1, func(b []byte, n int64) []byte {
		return intValue(b, spreadPartition(n))
	})}
)

// rawWorks are measured in this order: the view and the table like it are read while both have the same rows, and the
// vectors come last because writing them evicts the other rows from memory.
var rawWorks = []rawWork{
	readWork,
	insertWork,
	updateWork,
	{"update of a column", opExecute, 0, []string{oneColumnCQL}, one(2, func(b []byte, n int64) []byte {
		return intValue(value(b, cell), spread(n))
	})},
	{"slice of ten", opExecute, 0, []string{shortSliceCQL}, one(2, func(b []byte, n int64) []byte {
		return intValue(intValue(b, spreadPartition(n)), int32(n%rawSlice*9/10))
	})},
	sliceWork,
	{"scan of a thousand", opExecute, 1, []string{scanCQL}, one(1, func(b []byte, n int64) []byte {
		token := n * 0x1e3779b97f4a7c15 >> 1 // in the lower half, so that rows follow it
		return binary.BigEndian.AppendUint64(append(b, 0, 0, 0, 8), uint64(-max(token, -token)))
	})},
	{"count(*) of the table", opExecute, 1, []string{countCQL}, one(0, func(b []byte, _ int64) []byte { return b })},
	{"conditional insert", opExecute, 0, []string{conditionalInsertCQL}, one(columns+1, insertBody)},
	{"conditional update", opExecute, 0, []string{conditionalUpdateCQL}, one(columns+2, func(b []byte, n int64) []byte {
		return value(updateBody(b, n), cell)
	})},
	{"logged batch of 10", opBatch, 0, []string{insertCQL}, batchOf},
	{"ten rows by an index", opExecute, 0, []string{indexedCQL}, one(1, groupBody(indexedGroup))},
	{"100 rows of a view", opExecute, 0, []string{viewCQL}, one(1, groupBody(viewedGroup))},
	{"100 rows of such a table", opExecute, 0, []string{sameCQL}, one(1, groupBody(viewedGroup))},
	{"insert of four numbers", opExecute, 0, []string{plainInsertCQL}, one(4, derivedInsert)},
	{"insert with one index", opExecute, 0, []string{indexedInsertCQL}, one(4, derivedInsert)},
	{"insert with three indexes", opExecute, 0, []string{threeInsertCQL}, one(4, derivedInsert)},
	{"insert with a view", opExecute, 0, []string{viewedInsertCQL}, one(4, derivedInsert)},
	{"mixed 8 : 1 : 1", opExecute, 0, []string{selectCQL, insertCQL, updateCQL}, mixed},
	{nearestWork, opExecute, 1, []string{nearestCQL}, one(1, func(b []byte, n int64) []byte { return vector(b, n, 1) })},
}

// requests makes a work's requests for a server.
func (c *rawClient) requests(ctx context.Context, w rawWork) (bodyOf, error) {
	var ids [][]byte
	for _, cql := range w.cql {
		if id := c.answers[w.name]; id != nil {
			ids = append(ids, id)
			continue
		}
		id, err := c.id(ctx, cql)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return w.body(ids), nil
}

// define makes the keyspace and tables in it.
func (c *rawClient) define(ctx context.Context, tables ...string) error {
	for _, cql := range append([]string{keyspaceCQL}, tables...) {
		if _, err := c.connections[0].Query(ctx, cql, nil, nil); err != nil {
			return fmt.Errorf("%s: %w", cql, err)
		}
	}
	return nil
}

// fillVectors makes the table of vectors.
func (c *rawClient) fillVectors(ctx context.Context) error {
	if err := c.define(ctx, vectorTables...); err != nil {
		return err
	}
	return c.fill(ctx, fewInFlight, []string{vectorInsertCQL}, vectorRows, one(2, func(b []byte, n int64) []byte {
		return vector(intValue(b, int32(n%vectorRows)), n%vectorRows, 2)
	}))
}

// prepareTables makes the tables and their initial rows, except the table of vectors.
func (c *rawClient) prepareTables(ctx context.Context) error {
	if err := c.define(ctx, slices.Concat(indexedTable, derivedTables)...); err != nil {
		return err
	}
	// Rows are written to these tables in turn, so that the same share of each is in memory when it is read.
	derived := []string{indexedInsertCQL, viewedInsertCQL, sameInsertCQL}
	err := c.fill(ctx, rawInFlight, derived, derivedRows*int64(len(derived)), func(ids [][]byte) bodyOf {
		return func(b []byte, n int64) []byte {
			tables := int64(len(ids))
			return derivedRow(execute(b, ids[n%tables], 4), int32(n/tables%derivedRows))
		}
	})
	return errors.Join(err, c.fillRows(ctx), c.fillPartitions(ctx))
}

// fillRows makes the table of single rows, and fillPartitions that of partitions.
func (c *rawClient) fillRows(ctx context.Context) error {
	if err := c.define(ctx, rowTableCQL); err != nil {
		return err
	}
	return c.fill(ctx, c.gently(), []string{insertCQL}, tableRows, one(columns+1, func(b []byte, n int64) []byte {
		return insertRow(b, int32(n%tableRows))
	}))
}

func (c *rawClient) fillPartitions(ctx context.Context) error {
	if err := c.define(ctx, sliceTableCQL); err != nil {
		return err
	}
	return c.fill(ctx, c.gently(), []string{sliceRowCQL}, tableRows, one(columns+2, func(b []byte, n int64) []byte {
		return insertRow(intValue(b, int32(n/rawSlice%partitions())), int32(n%rawSlice))
	}))
}

// gently is how many requests a connection has in flight that fills a table. Cassandra gets few at a time: some would
// time out otherwise.
func (c *rawClient) gently() int {
	if c.warm > 0 {
		return fewInFlight
	}
	return rawInFlight
}

// fill sends at least n requests, with depth of them in flight on each connection.
func (c *rawClient) fill(ctx context.Context, depth int, cql []string, n int64, body func(ids [][]byte) bodyOf) error {
	make, err := c.requests(ctx, rawWork{cql: cql, body: body})
	if err != nil {
		return err
	}
	c.patient = true
	defer func() { c.patient = false }()
	var numbers atomic.Int64
	_, err = c.run(opExecute, depth, make, &numbers, func() bool { return numbers.Load() >= n })
	return err
}
