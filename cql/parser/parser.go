// Package parser turns the text of a statement into its syntax tree.
//
// Parse reads the tokens of a text (package stream), which limits its size and nesting, and runs the generated parser
// of package grammar: with the fast prediction, and if that fails with the full one. Errors have the messages of
// Cassandra's parser (package antlr3). There is no parse tree: the builders read the labels of the grammar's rules
// and make the nodes of package cql. statement.go dispatches; select.go, modification.go and definition.go build
// statements, term.go and name.go their parts.
//
// The builders also check the rules that Cassandra checks while it parses: the forms of SET, properties given twice,
// reserved names of types. The planner checks all others.
//
// Errors are *cqlerr.Error of kind SyntaxError.
package parser

import (
	"strings"
	"sync"

	"github.com/antlr4-go/antlr/v4"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/parser/antlr3"
	"github.com/cqld/cqld/cql/parser/stream"
	"github.com/cqld/cqld/grammar"
)

// Limits bound the texts that are parsed.
type Limits struct {
	Length  int // bytes of a text
	Nesting int // depth of the syntax tree
}

// DefaultLimits are the limits of Parse. By default a request has at most half of the length, and no valid write is
// longer. Deeper nesting could exhaust the stack of this process.
var DefaultLimits = Limits{Length: 32 << 20, Nesting: 1000}

// Parse returns the statement in text and the number of its bind markers. Markers are numbered in the order of the
// text. Parse may be called concurrently.
func Parse(text string) (cql.Statement, int, error) { return ParseWithin(text, DefaultLimits) }

// ParseWithin is Parse with other limits.
func ParseWithin(text string, limits Limits) (cql.Statement, int, error) {
	if len(text) > limits.Length {
		return nil, 0, cqlerr.Invalidf("The statement is longer than %d bytes", limits.Length)
	}
	m := machines.Get().(*machine)
	defer m.release()
	m.input = stream.NewInput(text)
	if err := m.tokens.ReadStatement(m.lexer, &m.input, limits.Nesting); err != nil {
		return nil, 0, err
	}
	tree, err := m.run()
	if err != nil {
		return nil, 0, err
	}
	b := builder{m: m, text: text}
	if m.built != nil && m.built.begun {
		b.markers, b.err, b.ended, b.built = m.built.b.markers, m.built.b.err, m.built.b.ended, m.built
	}
	statement := b.statement(tree.GetBody())
	if b.err != nil {
		return nil, 0, b.err
	}
	return statement, b.markers, nil
}

// machine is a reusable lexer and parser.
type machine struct {
	input    stream.Input
	tokens   stream.Tokens
	lexer    *grammar.CqlLexer
	parser   *grammar.CqlParser
	reporter *antlr3.Reporter
	built    *builtBatch // of a long batch, else nil
}

var machines = sync.Pool{New: func() any {
	m := &machine{}
	m.lexer = grammar.NewCqlLexer(&m.input)
	m.lexer.RemoveErrorListeners()
	m.parser = grammar.NewCqlParser(&m.tokens)
	m.parser.RemoveErrorListeners()
	m.parser.BuildParseTrees = false
	m.reporter = antlr3.NewReporter(&m.tokens)
	m.reporter.Assignments = func(assignments []grammar.IAssignmentContext) *cqlerr.Error {
		b := builder{m: m, text: m.tokens.Text}
		b.assignments(assignments)
		return b.err
	}
	m.reporter.Statements = m.batchError
	return m
}}

// load reads the tokens of a text.
func (m *machine) load(text string) {
	m.input = stream.NewInput(text)
	m.tokens.Read(m.lexer, &m.input)
}

// release returns the machine to the pool, without its text. A large one is left to the garbage collector.
func (m *machine) release() {
	m.tokens.Clear()
	m.input, m.built = stream.Input{}, nil
	m.parser.SetError(nil)
	m.parser.SetParserRuleContext(nil)
	if cap(m.tokens.All) < 1<<16 {
		machines.Put(m)
	}
}

// fullPrediction is the length of the longest text that is parsed again with the full prediction after the fast one
// has failed. The results differ only where a decision depends on the whole context; parsing longer texts twice would
// take too long.
const fullPrediction = 16 << 10

// run parses the tokens with the fast prediction, and if it fails with the full one.
func (m *machine) run() (grammar.IQueryContext, error) {
	bad, before := m.tokens.DropBad()
	tree, err := m.attempt(antlr.PredictionModeSLL)
	if err != nil && len(m.tokens.Text) <= fullPrediction {
		tree, err = m.attempt(antlr.PredictionModeLL)
	}
	if bad != nil && (err == nil || m.tokens.Looked >= before) {
		return nil, antlr3.BadToken(&m.tokens, bad)
	}
	return tree, err
}

// attempt parses the tokens from the beginning. The reporter ends a parse with a panic of type antlr3.Failure.
func (m *machine) attempt(mode int) (tree grammar.IQueryContext, err error) {
	defer func() {
		if r := recover(); r != nil {
			f, ok := r.(antlr3.Failure)
			if !ok {
				panic(r)
			}
			err = f.Err
		}
	}()
	m.parser.SetError(nil) // a panic leaves the error set
	m.parser.SetInputStream(&m.tokens)
	m.tokens.Rewind()
	m.parser.SetErrorHandler(m.reporter)
	m.parser.GetInterpreter().SetPredictionMode(mode)
	if m.built = m.batchListener(); m.built != nil {
		m.parser.AddParseListener(m.built)
		defer m.parser.RemoveParseListener(m.built)
	}
	return m.parser.Query(), nil
}

// Piece is one statement of a script.
type Piece struct {
	Text string
	Line int // on which it begins, counted from 1
}

// Split splits a script into statements at the semicolons outside strings, comments and batches. It drops semicolons,
// comments before statements, and empty statements. A comment after the last statement stays, without its line end.
func Split(script string) []Piece {
	m := machines.Get().(*machine)
	defer m.release()
	m.load(script + "\n") // the end of the last line ends a comment on it
	var out []Piece
	var first *stream.Lexeme // first token of the statement
	line, counted := 1, 0
	batch := false
	all := m.tokens.All
	for i := range all {
		t := &all[i]
		switch t.GetTokenType() {
		case grammar.CqlLexerK_BEGIN:
			batch = batch || first == nil
		case grammar.CqlLexerK_BATCH:
			if batch && isToken(&all[max(i-1, 0)], grammar.CqlLexerK_APPLY) {
				batch = false
			}
		case grammar.CqlLexerSEMICOLON, antlr.TokenEOF:
			if batch && t.GetTokenType() != antlr.TokenEOF {
				continue
			}
			if first != nil {
				end := min(t.GetStart(), len(script))
				line += strings.Count(script[counted:first.GetStart()], "\n")
				counted = first.GetStart()
				out = append(out, Piece{strings.TrimSpace(script[first.GetStart():end]), line})
			}
			first = nil
			continue
		}
		if first == nil {
			first = t
		}
	}
	return out
}
