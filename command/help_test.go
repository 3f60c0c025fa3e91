package command

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

var update = flag.Bool("update", false, "rewrite testdata/help and the flags in docs/operating.md")

// TestHelp compares the help of each command with testdata/help.
func TestHelp(t *testing.T) {
	root := newRoot(&console{})
	names := []string{"", "help"}
	for _, cmd := range root.Commands() {
		names = append(names, cmd.Name())
	}
	for _, name := range names {
		args, file := []string{"help", name}, filepath.Join("testdata", "help", name+".txt")
		if name == "" {
			args, file = []string{"help"}, filepath.Join("testdata", "help", "cqld.txt")
		}
		code, out, errs := cqld(t, map[string]string{"CQLD_PURGE_EVERY": "no time"}, args...)
		if code != 0 || errs != "" {
			t.Fatalf("%q: exit %d, %s", args, code, errs)
		}
		if *update {
			if err := os.WriteFile(file, []byte(out), 0o600); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(file)
		if err != nil || out != string(want) {
			t.Errorf("%q is not %s (go test -run TestHelp -update rewrites it): %v\n%s", args, file, err, out)
		}
		for _, again := range [][]string{{name, "--help"}, {name, "-h"}} {
			if name == "" {
				again = again[1:]
			}
			if _, same, _ := cqld(t, nil, again...); same != out {
				t.Errorf("%q is not what %q prints", again, args)
			}
		}
		for line := range strings.Lines(out) {
			if len(line) > helpWidth+1 && !strings.HasPrefix(line, "  cqld ") {
				t.Errorf("%q: a long line: %s", args, line)
			}
		}
		if n := strings.Count(out, "\n  cqld "); n < 3 && !strings.Contains(out, "\nExamples:\n  cqld\n") {
			t.Errorf("%q shows the command in %d lines, want its usage and two examples", args, n)
		}
	}
}

// TestVersion prints the version in both ways.
func TestVersion(t *testing.T) {
	_, want, _ := cqld(t, nil, "version")
	code, out, errs := cqld(t, nil, "--version")
	if code != 0 || errs != "" || out != want || !strings.HasPrefix(out, "cqld ") {
		t.Errorf("exit %d, %s%s, want %s", code, out, errs, want)
	}
}

// TestCompletion completes commands, flags and values as the scripts ask for it, and prints scripts.
func TestCompletion(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish"} {
		code, out, _ := cqld(t, nil, "completion", shell)
		if code != 0 || !strings.Contains(out, "cqld __complete") && !strings.Contains(out, "__complete") {
			t.Errorf("%s: exit %d, %s", shell, code, out)
		}
	}
	for line, want := range map[string][]string{
		"ex":                     {"exec\t", "export\t"},
		"exec --k":               {"--keyspace\t"},
		"--me":                   {"--memory\t", "--memtable\t"},
		"serve --auth ":          {"none\n", "mtls-or-password\n"},
		"export a b c --format ": {"csv\n"},
		"help re":                {"restore\n", "replay\n"},
		"completion ":            {"fish\n"},
	} {
		_, out, _ := cqld(t, nil, append([]string{"__complete"}, strings.Split(line, " ")...)...)
		for _, one := range want {
			if !strings.Contains(out, one) {
				t.Errorf("%q is completed as %q, want %q among them", line, out, one)
			}
		}
	}
}

// The flags of serve in docs/operating.md stand between these lines.
const (
	flagsBegin = "<!-- flags: go test ./command -run TestFlagTable -update -->\n"
	flagsEnd   = "<!-- end of flags -->\n"
)

// TestFlagTable wants docs/operating.md to list the flags of serve as they are.
func TestFlagTable(t *testing.T) {
	const path = "../docs/operating.md"
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, topic := range topicsOf(newRoot(&console{}).Flags()) {
		if topic.name == generalTopic {
			continue
		}
		fmt.Fprintf(&b, "\n| %s | default | |\n|---|---|---|\n", topic.name)
		for _, one := range topic.flags {
			shown := ""
			if d := defaultOf(one); d != "" {
				shown = "`" + d + "`"
			}
			_, text := pflag.UnquoteUsage(one)
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", flagSyntax(one), shown, text)
		}
	}
	b.WriteString("\n")
	around := regexp.MustCompile("(?s)(" + regexp.QuoteMeta(flagsBegin) + ").*(" + regexp.QuoteMeta(flagsEnd) + ")")
	want := around.ReplaceAllString(string(page), "${1}"+strings.ReplaceAll(b.String(), "$", "$$")+"${2}")
	if !around.Match(page) {
		t.Fatalf("%s has no place for flags", path)
	}
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want != string(page) {
		t.Errorf("%s does not list the flags as they are: go test ./command -run TestFlagTable -update", path)
	}
}
