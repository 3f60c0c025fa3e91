// Package cqlfiles reads files of CQL statements and runs them one statement after the other. The folder of
// serve --init, the scripts of cqld exec and LoadDir of cqltest are read here, so that they agree on names,
// order, compression and where an error is.
package cqlfiles

import (
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/cqld/cqld/cql/parser"
	"github.com/cqld/cqld/cql/secret"
)

// File is a text of statements with semicolons between them.
type File struct {
	Name string // in errors; "": errors show the statement instead
	Text string
}

// IsScript reports whether a file of this name has statements: names end in .cql, or in .cql.gz if gzip packed it.
func IsScript(name string) bool {
	return strings.HasSuffix(strings.TrimSuffix(name, packed), ".cql")
}

// packed is how the name of a file ends that gzip has packed.
const packed = ".gz"

// ReadFolder reads the scripts in the top folder of a file system, in the order of their names. dir is put before the
// names in errors. skipped are the other files.
func ReadFolder(files fs.FS, dir string) (scripts []File, skipped []string, err error) {
	entries, err := fs.ReadDir(files, ".") // sorted by name
	if err != nil {
		return nil, nil, err
	}
	for _, e := range entries {
		info, err := fs.Stat(files, e.Name()) // of the file that a link leads to
		if err != nil {
			return nil, nil, err
		}
		if info.IsDir() || !IsScript(e.Name()) {
			skipped = append(skipped, e.Name())
			continue
		}
		script, err := ReadFile(files, e.Name())
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", path.Join(dir, e.Name()), err)
		}
		script.Name = path.Join(dir, e.Name())
		scripts = append(scripts, script)
	}
	return scripts, skipped, nil
}

// ReadFile reads a script of a file system.
func ReadFile(files fs.FS, name string) (File, error) {
	f, err := files.Open(name)
	if err != nil {
		return File{}, err
	}
	defer f.Close()
	return Read(f, name)
}

// Read reads a script. It is unpacked if its name ends in .gz; a byte order mark at its beginning is left out.
func Read(from io.Reader, name string) (File, error) {
	if strings.HasSuffix(name, packed) {
		unpacked, err := gzip.NewReader(from)
		if err != nil {
			return File{}, err
		}
		from = unpacked
	}
	text, err := io.ReadAll(from)
	return File{Name: name, Text: strings.TrimPrefix(string(text), "\ufeff")}, err
}

// Statements are the statements of the file, in its order.
func (f File) Statements() []Statement {
	var all []Statement
	for _, piece := range parser.Split(f.Text) {
		// The line break ends a comment behind the statement.
		all = append(all, Statement{Text: piece.Text + "\n", Line: piece.Line, file: f.Name})
	}
	return all
}

// Run calls run with the text of each statement. It stops at the first error and returns it with its place.
func (f File) Run(run func(text string) error) error {
	for _, s := range f.Statements() {
		if err := run(s.Text); err != nil {
			return s.Error(err)
		}
	}
	return nil
}

// Statement is a statement of a file.
type Statement struct {
	Text string
	Line int // on which it begins, counted from 1
	file string
}

// Error puts the place of the statement before its error: file and line, or its text if the file has no name.
func (s Statement) Error(err error) error {
	if s.file == "" {
		return fmt.Errorf("%s: %w", secret.Hide(strings.TrimSuffix(s.Text, "\n")), err)
	}
	return fmt.Errorf("%s:%d: %w", s.file, s.Line, err)
}
