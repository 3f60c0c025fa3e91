package parser

import (
	"errors"
	"sync"

	"github.com/antlr4-go/antlr/v4"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/grammar"
)

// Parse returns the statement that text holds, and the number of bind markers in it. Markers are numbered
// in the order of the text. It may be called from several goroutines.
func Parse(text string) (cql.Statement, int, error) {
	if len(text) > maxLength {
		return nil, 0, cqlerr.Syntaxf("The statement is longer than %d bytes", maxLength)
	}
	m := machines.Get().(*machine)
	defer m.release()
	m.load(text)
	if err := checkNesting(m.tokens.all); err != nil {
		return nil, 0, err
	}
	if statement := unsupported(m.tokens.all, text); statement != nil {
		return statement, 0, nil
	}
	tree, err := m.run()
	if err != nil {
		return nil, 0, err
	}
	b := builder{m: m, text: text}
	statement := b.statement(tree.GetBody())
	if b.err != nil {
		return nil, 0, b.err
	}
	return statement, b.markers, nil
}

// machine is a lexer and a parser that are used for one text after another.
type machine struct {
	input  input
	tokens tokens
	lexer  *grammar.CqlLexer
	parser *grammar.CqlParser
}

var machines = sync.Pool{New: func() any {
	m := &machine{}
	m.lexer = grammar.NewCqlLexer(&m.input)
	m.lexer.RemoveErrorListeners()
	m.parser = grammar.NewCqlParser(&m.tokens)
	m.parser.RemoveErrorListeners()
	m.parser.BuildParseTrees = false
	return m
}}

// load reads the tokens of a text.
func (m *machine) load(text string) {
	m.input = input{text: text}
	m.lexer.SetInputStream(&m.input)
	m.tokens.read(m.lexer)
}

// release gives the machine back, without the text. A large one is left to the collector.
func (m *machine) release() {
	m.tokens.release()
	m.input = input{}
	if cap(m.tokens.all) < 1<<16 {
		machines.Put(m)
	}
}

// run parses the tokens: fast, and once more with care if that fails.
func (m *machine) run() (grammar.IQueryContext, error) {
	if tree, err := m.fast(); err == nil {
		return tree, nil
	}
	bad, before := m.dropBad()
	tree, err := m.attempt(antlr.PredictionModeLL, &reporter{antlr.NewDefaultErrorStrategy(), m})
	if bad != nil && (err == nil || m.tokens.looked >= before) {
		return nil, m.badToken(bad)
	}
	return tree, err
}

// fast is the first attempt: it only says whether the text parses.
func (m *machine) fast() (grammar.IQueryContext, error) {
	return m.attempt(antlr.PredictionModeSLL, &giveUp{antlr.NewDefaultErrorStrategy()})
}

// attempt parses the tokens from the beginning. The strategies end a parse with a panic of type failure.
func (m *machine) attempt(mode int, strategy antlr.ErrorStrategy) (tree grammar.IQueryContext, err error) {
	defer func() {
		if r := recover(); r != nil {
			f, ok := r.(failure)
			if !ok {
				panic(r)
			}
			err = errRefused
			if f.err != nil {
				err = f.err
			}
		}
	}()
	m.parser.SetError(nil) // a panic leaves the error behind
	m.parser.SetInputStream(&m.tokens)
	m.tokens.rewind()
	m.parser.SetErrorHandler(strategy)
	m.parser.GetInterpreter().SetPredictionMode(mode)
	return m.parser.Query(), nil
}

// failure is what a strategy panics with; the error is nil on the first attempt.
type failure struct{ err *cqlerr.Error }

// errRefused is the first attempt's way to say that a text does not parse.
var errRefused = errors.New("refused")

// giveUp is the error strategy of the first attempt: it ends at the first error.
type giveUp struct{ *antlr.DefaultErrorStrategy }

func (*giveUp) Sync(antlr.Parser)        {}
func (*giveUp) ReportMatch(antlr.Parser) {}

func (*giveUp) RecoverInline(antlr.Parser) antlr.Token { panic(failure{}) }

func (*giveUp) ReportError(antlr.Parser, antlr.RecognitionException) { panic(failure{}) }
