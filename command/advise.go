package command

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/cqld/cqld/protocol/client/advise"
	"github.com/cqld/cqld/protocol/client/cqlfiles"
	"github.com/cqld/cqld/protocol/client/model"
	"github.com/cqld/cqld/protocol/client/traffic"
)

// adviseOptions are the flags of cqld advise.
type adviseOptions struct {
	keyspace, schema, ignore string
	failOn, format           string
	list, noColor, prove     bool
	proveTime                time.Duration
	login                    *login
}

// defaultProveTime is the time for all proofs, unless --prove-time gives another.
const defaultProveTime = 30 * time.Second

// adviceFormats are the formats of cqld advise.
var adviceFormats = []string{"text", "json", "sarif"}

// adviseCommand is cqld advise.
func adviseCommand(c *console) *cobra.Command {
	var o adviseOptions
	cmd := &cobra.Command{
		Use: "advise [ADDR|FILE]", GroupID: groupCheck, Short: "Find faults of data models in a schema and its traffic",
		Long: "Compare tables, and the statements that use them, with rules of data modelling for Cassandra, and print " +
			"faults, their evidence, and better tables where they can be derived. A server at ADDR, cqld or Cassandra, " +
			"is only read; statements are observed by a cqld with --test-controls. A FILE of CQL, or a folder of them, is run on a " +
			"server inside this process: its own statements are the traffic. A FILE that proxy has recorded is replayed " +
			"there. A comment -- cqld:ignore RULE at a CREATE TABLE, or the same text in the comment of a table, ignores " +
			"a rule.",
		Example: `advise 127.0.0.1:9042
advise schema.cql --fail-on warning
advise session.txt --schema schema.cql --format sarif
advise schema.cql --prove
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
		f.StringVar(&o.schema, "schema", "", "of a recording: create the tables of `FILE`, or of a folder, before it is replayed")
	})
	topic(cmd.Flags(), "Proof", func(f *pflag.FlagSet) {
		f.BoolVar(&o.prove, "prove", false, "replay the statements on each proposed table, inside this process, and compare costs and rows")
		f.DurationVar(&o.proveTime, "prove-time", defaultProveTime, "the `TIME` for all proofs")
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
		if cmd.Flags().Changed("prove-time") && (!o.prove || o.proveTime <= 0) {
			return usagef("--prove-time is a time for --prove")
		}
		report, err := o.makeReport(ctx, c, optional(args))
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

// makeReport makes the report of a server, a script or a recording.
func (o *adviseOptions) makeReport(ctx context.Context, c *console, from string) (*advise.Report, error) {
	info, err := os.Stat(from)
	isScript := cqlfiles.IsScript(from) || err == nil && info.IsDir()
	switch {
	case o.schema != "" && (isScript || err != nil):
		return nil, usagef("--schema is for recordings, and %s is none", from)
	case isScript:
		return o.adviseScripts(ctx, from)
	case err == nil:
		return o.adviseRecording(ctx, from)
	}
	if err := o.login.complete(c, from); err != nil {
		return nil, err
	}
	query, conn, err := o.login.query(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	options := advise.Options{Keyspace: o.keyspace, Ignore: o.ignored()}
	if !o.prove {
		return advise.Advise(ctx, query, options)
	}
	if options.Statements, err = provable(ctx, query); err != nil {
		return nil, err
	}
	report, err := advise.Advise(ctx, query, options)
	if err != nil {
		return nil, err
	}
	return report, o.addProofs(ctx, report, conn, options.Statements)
}

// adviseScripts runs a script, or all of a folder, and makes the report.
func (o *adviseOptions) adviseScripts(ctx context.Context, path string) (*advise.Report, error) {
	scripts, err := readScripts(path)
	if err != nil {
		return nil, err
	}
	s, err := startScratch(ctx)
	if err != nil {
		return nil, err
	}
	defer s.close()
	if err := s.runScripts(ctx, scripts); err != nil {
		return nil, err
	}
	return o.report(ctx, s, advise.Options{
		Keyspace: o.keyspace, Ignore: o.ignored(), Source: advise.ReadSource(scratchKeyspace, scripts...), Script: true,
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
	if o.prove {
		s.record.KeepValues(maxProofValues)
	}
	options := advise.Options{Keyspace: o.keyspace, Ignore: o.ignored()}
	if o.schema != "" {
		scripts, err := readScripts(o.schema)
		if err != nil {
			return nil, err
		}
		if err := s.runScripts(ctx, scripts); err != nil {
			return nil, err
		}
		options.Source = advise.ReadSource(scratchKeyspace, scripts...)
		s.record.Forget()
	}
	replay := traffic.Replay{Dial: s.dial, Timeout: o.login.Timeout, Out: io.Discard}
	outcome, err := replay.Run(ctx, in)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	report, err := o.report(ctx, s, options)
	if err == nil && report.Tables == 0 && outcome.Requests > 0 {
		report.Notes = append(report.Notes, "the recording creates no tables: --schema names a file that does")
	}
	return report, err
}

// report makes the report of the server, with proofs if they are wanted.
func (o *adviseOptions) report(ctx context.Context, s *scratch, options advise.Options) (*advise.Report, error) {
	if !o.prove {
		return advise.Advise(ctx, model.QueryOn(s.conn), options)
	}
	var err error
	if options.Statements, err = s.statements(ctx); err != nil {
		return nil, err
	}
	report, err := advise.Advise(ctx, model.QueryOn(s.conn), options)
	if err != nil {
		return nil, err
	}
	return report, o.addProofs(ctx, report, s.conn, options.Statements)
}
