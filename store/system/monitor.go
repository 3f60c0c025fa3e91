package system

import (
	"time"

	"github.com/cqld/cqld/cql/schema"
)

// Monitor supplies the virtual tables that show the server at work.
type Monitor interface {
	// Table is about the statements of one table.
	Table(*schema.Table) TableActivity

	// Batches is about batches of all tables.
	Batches() Batches

	// Statements counts prepared statements and executions.
	Statements() Statements

	// Queries returns the requests that are being served.
	Queries() []Query

	// Pools returns the limits of the server's work, and their use.
	Pools() []Pool
}

// Latency is how many statements there were, and how long they took.
type Latency struct {
	Count         int64
	Max, P50, P99 time.Duration
	PerSecond     float64 // of late
}

// Distribution is how many of something there were, and how large they were.
type Distribution struct {
	Count               int64
	Max, P50, P99, P999 int64
}

// TableActivity is the latencies of the statements of a table, and the rows and tombstones per read.
type TableActivity struct {
	Reads, Scans, Writes Latency
	Rows, Tombstones     Distribution
}

// Batches are how many partitions the batches of each kind wrote to.
type Batches struct{ Logged, Unlogged, Counter Distribution }

// Statements are the prepared statements, and how many executions there were.
type Statements struct {
	Prepared, Evicted int64
	Executes, Queries int64 // of prepared statements, and of texts
}

// Query is a request that is being served.
type Query struct {
	ID      string // of the connection and the stream
	Running time.Duration
	Task    string
}

// Pool is a number of places for work of one kind.
type Pool struct {
	Name                      string
	Active, Limit             int
	Pending, Blocked          int
	BlockedAllTime, Completed int64
}
