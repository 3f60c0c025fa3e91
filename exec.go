package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/cqld/cqld/cql/parser"
	"github.com/cqld/cqld/protocol/client"
)

// pageRows is how many rows exec asks for at a time.
const pageRows = 1000

// execute runs statements on one connection, one after the other. It goes on after one that fails, as cqlsh
// does, and fails at the end.
func execute(ctx context.Context, c *console, args []string) error {
	f := newFlags("exec")
	file := f.String("f", "", "a `file` of statements; - is the standard input")
	text := f.String("e", "", "the `statements` themselves")
	keyspace := f.String("k", "", "the `keyspace` to use")
	timeout := f.Duration("timeout", 30*time.Second, "how long to wait for the connection and for each answer")
	addr, err := addressAndFlags(f, c, args)
	if err != nil {
		return err
	}
	if (*file == "") == (*text == "") {
		return fmt.Errorf("%w: exec wants either -f FILE or -e CQL", errUsage)
	}
	script, name, err := readScript(c, *file, *text)
	if err != nil {
		return err
	}
	addr = serverAddress(c, addr)
	dialling, cancel := context.WithTimeout(ctx, *timeout)
	defer cancel()
	conn, err := client.Dial(dialling, addr, client.Options{Keyspace: *keyspace})
	if err != nil {
		return fmt.Errorf("connect to %s: %w", addr, err)
	}
	defer conn.Close()

	out := bufio.NewWriter(c.stdout)
	defer out.Flush()
	failed := 0
	statements := parser.Split(script)
	for _, s := range statements {
		err := runStatement(ctx, out, conn, s.Text, *timeout)
		if err == nil {
			continue
		}
		failed++
		if err := out.Flush(); err != nil {
			return err
		}
		fmt.Fprintf(c.stderr, "%s:%d: %v\n", name, s.Line, err)
		if !alive(ctx, conn, *timeout) {
			return fmt.Errorf("the connection to %s is lost", addr)
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d statements failed", failed, len(statements))
	}
	return out.Flush()
}

// readScript gets the statements and what to call them in messages.
func readScript(c *console, file, text string) (script, name string, err error) {
	if text != "" {
		return text, "-e", nil
	}
	var content []byte
	if file == "-" {
		content, err = io.ReadAll(c.stdin)
	} else {
		content, err = os.ReadFile(file)
	}
	if err != nil {
		return "", "", fmt.Errorf("read the statements: %w", err)
	}
	return strings.TrimPrefix(string(content), "\ufeff"), file, nil
}

// runStatement runs one statement and prints its rows, all pages as one table.
func runStatement(ctx context.Context, out io.Writer, conn *client.Conn, cql string, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var rows [][][]byte
	o := client.QueryOptions{PageSize: pageRows}
	for {
		r, err := conn.Query(ctx, cql+"\n", nil, &o) // which ends a comment
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

func printWarnings(out io.Writer, warnings []string) {
	if len(warnings) == 0 {
		return
	}
	fmt.Fprintln(out, "\nWarnings :")
	for _, w := range warnings {
		fmt.Fprintf(out, "%s\n\n", w)
	}
}

// alive reports whether a connection still answers after an error.
func alive(ctx context.Context, conn *client.Conn, timeout time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	_, err := conn.Supported(ctx)
	return err == nil
}

// addressAndFlags parses a command line that has an address before, between or behind its flags.
func addressAndFlags(f *flag.FlagSet, c *console, args []string) (addr string, err error) {
	for first := true; first || len(args) > 0; first = false {
		if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
			if addr != "" {
				return "", fmt.Errorf("%w: one address, not %s and %s", errUsage, addr, args[0])
			}
			addr, args = args[0], args[1:]
		}
		if err := parse(f, c, args); err != nil {
			return "", err
		}
		if args = f.Args(); len(args) > 0 && args[0] == "" {
			return "", errors.Join(errUsage, errors.New("an empty argument"))
		}
	}
	return addr, nil
}
