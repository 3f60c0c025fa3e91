package command

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/cqld/cqld/protocol/client/transfer"
)

// transferServer returns the server of an export or import.
func transferServer(c *console, addr string, l *login) (transfer.Server, error) {
	err := l.complete(c, addr)
	return transfer.Server{Addr: l.Addr, Username: l.Username, Password: l.Password, TLS: l.TLS, Timeout: l.Timeout}, err
}

// jobsFlag adds --jobs.
func jobsFlag(f *pflag.FlagSet, jobs *int) {
	f.IntVar(jobs, "jobs", 8, "use `N` connections")
}

// answerTime is the usage of --timeout.
const answerTime = "wait at most this long for the connection and for each answer"

// exportCommand is cqld export.
func exportCommand(c *console) *cobra.Command {
	e := transfer.Export{}
	cmd := &cobra.Command{
		Use: "export ADDR [KEYSPACE[.TABLE]] DIR", GroupID: groupData, Short: "Write tables into a folder of files",
		Long: "Write the tables of the server at ADDR, cqld or Cassandra, into the folder DIR as JSON lines, CSV or CQL: " +
			"all tables, the tables of a KEYSPACE, or one TABLE. If repeated, it writes only the missing files.",
		Example: "export 127.0.0.1:9042 shop ./shop-export\nexport db.example shop.orders ./orders --format csv --times",
	}
	topic(cmd.Flags(), "Files", func(f *pflag.FlagSet) {
		choiceFlag(f, &e.Format, "format", "jsonl", transfer.Formats, "`FORMAT` of the files: "+oneOf(transfer.Formats))
		f.BoolVar(&e.Times, "times", false, "write timestamps and TTLs of values too")
		f.IntVar(&e.Parts, "parts", 8, "write each table into `N` files, by token")
		jobsFlag(f, &e.Jobs)
	})
	login, quiet := loginFlags(cmd.Flags(), answerTime), quietFlag(cmd.Flags())
	return newCommand(c, cmd, func(ctx context.Context, args []string) (err error) {
		if len(args) == 3 {
			e.Keyspace, e.Table, _ = strings.Cut(args[1], ".")
		}
		if e.Parts < 1 || e.Parts > 9999 {
			return badFlag("parts", strconv.Itoa(e.Parts), "want a number from 1 to 9999")
		}
		if e.Jobs < 1 {
			return badFlag("jobs", strconv.Itoa(e.Jobs), "want a number from 1 on")
		}
		if e.Server, err = transferServer(c, args[0], login); err != nil {
			return err
		}
		e.Dir = args[len(args)-1]
		began, steps := time.Now(), newProgress(c.stderr, *quiet)
		defer steps.end()
		e.Progress = steps.transfer("export", began)
		done, err := e.Run(ctx)
		if err != nil {
			return err
		}
		steps.end()
		if done.Skipped == done.All {
			_, err = fmt.Fprintf(c.stdout, "nothing to export: all %d files of this export are in %s already; to export again, "+
				"remove the folder or choose another one\n", done.All, e.Dir)
			return err
		}
		return reportTransfer(c, done, began, "exported to", e.Dir)
	})
}

// importCommand is cqld import.
func importCommand(c *console) *cobra.Command {
	i := transfer.Import{}
	cmd := &cobra.Command{
		Use: "import ADDR DIR", GroupID: groupData, Short: "Load a folder of files into a server",
		Long: "Load the export in the folder DIR into the server at ADDR, cqld or Cassandra. If repeated, it loads only the " +
			"files that it has not finished.",
		Example: "import 127.0.0.1:9042 ./shop-export\nimport db.example ./shop-export --no-schema --jobs 2",
	}
	topic(cmd.Flags(), "Files", func(f *pflag.FlagSet) {
		f.BoolVar(&i.NoSchema, "no-schema", false, "do not create keyspaces and tables: they exist")
		f.BoolVar(&i.Trust, "trust", false, "run all statements of schema.cql and of CQL files, and write to system tables: "+
			"by default only CREATE of keyspaces and of what is in them, and writes to the exported tables")
		jobsFlag(f, &i.Jobs)
	})
	login, quiet := loginFlags(cmd.Flags(), answerTime), quietFlag(cmd.Flags())
	return newCommand(c, cmd, func(ctx context.Context, args []string) (err error) {
		if i.Jobs < 1 {
			return badFlag("jobs", strconv.Itoa(i.Jobs), "want a number from 1 on")
		}
		if i.Server, err = transferServer(c, args[0], login); err != nil {
			return err
		}
		i.Dir = args[1]
		began, steps := time.Now(), newProgress(c.stderr, *quiet)
		defer steps.end()
		i.Progress = steps.transfer("import", began)
		done, err := i.Run(ctx)
		if err != nil {
			return err
		}
		steps.end()
		if done.Skipped == done.All {
			_, err = fmt.Fprintf(c.stdout, "nothing to import: all %d files of %s were imported into this server before; to "+
				"import them again, remove %s\n", done.All, i.Dir, done.Notes)
			return err
		}
		return reportTransfer(c, done, began, "imported from", i.Dir)
	})
}

// transfer returns a function that shows the progress of an export or import.
func (p *progress) transfer(step string, began time.Time) func(transfer.Progress) {
	return func(t transfer.Progress) {
		p.show(step, t.Share, fmt.Sprintf("%d of %d files, %s, %s, %.0f rows/s", t.Files, t.All, t.Table, count(t.Rows, "row", "rows"),
			float64(t.Rows)/max(time.Since(began).Seconds(), 1e-3)))
	}
}

// reportTransfer prints the sums of an export or import. done is a phrase such as "exported to".
func reportTransfer(c *console, t transfer.Progress, began time.Time, done, dir string) error {
	took := time.Since(began).Seconds()
	before := ""
	if t.Skipped > 0 {
		before = fmt.Sprintf("; %d of %d files were done before", t.Skipped, t.All)
	}
	_, err := fmt.Fprintf(c.stdout, "%s %s %s in %.1f s, %.0f rows a second%s\n", count(t.Rows, "row", "rows"), done, dir, took,
		float64(t.Rows)/max(took, 1e-3), before)
	return err
}
