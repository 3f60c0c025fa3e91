package command

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/parser"
	"github.com/cqld/cqld/protocol/client"
	"github.com/cqld/cqld/protocol/client/advise"
	"github.com/cqld/cqld/protocol/client/cqlfiles"
	"github.com/cqld/cqld/protocol/client/model"
	"github.com/cqld/cqld/protocol/client/traffic"
	"github.com/cqld/cqld/server"
	"github.com/cqld/cqld/server/control"
	"github.com/cqld/cqld/store"
	"github.com/cqld/cqld/store/engine"
	"github.com/cqld/cqld/store/engine/memory"
)

// adviseOptions are the flags of cqld advise.
type adviseOptions struct {
	keyspace, schema, ignore string
	failOn, format           string
	list, noColor            bool
	login                    *login
}

// adviceFormats are the formats of cqld advise.
var adviceFormats = []string{"text", "json", "sarif"}

// adviseCommand is cqld advise.
func adviseCommand(c *console) *cobra.Command {
	var o adviseOptions
	cmd := &cobra.Command{
		Use: "advise [ADDR|FILE]", GroupID: groupCheck, Short: "Find faults of data models in a schema and its traffic",
		Long: "Compare tables, and the statements that use them, with rules of data modelling for Cassandra, and print what " +
			"is wrong, the evidence, and better tables where they can be derived. A server at ADDR, cqld or Cassandra, is only read; " +
			"statements are observed by a cqld with --test-controls. A FILE of CQL is run on a server inside this process: its own " +
			"statements are the traffic. A FILE that proxy has recorded is replayed there. A comment " +
			"-- cqld:ignore RULE at a CREATE TABLE, or the same text in the comment of a table, ignores a rule.",
		Example: `advise 127.0.0.1:9042
advise schema.cql --fail-on warning
advise session.txt --schema schema.cql --format sarif
advise --rules`,
	}
	topic(cmd.Flags(), "Rules", func(f *pflag.FlagSet) {
		f.BoolVar(&o.list, "rules", false, "list all rules")
		f.StringVar(&o.ignore, "ignore", "", "ignore the `RULES`, with commas between them")
		choiceFlag(f, &o.failOn, "fail-on", "", advise.Severities, "exit with 1 if a finding has this `SEVERITY` or a worse one: "+
			oneOf(advise.Severities))
	})
	topic(cmd.Flags(), "Schema", func(f *pflag.FlagSet) {
		f.StringVarP(&o.keyspace, "keyspace", "k", "", "only the tables of the keyspace `NAME`")
		f.StringVar(&o.schema, "schema", "", "of a recording: create the tables of `FILE` before it is replayed")
	})
	topic(cmd.Flags(), "Output", func(f *pflag.FlagSet) {
		choiceFlag(f, &o.format, "format", adviceFormats[0], adviceFormats, "`FORMAT` of the report: "+oneOf(adviceFormats))
		f.BoolVar(&o.noColor, "no-color", false, "use no colours; the variable NO_COLOR has the same effect")
	})
	o.login = loginFlags(cmd.Flags(), answerTime)
	return newCommand(c, cmd, func(ctx context.Context, args []string) error {
		if o.list {
			return listRules(c.stdout)
		}
		if err := advise.CheckRules(o.ignored()); err != nil {
			return badFlag("ignore", o.ignore, err.Error()+"; --rules lists them")
		}
		report, err := o.run(ctx, c, optional(args))
		if err != nil {
			return err
		}
		if err := o.print(c, report); err != nil {
			return err
		}
		if o.failOn != "" && report.Worst(advise.Severity(o.failOn)) {
			return statementsFailed(exitFailed)
		}
		return nil
	})
}

// ignored are the names of rules in --ignore.
func (o *adviseOptions) ignored() []string {
	return strings.FieldsFunc(o.ignore, func(r rune) bool { return r == ',' || r == ' ' })
}

// listRules prints the rules.
func listRules(w io.Writer) error {
	var b strings.Builder
	for _, r := range advise.Rules {
		fmt.Fprintf(&b, "%-24s %-8s %s\n", r.Name, r.Severity, r.Title)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// print prints a report in the format of the flags.
func (o *adviseOptions) print(c *console, r *advise.Report) error {
	switch o.format {
	case "json":
		return r.JSON(c.stdout)
	case "sarif":
		return r.SARIF(c.stdout, c.buildVersion())
	}
	return r.Print(c.stdout, !o.noColor && isTerminal(c.stdout) && c.getenv("NO_COLOR") == "")
}

// run makes the report of a server, a script or a recording.
func (o *adviseOptions) run(ctx context.Context, c *console, from string) (*advise.Report, error) {
	info, err := os.Stat(from)
	isFile := err == nil && info.Mode().IsRegular()
	switch {
	case isFile && cqlfiles.IsScript(from):
		if o.schema != "" {
			return nil, usagef("--schema is for recordings, and %s is a script", from)
		}
		return o.adviseScript(ctx, from)
	case isFile:
		return o.adviseRecording(ctx, from)
	case cqlfiles.IsScript(from) || err == nil:
		return nil, fmt.Errorf("%s is neither a script nor a recording nor an address", from)
	case o.schema != "":
		return nil, usagef("--schema is for recordings, and a server has its own")
	}
	if err := o.login.complete(c, from); err != nil {
		return nil, err
	}
	l := o.login
	ctx, cancel := context.WithTimeout(ctx, l.Timeout)
	defer cancel()
	conn, err := client.Dial(ctx, l.Addr, client.Options{Username: l.Username, Password: l.Password, TLS: l.TLS})
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	return advise.Advise(ctx, model.QueryOn(conn), advise.Options{Keyspace: o.keyspace, Ignore: o.ignored()})
}

// adviseScript runs a script and makes the report.
func (o *adviseOptions) adviseScript(ctx context.Context, path string) (*advise.Report, error) {
	script, err := readScript(path)
	if err != nil {
		return nil, err
	}
	s, err := startScratch(ctx)
	if err != nil {
		return nil, err
	}
	defer s.close()
	if err := s.runScript(ctx, script); err != nil {
		return nil, err
	}
	return s.report(ctx, advise.Options{
		Keyspace: o.keyspace, Ignore: o.ignored(), Source: advise.ReadSource(script, scratchKeyspace), Script: true,
	})
}

// adviseRecording replays a recording and makes the report.
func (o *adviseOptions) adviseRecording(ctx context.Context, path string) (*advise.Report, error) {
	recording, err := os.Open(path)
	if err != nil {
		return nil, cannotRead(path, err)
	}
	defer recording.Close()
	in := bufio.NewReader(recording)
	if first, err := in.Peek(1); err != nil || !strings.ContainsAny(string(first), "#@") {
		return nil, fmt.Errorf("%s is neither a recording of proxy nor a script with a name that ends in .cql", path)
	}
	s, err := startScratch(ctx)
	if err != nil {
		return nil, err
	}
	defer s.close()
	options := advise.Options{Keyspace: o.keyspace, Ignore: o.ignored()}
	if o.schema != "" {
		script, err := readScript(o.schema)
		if err != nil {
			return nil, err
		}
		if err := s.runScript(ctx, script); err != nil {
			return nil, err
		}
		options.Source = advise.ReadSource(script, scratchKeyspace)
		s.record.Forget()
	}
	replay := traffic.Replay{Dial: s.dial, Timeout: o.login.Timeout, Out: io.Discard}
	outcome, err := replay.Run(ctx, in)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	report, err := s.report(ctx, options)
	if err == nil && report.Tables == 0 && outcome.Requests > 0 {
		report.Notes = append(report.Notes, "the recording creates no tables: --schema names a file that does")
	}
	return report, err
}

// readScript reads a file of CQL.
func readScript(path string) (cqlfiles.File, error) {
	script, err := cqlfiles.ReadFile(os.DirFS(filepath.Dir(path)), filepath.Base(path))
	if err != nil {
		return script, cannotRead(path, err)
	}
	script.Name = path
	return script, nil
}

// scratch is a server in memory that only this process can reach, and that records statements.
type scratch struct {
	store  *store.Store
	server *server.Server
	record *control.Record
	conn   *client.Conn
}

// scratchKeyspace is the keyspace of scripts that name none.
const scratchKeyspace = "app"

// startScratch starts a server with an empty keyspace.
func startScratch(ctx context.Context) (*scratch, error) {
	clock := control.NewClock(nil)
	data, err := store.Open(store.Options{
		Engine: func(f engine.Fold) (engine.Engine, error) { return memory.Open(f), nil },
		System: append(server.SystemKeyspaces(), control.Keyspace()), Now: clock.Now, Log: zerolog.Nop(),
	})
	if err != nil {
		return nil, err
	}
	srv, err := server.New(server.Options{Store: data, Log: zerolog.Nop()})
	if err != nil {
		return nil, errors.Join(err, data.Close())
	}
	controls := control.New(srv, data, clock)
	controls.Register()
	s := &scratch{store: data, server: srv, record: &controls.Record}
	s.record.Start(0)
	if s.conn, err = client.Dial(ctx, "the server itself", client.Options{Dial: s.dial}); err == nil {
		for _, text := range []string{
			"CREATE KEYSPACE " + scratchKeyspace + " WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
			"USE " + scratchKeyspace,
		} {
			if err == nil {
				_, err = s.conn.Query(ctx, text, nil, nil)
			}
		}
	}
	if err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// dial opens a connection inside the process.
func (s *scratch) dial(context.Context, string) (net.Conn, error) { return s.server.Connect(), nil }

// close stops the server.
func (s *scratch) close() {
	if s.conn != nil {
		_ = s.conn.Close()
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = s.server.Shutdown(ctx) // its data is thrown away
	_ = s.store.Close()
}

// report makes the report of the server.
func (s *scratch) report(ctx context.Context, o advise.Options) (*advise.Report, error) {
	return advise.Advise(ctx, model.QueryOn(s.conn), o)
}

// runScript runs the statements of a script that define tables, read or write. It leaves out those about roles.
func (s *scratch) runScript(ctx context.Context, script cqlfiles.File) error {
	for _, one := range script.Statements() {
		statement, _, err := parser.Parse(one.Text)
		if err != nil {
			return one.Error(err)
		}
		if err := s.runStatement(ctx, statement, one.Text); err != nil {
			return one.Error(err)
		}
	}
	return nil
}

// runStatement runs a statement. Keyspaces get one replica, since this server has no datacenters of theirs.
func (s *scratch) runStatement(ctx context.Context, statement cql.Statement, text string) error {
	const replication = "replication = {'class': 'SimpleStrategy', 'replication_factor': 1}"
	switch k := statement.(type) {
	case *cql.CreateKeyspace:
		text = "CREATE KEYSPACE IF NOT EXISTS " + cql.QualifiedName{Name: k.Name}.String() + " WITH " + replication
	case *cql.AlterKeyspace, *cql.CreateTrigger, *cql.DropTrigger, *cql.Describe:
		return nil
	case *cql.CreateTable, *cql.AlterTable, *cql.DropTable, *cql.CreateIndex, *cql.DropIndex, *cql.CreateView, *cql.AlterView,
		*cql.DropView, *cql.CreateType, *cql.AlterType, *cql.DropType, *cql.DropKeyspace, *cql.CreateFunction, *cql.CreateAggregate,
		*cql.DropFunction, *cql.DropAggregate, *cql.Use, *cql.Select, *cql.Insert, *cql.Update, *cql.Delete, *cql.Batch, *cql.Truncate:
	default:
		return nil // about roles and permissions
	}
	_, err := s.conn.Query(ctx, strings.TrimSpace(text), nil, nil)
	return err
}
