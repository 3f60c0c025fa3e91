package main

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// pythonPackages makes a virtual environment with packages from PyPI in the work folder and returns its
// interpreter.
func pythonPackages(ctx context.Context, e *environment, packages ...string) (string, error) {
	venv := filepath.Join(e.work, "venv")
	python, done := filepath.Join(venv, "bin", "python"), filepath.Join(venv, "installed")
	wanted := strings.Join(packages, " ")
	if installed, err := os.ReadFile(done); err == nil && string(installed) == wanted {
		return python, nil
	}
	for _, args := range [][]string{
		{"python3", "-m", "venv", "--clear", venv},
		append([]string{python, "-m", "pip", "install", "--quiet"}, packages...),
	} {
		if out, err := exec.CommandContext(ctx, args[0], args[1:]...).CombinedOutput(); err != nil {
			return "", fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err, out)
		}
	}
	return python, os.WriteFile(done, []byte(wanted), 0o644)
}

// pytests configures a run of pytest.
type pytests struct {
	python string
	folder string   // where it runs, and whose path names the tests
	env    []string // beyond our own environment
	args   []string
	prefix string // of the names of tests, left out
}

// run runs each of the paths, relative to the folder, in a separate process. If one hangs or crashes, it has a single
// outcome: it did not finish.
func (p pytests) run(ctx context.Context, e *environment, paths []string) ([]outcome, error) {
	log, err := os.OpenFile(e.log, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	report := filepath.Join(e.work, "report.xml")
	var all []outcome
	for _, path := range paths {
		if err := os.Remove(report); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		ended, err := p.runOnce(ctx, path, report, log)
		if errors.Is(err, fs.ErrNotExist) {
			ended, err = []outcome{{path, failed, unfinished}}, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		all = append(all, ended...)
	}
	return all, nil
}

// runOnce runs one path and reads the report that pytest writes at its end.
func (p pytests) runOnce(ctx context.Context, path, report string, log io.Writer) ([]outcome, error) {
	args := []string{"-m", "pytest", "-q", "-p", "no:cacheprovider", "--junitxml=" + report}
	cmd := command(ctx, p.folder, p.env, p.python, slices.Concat(args, p.args, []string{path})...)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Run(); err != nil {
		fmt.Fprintln(log, path, err) // failed tests are an error here too: the report has them
	}
	content, err := os.ReadFile(report)
	if err != nil {
		return nil, err
	}
	outcomes, err := readJUnit(content)
	for i := range outcomes {
		outcomes[i].test = strings.TrimPrefix(outcomes[i].test, p.prefix)
	}
	return outcomes, err
}

// junit is a report in JUnit's format.
type junit struct {
	Tests []struct {
		Class   string  `xml:"classname,attr"`
		Name    string  `xml:"name,attr"`
		Failure *reason `xml:"failure"`
		Error   *reason `xml:"error"`
		Skipped *reason `xml:"skipped"`
	} `xml:"testsuite>testcase"`
}

// reason is why a test has not passed.
type reason struct {
	Message string `xml:"message,attr"`
}

// readJUnit reads a report. It lists a test twice if the test passes and then fails in its cleanup.
func readJUnit(content []byte) ([]outcome, error) {
	var report junit
	if err := xml.Unmarshal(content, &report); err != nil {
		return nil, err
	}
	var all []outcome
	for _, t := range report.Tests {
		o := outcome{test: t.Class + "." + t.Name, result: passed}
		if t.Class == "" {
			o.test = t.Name // a file that cannot be loaded
		}
		switch {
		case t.Failure != nil:
			o.result, o.message = failed, firstLine(t.Failure.Message)
		case t.Error != nil:
			o.result, o.message = failed, firstLine(t.Error.Message)
		case t.Skipped != nil:
			o.result, o.message = skipped, firstLine(t.Skipped.Message)
		}
		all = append(all, o)
	}
	return all, nil
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}
