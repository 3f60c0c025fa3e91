package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/cqld/cqld/cluster/local"
	"github.com/cqld/cqld/protocol/client"
	"github.com/cqld/cqld/protocol/client/transfer"
)

// importedRows is how many rows are imported.
const importedRows = 24_000

// printImports prints the throughput of imports, by delay and format.
func printImports(folder string, nodes int) error {
	fmt.Printf("\nImport of %d rows through one of %d node(s), rows a second:\n\n", importedRows, nodes)
	fmt.Print("| delay | jsonl | cql |\n|---|---|---|\n")
	return withCluster(folder, local.Options{Nodes: nodes}, func(ctx context.Context, c *local.Cluster) error {
		conn, err := client.Dial(ctx, c.Nodes[0].Addr, client.Options{})
		if err != nil {
			return err
		}
		defer conn.Close()
		if err := fillImported(ctx, conn); err != nil {
			return err
		}
		server := transfer.Server{Addr: c.Nodes[0].Addr, Timeout: time.Minute}
		formats := []string{"jsonl", "cql"}
		for _, f := range formats {
			e := transfer.Export{
				Server: server, Dir: filepath.Join(folder, fmt.Sprint("export-", nodes, f)), Keyspace: "bench", Table: "imported",
				Format: f, Parts: 8, Jobs: 8, Progress: func(transfer.Progress) {},
			}
			if _, err := e.Run(ctx); err != nil {
				return err
			}
		}
		for _, d := range []time.Duration{0, 2 * time.Millisecond, 10 * time.Millisecond} {
			line := fmt.Sprintf("| %v |", d)
			for _, f := range formats {
				rate, err := importAgain(ctx, c, conn, d, transfer.Import{
					Server: server, Dir: filepath.Join(folder, fmt.Sprint("export-", nodes, f)), NoSchema: true, Jobs: 8,
					Progress: func(transfer.Progress) {},
				})
				if err != nil {
					return err
				}
				line += fmt.Sprintf(" %.0f |", rate)
			}
			fmt.Println(line)
		}
		return nil
	})
}

// fillImported creates a table with the rows.
func fillImported(ctx context.Context, conn *client.Conn) error {
	text := "CREATE TABLE bench.imported (a int, b int, c text, d bigint, PRIMARY KEY (a, b))"
	if _, err := conn.Query(ctx, text, nil, nil); err != nil {
		return err
	}
	const perPartition = 8
	for first := 0; first < importedRows; first += 64 {
		var batch strings.Builder
		batch.WriteString("BEGIN UNLOGGED BATCH ")
		for n := first; n < first+64; n++ {
			fmt.Fprintf(&batch, "INSERT INTO bench.imported (a, b, c, d) VALUES (%d, %d, 'a text of some length, row %d', %d); ",
				n/perPartition, n%perPartition, n, n)
		}
		if _, err := conn.Query(ctx, batch.String()+"APPLY BATCH", nil, nil); err != nil {
			return err
		}
	}
	return nil
}

// importAgain empties the table and imports it. It returns the rows per second.
func importAgain(
	ctx context.Context, c *local.Cluster, conn *client.Conn, delay time.Duration, i transfer.Import,
) (float64, error) {
	c.SetDelay(0)
	notes, err := filepath.Glob(filepath.Join(i.Dir, "imported-into-*"))
	if err != nil {
		return 0, err
	}
	for _, name := range notes {
		if err := os.Remove(name); err != nil {
			return 0, err
		}
	}
	if _, err := conn.Query(ctx, "TRUNCATE bench.imported", nil, nil); err != nil {
		return 0, err
	}
	c.SetDelay(delay)
	began := time.Now()
	done, err := i.Run(ctx)
	took := time.Since(began).Seconds()
	c.SetDelay(0)
	if err != nil {
		return 0, err
	}
	r, err := conn.Query(ctx, "SELECT count(*) FROM bench.imported", nil, nil)
	if err != nil {
		return 0, err
	}
	if n := number(r.Rows[0][0][4:]); n != importedRows || done.Rows != importedRows {
		return 0, fmt.Errorf("%d rows are imported and %d are there, want %d", done.Rows, n, importedRows)
	}
	return float64(done.Rows) / took, nil
}
