// Package cqlfiles reads files of CQL statements and runs them in order. serve --init, cqld exec and LoadDir of
// cqltest share it, so that they agree on names, order, compression and the positions in errors.
package cqlfiles

import (
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/cqld/cqld/cql/parser"
	"github.com/cqld/cqld/cql/secret"
)

// File is a text of statements with semicolons between them.
type File struct {
	Name string // in errors; "": errors show the statement instead
	Text string
}

// IsScript reports whether a file name ends in .cql or .cql.gz.
func IsScript(name string) bool {
	return strings.HasSuffix(strings.TrimSuffix(name, packed), ".cql")
}

// packed is the suffix of files compressed by gzip.
const packed = ".gz"

// schema is the script that an export writes for the others of its folder.
const schema = "schema.cql"

// maxText is how many bytes of text a script or the scripts of a folder may have: they are read into memory, and a
// compressed file of a few megabytes could fill all of it.
const maxText = 256 << 20

var errTooLong = fmt.Errorf("the scripts have more than %d MiB of text, decompressed; cqld exec reads longer ones "+
	"from its standard input", maxText>>20)

// ReadFolder reads the scripts in the top folder of a file system, schema.cql first, the others in the order of their
// names. dir is put before the names in errors. skipped is all else.
func ReadFolder(files fs.FS, dir string) (scripts []File, skipped []string, err error) {
	return readFolder(files, dir, maxText)
}

func readFolder(files fs.FS, dir string, limit int64) (scripts []File, skipped []string, err error) {
	entries, err := fs.ReadDir(files, ".") // sorted by name
	if err != nil {
		return nil, nil, err
	}
	isSchema := func(e fs.DirEntry) bool { return strings.TrimSuffix(e.Name(), packed) == schema }
	if i := slices.IndexFunc(entries, isSchema); i > 0 {
		entries = slices.Concat(entries[i:i+1], entries[:i], entries[i+1:])
	}
	for _, e := range entries {
		info, err := fs.Stat(files, e.Name()) // of the file that a link leads to
		if err != nil {
			return nil, nil, err
		}
		if !info.Mode().IsRegular() || !IsScript(e.Name()) { // a pipe could be read forever
			skipped = append(skipped, e.Name())
			continue
		}
		script, err := readFile(files, e.Name(), limit)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", path.Join(dir, e.Name()), err)
		}
		script.Name = path.Join(dir, e.Name())
		scripts = append(scripts, script)
		limit -= int64(len(script.Text))
	}
	return scripts, skipped, nil
}

// ReadFile reads a script of a file system.
func ReadFile(files fs.FS, name string) (File, error) { return readFile(files, name, maxText) }

func readFile(files fs.FS, name string, limit int64) (File, error) {
	f, err := files.Open(name)
	if err != nil {
		return File{}, err
	}
	defer f.Close()
	return read(f, name, limit)
}

// read reads a script, decompresses it if its name ends in .gz, and drops a byte order mark.
func read(from io.Reader, name string, limit int64) (File, error) {
	if strings.HasSuffix(name, packed) {
		unpacked, err := gzip.NewReader(from)
		if err != nil {
			return File{}, err
		}
		from = unpacked
	}
	text, err := io.ReadAll(io.LimitReader(from, limit+1))
	if err == nil && int64(len(text)) > limit {
		return File{}, errTooLong
	}
	return File{Name: name, Text: strings.TrimPrefix(string(text), "\ufeff")}, err
}

// Statements returns the statements of the file in order.
func (f File) Statements() []Statement {
	var all []Statement
	for _, piece := range parser.Split(f.Text) {
		// The line break ends a comment after the statement.
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
