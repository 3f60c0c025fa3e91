package command

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cqld/cqld/protocol/client/transfer"
)

// transferServer is the server of an export or import.
func transferServer(c *console, addr string, l *login) (transfer.Server, error) {
	err := l.to(c, addr)
	return transfer.Server{Addr: l.Addr, Username: l.Username, Password: l.Password, TLS: l.TLS, Timeout: l.Timeout}, err
}

// jobsFlag is how many connections a command has.
func jobsFlag(f *flag.FlagSet) *int {
	return f.Int("jobs", 8, "the `number` of connections that work at the same time")
}

// export is cqld export.
func export(ctx context.Context, c *console, args []string) error {
	f := newFlags("export")
	login := loginFlags(f)
	e := transfer.Export{}
	f.StringVar(&e.Format, "format", "jsonl", "jsonl, csv or cql: the `format` of the files")
	f.BoolVar(&e.Times, "times", false, "export timestamps and TTLs of values too")
	f.IntVar(&e.Parts, "parts", 8, "into how many `files` each table goes, by tokens")
	jobs, quiet := jobsFlag(f), f.Bool("quiet", false, "do not print how far it has come")
	given, err := arguments(f, c, args, "ADDR", "[KEYSPACE[.TABLE]]", "FOLDER")
	if err != nil {
		return err
	}
	if len(given) == 3 {
		e.Keyspace, e.Table, _ = strings.Cut(given[1], ".")
	}
	if !slices.Contains(transfer.Formats, e.Format) {
		return badFlag("format", e.Format, "want "+strings.Join(transfer.Formats, ", "))
	}
	if e.Parts < 1 || e.Parts > 9999 || *jobs < 1 {
		return fmt.Errorf("%w: --parts wants a number from 1 to 9999, and --jobs one from 1 on", errUsage)
	}
	if e.Server, err = transferServer(c, given[0], login); err != nil {
		return err
	}
	e.Dir, e.Jobs = given[len(given)-1], *jobs
	began, steps := time.Now(), newProgress(c.stderr, *quiet)
	e.Progress = steps.transfer(began)
	done, err := e.Run(ctx)
	if err != nil {
		return err
	}
	return reportTransfer(c, done, began, "exported to", e.Dir)
}

// importTables is cqld import.
func importTables(ctx context.Context, c *console, args []string) error {
	f := newFlags("import")
	login := loginFlags(f)
	i := transfer.Import{}
	f.BoolVar(&i.NoSchema, "no-schema", false, "leave out the definitions: they are there")
	jobs, quiet := jobsFlag(f), f.Bool("quiet", false, "do not print how far it has come")
	given, err := arguments(f, c, args, "ADDR", "FOLDER")
	if err != nil {
		return err
	}
	if *jobs < 1 {
		return fmt.Errorf("%w: --jobs wants a number from 1 on", errUsage)
	}
	if i.Server, err = transferServer(c, given[0], login); err != nil {
		return err
	}
	i.Dir, i.Jobs = given[1], *jobs
	began, steps := time.Now(), newProgress(c.stderr, *quiet)
	i.Progress = steps.transfer(began)
	done, err := i.Run(ctx)
	if err != nil {
		return err
	}
	return reportTransfer(c, done, began, "imported from", i.Dir)
}

// transfer shows how far a copy has come.
func (p *progress) transfer(began time.Time) func(transfer.Progress) {
	return func(t transfer.Progress) {
		p.show("%s: %d of %d files, %d rows, %.0f rows a second", t.Table, t.Files, t.All, t.Rows,
			float64(t.Rows)/max(time.Since(began).Seconds(), 1e-3))
	}
}

func reportTransfer(c *console, t transfer.Progress, began time.Time, what, dir string) error {
	took := time.Since(began).Seconds()
	_, err := fmt.Fprintf(c.stdout, "%d rows %s %s in %.1f s, %.0f rows a second\n", t.Rows, what, dir, took, float64(t.Rows)/max(took, 1e-3))
	return err
}
