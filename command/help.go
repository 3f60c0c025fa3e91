package command

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// topicKey annotates a flag with its topic, a heading in the help.
const topicKey = "topic"

// generalTopic is the topic of --help and --version. It is printed last.
const generalTopic = "General"

// topic adds flags under a topic to a set.
func topic(f *pflag.FlagSet, name string, add func(*pflag.FlagSet)) {
	own := pflag.NewFlagSet(name, pflag.ContinueOnError)
	own.SortFlags = false
	add(own)
	own.VisitAll(func(one *pflag.Flag) { one.Annotations = map[string][]string{topicKey: {name}} })
	f.AddFlagSet(own)
}

// flagTopic is a topic with its flags.
type flagTopic struct {
	name  string
	flags []*pflag.Flag
}

// topicsOf groups the visible flags of a set by topic, in the order in which they were added.
func topicsOf(f *pflag.FlagSet) []flagTopic {
	var all []flagTopic
	general := flagTopic{name: generalTopic}
	f.VisitAll(func(one *pflag.Flag) {
		name := one.Annotations[topicKey][0]
		if one.Hidden {
			return
		}
		if name == generalTopic {
			general.flags = append(general.flags, one)
			return
		}
		if len(all) == 0 || all[len(all)-1].name != name {
			all = append(all, flagTopic{name: name})
		}
		last := &all[len(all)-1]
		last.flags = append(last.flags, one)
	})
	return append(all, general)
}

// The width of the help, and the column where descriptions of flags begin.
const (
	helpWidth  = 80
	flagColumn = 28
)

// printHelp prints the help of a command.
func printHelp(c *console, cmd *cobra.Command) {
	var b strings.Builder
	if cmd.HasParent() {
		commandHelp(&b, c, cmd)
	} else {
		programHelp(&b, cmd)
	}
	fmt.Fprint(c.stdout, b.String())
}

// programHelp lists the commands.
func programHelp(b *strings.Builder, root *cobra.Command) {
	name := root.Name()
	fmt.Fprintf(b, "%[1]s\n\nUsage:\n  %[2]s [serve] [flags]\n  %[2]s COMMAND [arguments] [flags]\n", wrap(root.Long, helpWidth, ""), name)
	printExamples(b, name, root.Example)
	for _, group := range root.Groups() {
		fmt.Fprintf(b, "\n%s:\n", group.Title)
		for _, cmd := range root.Commands() {
			if cmd.GroupID == group.ID && !cmd.Hidden {
				fmt.Fprintf(b, "  %-12s%s\n", cmd.Name(), cmd.Short)
			}
		}
	}
	topics := topicsOf(root.Flags())
	printTopic(b, topics[len(topics)-1])
	more := fmt.Sprintf("%s help COMMAND prints the flags of a command, %[1]s help serve those of the server.", name)
	fmt.Fprintf(b, "\n%s\n", wrap(more, helpWidth, ""))
}

// commandHelp prints usage, examples and flags of a command.
func commandHelp(b *strings.Builder, c *console, cmd *cobra.Command) {
	program := cmd.Root().Name()
	long := cmd.Long
	if long == "" {
		long = cmd.Short + "."
	}
	usage := cmd.Use
	if cmd.Name() == "serve" {
		usage = "[serve]"
	}
	fmt.Fprintf(b, "%s\n\nUsage:\n  %s %s [flags]\n", wrap(long, helpWidth, ""), program, usage)
	printExamples(b, program, cmd.Example)
	from := ""
	for _, t := range topicsOf(cmd.Flags()) {
		printTopic(b, t)
		if from == "" && t.name != generalTopic {
			from = t.flags[0].Name
		}
	}
	if from != "" && cmd.Name() != "shell" {
		text := fmt.Sprintf("Each flag can also be set in the environment: --%s as %s. The command line wins.", from, envName(from))
		fmt.Fprintf(b, "\n%s\n", wrap(text, helpWidth, ""))
	}
}

// printExamples prints command lines. examples has them without the name of the program.
func printExamples(b *strings.Builder, program, examples string) {
	fmt.Fprint(b, "\nExamples:\n")
	for line := range strings.SplitSeq(examples, "\n") {
		fmt.Fprintf(b, "  %s\n", strings.TrimSpace(program+" "+line))
	}
}

func printTopic(b *strings.Builder, t flagTopic) {
	fmt.Fprintf(b, "\n%s:\n", t.name)
	letters := slices.ContainsFunc(t.flags, func(one *pflag.Flag) bool { return one.Shorthand != "" })
	for _, one := range t.flags {
		name := flagSyntax(one)
		if letters && one.Shorthand == "" {
			name = "    " + name // aligned with --long names
		}
		name = "  " + name
		_, text := pflag.UnquoteUsage(one)
		indent := strings.Repeat(" ", flagColumn)
		if defaultOf(one) != "" {
			text += " (default " + defaultOf(one) + ")"
		}
		text = wrap(text, helpWidth-flagColumn, indent)
		if len(name)+2 > flagColumn {
			fmt.Fprintf(b, "%s\n%s%s\n", name, indent, text)
		} else {
			fmt.Fprintf(b, "%-*s%s\n", flagColumn, name, text)
		}
	}
}

// flagSyntax returns a flag as the help shows it: -e, --execute STATEMENTS.
func flagSyntax(f *pflag.Flag) string {
	name := "--" + f.Name
	if f.Shorthand != "" {
		name = "-" + f.Shorthand + ", --" + f.Name
	}
	if p := placeholder(f); p != "" {
		name += " " + p
	}
	return name
}

// placeholder names the value of a flag: the word in backquotes in its usage, or else its type. Switches have none.
func placeholder(f *pflag.Flag) string {
	if f.NoOptDefVal != "" {
		return ""
	}
	name, _ := pflag.UnquoteUsage(f)
	switch {
	case strings.Contains(f.Usage, "`"):
		return name
	case f.Value.Type() == "int":
		return "N"
	}
	return strings.ToUpper(f.Value.Type())
}

// defaultOf returns the default that the help shows, or "".
func defaultOf(f *pflag.Flag) string {
	switch f.DefValue {
	case "", "false", "0", "0s":
		return ""
	}
	if short, ok := strings.CutSuffix(f.DefValue, "m0s"); ok {
		return short + "m"
	}
	return f.DefValue
}

// wrap breaks a text into lines and indents all but the first.
func wrap(text string, width int, indent string) string {
	var b strings.Builder
	used := 0
	for word := range strings.FieldsSeq(text) {
		switch {
		case used == 0:
		case used+1+len(word) > width:
			b.WriteString("\n" + indent)
			used = 0
		default:
			b.WriteByte(' ')
			used++
		}
		b.WriteString(word)
		used += len(word)
	}
	return b.String()
}

// helpCommand is cqld help, with or without the name of a command.
func helpCommand(c *console) *cobra.Command {
	cmd := newCommand(c, &cobra.Command{
		Use: "help [COMMAND]", GroupID: groupOther, Short: "Print help about a command",
		Example: "help serve\nhelp exec",
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) (all []string, d cobra.ShellCompDirective) {
			if len(args) == 0 {
				for _, one := range cmd.Root().Commands() {
					all = append(all, one.Name())
				}
			}
			return all, cobra.ShellCompDirectiveNoFileComp
		},
	}, nil)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		about := cmd.Root()
		if len(args) > 0 {
			found, rest, err := about.Find(args)
			if err != nil || len(rest) > 0 || found == about {
				return unknownCommand(about, args[0])
			}
			about = found
		}
		printHelp(c, about)
		return nil
	}
	return cmd
}

// completionCommand is cqld completion.
func completionCommand(c *console) *cobra.Command {
	shells := []string{"bash", "zsh", "fish"}
	cmd := newCommand(c, &cobra.Command{
		Use: "completion SHELL", GroupID: groupOther, Short: "Print a script that completes command lines in a shell",
		Long: "Print a script that completes commands and flags in a SHELL: bash, zsh or fish. Bash needs its package " +
			"bash-completion.",
		Example:   "completion bash >/etc/bash_completion.d/cqld\ncompletion fish >~/.config/fish/completions/cqld.fish",
		ValidArgs: shells,
	}, nil)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		switch args[0] {
		case "bash":
			return cmd.Root().GenBashCompletionV2(c.stdout, true)
		case "zsh":
			return cmd.Root().GenZshCompletion(c.stdout)
		case "fish":
			return cmd.Root().GenFishCompletion(c.stdout, true)
		}
		return usagef("completion %q: want %s", args[0], oneOf(shells))
	}
	return cmd
}
