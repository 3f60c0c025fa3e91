package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// causesFolder has the files with causes, seen from the folder of the module.
const causesFolder = "compat_tests/suites/causes"

// cause explains why tests fail. It is a line of a file, with four parts and " | " between them:
//
//	<suite> | <server> | <test> | <cause>
//
// The server is cqld for tests that only Cassandra passes, and cassandra for all tests that Cassandra fails. A * in
// suite and test matches any text. The first line that matches counts.
type cause struct {
	suite, server, test, text string

	used bool
}

// causes are the lines of all files, in the order of the files' names.
type causes []*cause

// readCauses reads all .txt files of a folder. Empty lines and lines that begin with # are for readers.
func readCauses(folder string) (causes, error) {
	paths, err := filepath.Glob(filepath.Join(folder, "*.txt"))
	if err != nil {
		return nil, err
	}
	var all causes
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		n := 0
		for line := range strings.Lines(string(content)) {
			n++
			if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
				continue
			}
			c, err := parseCause(line)
			if err != nil {
				return nil, fmt.Errorf("%s:%d: %w", path, n, err)
			}
			all = append(all, c)
		}
	}
	return all, nil
}

func parseCause(line string) (*cause, error) {
	part := strings.SplitN(line, " | ", 4)
	if len(part) != 4 || part[1] != "cqld" && part[1] != "cassandra" {
		return nil, fmt.Errorf("not a cause: %s", line)
	}
	return &cause{suite: part[0], server: part[1], test: part[2], text: part[3]}, nil
}

// explain sets the cause of each difference. The error lists the differences without a cause.
func (all causes) explain(c *comparison) error {
	var err error
	for _, group := range []struct {
		server string
		list   []difference
	}{{"cqld", c.here}, {"cassandra", c.both}, {"cassandra", c.there}} {
		for i := range group.list {
			d := &group.list[i]
			if d.cause = all.find(c.suite.name, group.server, d.test); d.cause == "" {
				err = errors.Join(err, fmt.Errorf("unexplained: %s | %s | %s: %s", c.suite.name, group.server, d.test, d.message))
			}
		}
	}
	return err
}

func (all causes) find(suite, server, test string) string {
	for _, c := range all {
		if c.server == server && fits(c.suite, suite) && fits(c.test, test) {
			c.used = true
			return c.text
		}
	}
	return ""
}

// stale returns the causes that explained nothing although all suites they match were compared.
func (all causes) stale(done []comparison) []string {
	var lines []string
	for _, c := range all {
		missing := func(s suite) bool {
			return fits(c.suite, s.name) && !slices.ContainsFunc(done, func(d comparison) bool { return d.suite.name == s.name })
		}
		if !c.used && !slices.ContainsFunc(suites, missing) {
			lines = append(lines, fmt.Sprintf("%s | %s | %s: no such test fails", c.suite, c.server, c.test))
		}
	}
	return lines
}

// fits reports whether a name matches a pattern, in which each * matches any text.
func fits(pattern, name string) bool {
	head, rest, star := strings.Cut(pattern, "*")
	name, ok := strings.CutPrefix(name, head)
	if !star || !ok {
		return ok && name == ""
	}
	for i := range len(name) + 1 {
		if fits(rest, name[i:]) {
			return true
		}
	}
	return false
}
