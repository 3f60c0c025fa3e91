package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// narrow are the folders, with their subfolders, in which lines of code have at most maxLine characters. Comment lines
// are limited everywhere.
var narrow = []string{"cql", "grammar", "planner/define", "planner/scope", "planner/where", "protocol", "store"}

// maxLine is the length of the longest line, in characters; a tab is one.
const maxLine = 120

// TestExportedNamesHaveComments checks that each exported name of a package has a comment, and each exported method,
// even of an unexported type. Comments begin with the name; a group of constants or variables may share one.
func TestExportedNamesHaveComments(t *testing.T) {
	for _, f := range goFiles(t) {
		if f.test {
			continue
		}
		files := token.NewFileSet()
		syntax, err := parser.ParseFile(files, f.path, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		if ast.IsGenerated(syntax) {
			continue
		}
		for _, name := range withoutComment(syntax) {
			t.Errorf("%s: %s has no comment that begins with its name", files.Position(name.Pos()), name.Name)
		}
	}
}

// withoutComment returns the exported names of a file without a comment.
func withoutComment(file *ast.File) (names []*ast.Ident) {
	check := func(name *ast.Ident, comments ...*ast.CommentGroup) {
		if name.IsExported() && !slices.ContainsFunc(comments, func(c *ast.CommentGroup) bool { return beginsWith(c, name.Name) }) {
			names = append(names, name)
		}
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			check(d.Name, d.Doc)
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					if check(spec.Name, spec.Doc, d.Doc); spec.Name.IsExported() {
						checkMethods(spec.Type, check)
					}
				case *ast.ValueSpec:
					if d.Lparen.IsValid() && (d.Doc != nil || spec.Doc != nil || spec.Comment != nil) {
						continue
					}
					for _, name := range spec.Names {
						check(name, spec.Doc, d.Doc)
					}
				}
			}
		}
	}
	return names
}

// checkMethods checks the methods of an interface. A method's comment may be on the same line.
func checkMethods(of ast.Expr, check func(*ast.Ident, ...*ast.CommentGroup)) {
	i, ok := of.(*ast.InterfaceType)
	if !ok {
		return
	}
	for _, m := range i.Methods.List {
		if m.Comment != nil {
			continue
		}
		for _, name := range m.Names {
			check(name, m.Doc)
		}
	}
}

// beginsWith reports whether a comment begins with a name, perhaps after an article, and continues after it.
func beginsWith(comment *ast.CommentGroup, name string) bool {
	words := strings.Fields(comment.Text())
	if len(words) > 0 && slices.Contains([]string{"A", "An", "The"}, words[0]) {
		words = words[1:]
	}
	return len(words) > 1 && strings.TrimRight(words[0], ",:") == name
}

// TestLinesAreShort checks the length of lines, except in generated code.
func TestLinesAreShort(t *testing.T) {
	for _, f := range goFiles(t) {
		if strings.HasPrefix(f.path, "grammar/cql_") {
			continue
		}
		content, err := os.ReadFile(f.path)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(content), "\n") {
			isComment := strings.HasPrefix(strings.TrimLeft(line, "\t"), "//")
			if n := utf8.RuneCountInString(line); n > maxLine && (isComment || below(f.folder, narrow)) {
				t.Errorf("%s:%d has %d characters, want %d at most", f.path, i+1, n, maxLine)
			}
		}
	}
}

// below reports whether a folder is one of the given ones, or inside one.
func below(folder string, of []string) bool {
	return slices.ContainsFunc(of, func(f string) bool { return folder == f || strings.HasPrefix(folder, f+"/") })
}
