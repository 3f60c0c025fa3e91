package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/cqld/cqld/command"
)

// TestHelp has the program's own name, flags and examples, and not the flags of a folder. It names what is missing.
func TestHelp(t *testing.T) {
	run := func(args ...string) (code int, out, errs string) {
		var stdout, stderr bytes.Buffer
		p := command.Program{
			Args: args, Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr, Engine: new(flags).engine(),
		}
		code = p.Run(t.Context())
		return code, stdout.String(), stderr.String()
	}
	code, out, errs := run("help", "serve")
	if code != 0 || errs != "" {
		t.Fatalf("exit %d, %s", code, errs)
	}
	for _, want := range []string{
		"\n  cqld-cluster [serve] [flags]\n", "\n  cqld-cluster serve --pd ", "\nCluster:\n", "\n  --pd ADDRESSES ",
		"\n  --lease DURATION ", "10m)\n", "\n  --listen ADDRESS ",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the help does not have %q:\n%s", want, out)
		}
	}
	for _, not := range []string{"--data ", "--repair", "--ring", "\n  cqld "} {
		if strings.Contains(out, not) {
			t.Errorf("the help has %q:\n%s", not, out)
		}
	}
	code, _, errs = run("--listen", "127.0.0.1:0")
	if code != 1 || !strings.Contains(errs, "cqld-cluster: --pd ADDRESSES is required") {
		t.Errorf("without --pd: exit %d, %s", code, errs)
	}
	if code, _, errs := run("--pdd", "a"); code != 2 || errs != "cqld-cluster: there is no flag --pdd: did you mean --pd?\n" {
		t.Errorf("a misspelt flag: exit %d, %s", code, errs)
	}
}
