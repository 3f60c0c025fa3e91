// Package shell has the interactive uses of the client: it runs a script of statements and prints tables as cqlsh
// does (script.go, table.go, cell.go), pings a server, lists nodes and reads streams of a cqld (login.go). The
// commands of cqld add the flags. It works with any server that speaks the protocol, except for the streams.
package shell

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"time"

	"github.com/cqld/cqld/protocol/client"
	"github.com/cqld/cqld/protocol/client/cqlfiles"
)

// Script is a list of statements and the server to run them on.
type Script struct {
	Addr     string
	Keyspace string        // "": none is used
	Timeout  time.Duration // for the connection and for each answer

	Username, Password string      // if the server asks
	TLS                *tls.Config // nil: the connection is not encrypted

	File cqlfiles.File

	Out, Err io.Writer // for results and for errors of statements
}

// Run runs the statements in order on one connection. Like cqlsh it continues after a failed statement and fails at
// the end.
func (s *Script) Run(ctx context.Context) error {
	dialling, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	conn, err := client.Dial(dialling, s.Addr, client.Options{
		Keyspace: s.Keyspace, Username: s.Username, Password: s.Password, TLS: s.TLS,
	})
	if err != nil {
		return err
	}
	defer conn.Close()

	out := bufio.NewWriter(s.Out)
	defer out.Flush()
	failed := 0
	statements := s.File.Statements()
	for _, statement := range statements {
		err := runStatement(ctx, out, conn, statement.Text, s.Timeout)
		if err == nil {
			continue
		}
		failed++
		if err := out.Flush(); err != nil {
			return err
		}
		fmt.Fprintln(s.Err, statement.Error(err))
		if !isAlive(ctx, conn, s.Timeout) {
			return fmt.Errorf("the connection to %s is lost", s.Addr)
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d statements failed", failed, len(statements))
	}
	return out.Flush()
}

// pageRows is the page size.
const pageRows = 1000

// runStatement runs one statement and prints its rows, with all pages as one table.
func runStatement(ctx context.Context, out io.Writer, conn *client.Conn, cql string, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var rows [][][]byte
	o := client.QueryOptions{PageSize: pageRows}
	for {
		r, err := conn.Query(ctx, cql, nil, &o)
		if err != nil {
			return err
		}
		rows = append(rows, r.Rows...)
		if len(r.PagingState) > 0 {
			o.PagingState = r.PagingState
			continue
		}
		if len(r.Columns) > 0 {
			printTable(out, r.Columns, rows)
		}
		printWarnings(out, r.Warnings)
		return nil
	}
}

// printWarnings prints the warnings of a statement as cqlsh does.
func printWarnings(out io.Writer, warnings []string) {
	if len(warnings) == 0 {
		return
	}
	fmt.Fprintln(out, "\nWarnings :")
	for _, w := range warnings {
		fmt.Fprintf(out, "%s\n\n", w)
	}
}

// isAlive reports whether a connection still answers after an error.
func isAlive(ctx context.Context, conn *client.Conn, timeout time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	_, err := conn.Supported(ctx)
	return err == nil
}
