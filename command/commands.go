package command

import (
	"context"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/cqld/cqld/internal/suggest"
)

// The groups of commands in the help.
const (
	groupServer = "server"
	groupClient = "client"
	groupData   = "data"
	groupCheck  = "check"
	groupOther  = "other"
)

// newRoot makes the program's command, which serves, with all others below it.
func newRoot(c *console) *cobra.Command {
	root := serveCommand(c, c.name())
	version := false
	topic(root.Flags(), generalTopic, func(f *pflag.FlagSet) { f.BoolVar(&version, "version", false, "print the version") })
	serve := root.RunE
	root.RunE = func(cmd *cobra.Command, args []string) error {
		if version {
			return printVersion(c)
		}
		return serve(cmd, args)
	}
	root.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return unknownCommand(cmd, args[0])
		}
		return nil
	}
	root.AddGroup(
		&cobra.Group{ID: groupServer, Title: "Server"},
		&cobra.Group{ID: groupClient, Title: "Clients"},
		&cobra.Group{ID: groupData, Title: "Data"},
		&cobra.Group{ID: groupCheck, Title: "Comparing with another server"},
		&cobra.Group{ID: groupOther, Title: "Other"},
	)
	root.AddCommand(
		serveCommand(c, "serve"), pingCommand(c), nodesCommand(c), execCommand(c), cqlshCommand(c), exportCommand(c),
		importCommand(c), snapshotCommand(c), restoreCommand(c), verifyCommand(c), proxyCommand(c), replayCommand(c),
		completionCommand(c), versionCommand(c),
	)
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetHelpCommand(helpCommand(c))
	root.SetIn(c.stdin)
	root.SetOut(c.stdout)
	root.SetErr(c.stderr)
	return root
}

// newCommand completes a command: run is called with its arguments when its flags have their values, which may come
// from the environment. The words of its use after the name say which arguments it takes; those in brackets may be
// left out.
func newCommand(c *console, cmd *cobra.Command, run func(ctx context.Context, args []string) error) *cobra.Command {
	f := cmd.Flags()
	f.SortFlags = false
	topic(f, generalTopic, func(f *pflag.FlagSet) { f.BoolP("help", "h", false, "print this help") })
	cmd.SilenceErrors, cmd.SilenceUsage, cmd.DisableSuggestions = true, true, true
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return flagError(cmd.Flags(), err) })
	cmd.SetHelpFunc(func(cmd *cobra.Command, _ []string) { printHelp(c, cmd) })
	cmd.Args = func(cmd *cobra.Command, args []string) error { return checkArguments(cmd.Use, args) }
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := c.readEnvironment(cmd); err != nil {
			return err
		}
		return run(cmd.Context(), args)
	}
	return cmd
}

// checkArguments compares arguments with the use of a command.
func checkArguments(use string, args []string) error {
	name, wanted, _ := strings.Cut(use, " ")
	least, most := 0, 0
	for word := range strings.FieldsSeq(wanted) {
		if most++; word[0] != '[' {
			least++
		}
	}
	for _, arg := range args {
		if arg == "" {
			return usagef("%s: an argument is empty", name)
		}
	}
	switch {
	case len(args) > most && most == 0:
		return usagef("%s takes no argument %q", name, args[0])
	case len(args) > most:
		return usagef("%s takes %s, so %q is one argument too many", name, wanted, args[most])
	case len(args) < least:
		return usagef("%s needs %s; see the command help %s", name, wanted, name)
	}
	return nil
}

// unknownCommand is the error of a name that no command has.
func unknownCommand(root *cobra.Command, name string) error {
	root = root.Root()
	var names []string
	for _, cmd := range root.Commands() {
		if !cmd.Hidden {
			names = append(names, cmd.Name())
		}
	}
	if near := suggest.Nearest(name, names); near != "" {
		return usagef("there is no command %q: did you mean %s?", name, near)
	}
	return usagef("there is no command %q; %s help lists all commands", name, root.Name())
}

func versionCommand(c *console) *cobra.Command {
	return newCommand(c, &cobra.Command{
		Use: "version", GroupID: groupOther, Short: "Print the version",
		Example: "version\n--version",
	}, func(context.Context, []string) error { return printVersion(c) })
}
