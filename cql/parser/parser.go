package parser

import (
	"sync"

	"github.com/antlr4-go/antlr/v4"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/grammar"
)

// Parse returns the statement that text holds, and the number of bind markers in it. Markers are numbered
// in the order of the text. It may be called from several goroutines.
func Parse(text string) (cql.Statement, int, error) { return ParseWithin(text, DefaultLimits) }

// ParseWithin is Parse with limits of the caller's.
func ParseWithin(text string, limits Limits) (cql.Statement, int, error) {
	if len(text) > limits.Length {
		return nil, 0, cqlerr.Invalidf("The statement is longer than %d bytes", limits.Length)
	}
	m := machines.Get().(*machine)
	defer m.release()
	m.tokens.nesting.most = limits.Nesting
	if err := m.loadStatement(text); err != nil {
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

// machine is a lexer and a parser that are used for one text after another.
type machine struct {
	input  input
	tokens tokens
	lexer  *grammar.CqlLexer
	parser *grammar.CqlParser

	reporter reporter
	built    *builtBatch // of a long batch, else nil
}

var machines = sync.Pool{New: func() any {
	m := &machine{}
	m.lexer = grammar.NewCqlLexer(&m.input)
	m.lexer.RemoveErrorListeners()
	m.parser = grammar.NewCqlParser(&m.tokens)
	m.parser.RemoveErrorListeners()
	m.parser.BuildParseTrees = false
	m.reporter = reporter{antlr.NewDefaultErrorStrategy(), m}
	return m
}}

// load reads the tokens of a text.
func (m *machine) load(text string) {
	m.input = input{text: text}
	m.tokens.read(m.lexer, &m.input)
}

// loadStatement reads the tokens of a statement.
func (m *machine) loadStatement(text string) error {
	m.input = input{text: text}
	return m.tokens.readStatement(m.lexer, &m.input)
}

// release gives the machine back, without the text. A large one is left to the collector.
func (m *machine) release() {
	m.tokens.release()
	m.input, m.built = input{}, nil
	m.parser.SetError(nil)
	m.parser.SetParserRuleContext(nil)
	if cap(m.tokens.all) < 1<<16 {
		machines.Put(m)
	}
}

// fullPrediction is the length of the longest text for which a refusal by the fast prediction is looked at
// again with the full one. It says the same, but for decisions that a look at the whole context changes; a
// longer text would take too long to be parsed twice.
const fullPrediction = 16 << 10

// run parses the tokens: fast, and once more with the full prediction if that fails.
func (m *machine) run() (grammar.IQueryContext, error) {
	bad, before := m.dropBad()
	tree, err := m.attempt(antlr.PredictionModeSLL)
	if err != nil && len(m.input.text) <= fullPrediction {
		tree, err = m.attempt(antlr.PredictionModeLL)
	}
	if bad != nil && (err == nil || m.tokens.looked >= before) {
		return nil, m.badToken(bad)
	}
	return tree, err
}

// attempt parses the tokens from the beginning. The reporter ends a parse with a panic of type failure.
func (m *machine) attempt(mode int) (tree grammar.IQueryContext, err error) {
	defer func() {
		if r := recover(); r != nil {
			f, ok := r.(failure)
			if !ok {
				panic(r)
			}
			err = f.err
		}
	}()
	m.parser.SetError(nil) // a panic leaves the error behind
	m.parser.SetInputStream(&m.tokens)
	m.tokens.rewind()
	m.parser.SetErrorHandler(&m.reporter)
	m.parser.GetInterpreter().SetPredictionMode(mode)
	if m.built = m.batchListener(); m.built != nil {
		m.parser.AddParseListener(m.built)
		defer m.parser.RemoveParseListener(m.built)
	}
	return m.parser.Query(), nil
}

// failure is what the reporter panics with.
type failure struct{ err *cqlerr.Error }
