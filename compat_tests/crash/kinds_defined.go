package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"

	"github.com/cqld/cqld/protocol/client"
)

// writeTable creates a table or drops it. Its state is how many columns it has.
func writeTable(r *rand.Rand, key, before string) (statement, after string) {
	if before != "" {
		return "DROP TABLE defined.t" + key, ""
	}
	n := 1 + r.IntN(4)
	columns := "p int PRIMARY KEY"
	for i := 1; i < n; i++ {
		columns += fmt.Sprintf(", c%d int", i)
	}
	return fmt.Sprintf("CREATE TABLE defined.t%s (%s)", key, columns), strconv.Itoa(n)
}

func readTables(ctx context.Context, c *client.Conn, found func(key, state string)) error {
	columns := map[string]int{}
	err := each(ctx, c, "SELECT table_name FROM system_schema.columns WHERE keyspace_name = 'defined'",
		func(row [][]byte) { columns[string(row[0])[1:]]++ })
	for key, n := range columns {
		found(key, strconv.Itoa(n))
	}
	return err
}

// truncatedTables are a table for each worker.
func truncatedTables() (all []string) {
	for i := range workers {
		all = append(all, fmt.Sprintf("CREATE TABLE crash.truncated%d (p int PRIMARY KEY)", i*1000))
	}
	return all
}

// writeTruncated adds rows to a table and truncates it. Its state is how many rows it has.
func writeTruncated(_ *rand.Rand, key, before string) (statement, after string) {
	if before == "10" {
		return "TRUNCATE truncated" + key, ""
	}
	n := number(before)
	return fmt.Sprintf("INSERT INTO truncated%s (p) VALUES (%d)", key, n), strconv.Itoa(n + 1)
}

func readTruncated(ctx context.Context, c *client.Conn, found func(key, state string)) error {
	for i := range workers {
		key, rows := strconv.Itoa(i*1000), 0
		err := each(ctx, c, "SELECT p FROM crash.truncated"+key, func([][]byte) { rows++ })
		if err != nil {
			return err
		}
		if rows > 0 {
			found(key, strconv.Itoa(rows))
		}
	}
	return nil
}
