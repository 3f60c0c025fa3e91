package parser

import (
	"github.com/antlr4-go/antlr/v4"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/grammar"
)

// folding finds the runs of plain terms while a text is cut into tokens. The parser sees a run as one integer, one of
// tuples as an integer in parentheses, one of markers as a marker, and one in a map as two integers with a colon
// between them: what the grammar takes in a place where the terms before it stood.
type folding struct {
	on      bool
	pending []fold
	tried   []int            // for each open bracket, up to where runs were looked for
	runs    map[int]*cql.Run // by the offset of the token
}

// fold is a run that was found, and the offset of the lexer from which it takes the place of tokens.
type fold struct {
	run  *cql.Run
	from int
}

// reset prepares for another text.
func (f *folding) reset() {
	f.on, f.pending, f.tried, f.runs = false, f.pending[:0], f.tried[:0], nil
}

// begins switches folding on where literals of statements stand.
func (f *folding) begins(kind, first int32) {
	switch kind {
	case grammar.CqlLexerK_INSERT, grammar.CqlLexerK_UPDATE, grammar.CqlLexerK_DELETE:
		f.on = first == kind || first == grammar.CqlLexerK_BEGIN
	case grammar.CqlLexerK_WHERE, grammar.CqlLexerK_ORDER:
		f.on = f.on || first == grammar.CqlLexerK_SELECT
	case grammar.CqlLexerK_GROUP:
		f.on = false
	}
}

// shortestRun is the length of the shortest text of a run that is folded.
const shortestRun = 2*cql.MinRun - 1

// look looks for a run behind a bracket or comma of the kind that ends before at.
func (f *folding) look(kind int32, text string, at int) {
	switch kind {
	case grammar.CqlLexerLPAREN, grammar.CqlLexerLBRACKET, grammar.CqlLexerLBRACE:
		f.tried = append(f.tried, 0)
	case grammar.CqlLexerRPAREN, grammar.CqlLexerRBRACKET, grammar.CqlLexerRBRACE:
		f.tried = f.tried[:max(len(f.tried)-1, 0)]
		return
	case grammar.CqlLexerCOMMA:
	default:
		return
	}
	last := len(f.tried) - 1
	if last < 0 || at < f.tried[last] || len(text)-at < shortestRun {
		return
	}
	run, from, end := cql.FindRun(text, at)
	f.tried[last] = end
	if run != nil {
		f.pending = append(f.pending, fold{run, from})
	}
}

// at takes out the run that begins where the lexer stands, if there is one.
func (f *folding) at(pos int) *cql.Run {
	last := len(f.pending) - 1
	if last < 0 || f.pending[last].from != pos {
		return nil
	}
	run := f.pending[last].run
	f.pending = f.pending[:last]
	return run
}

// keep notes that a token stands for a run.
func (f *folding) keep(start int, run *cql.Run) {
	if f.runs == nil {
		f.runs = map[int]*cql.Run{}
	}
	f.runs[start] = run
}

// addRun adds the tokens of a run.
func (ts *tokens) addRun(run *cql.Run) {
	start, stop := run.Start, run.End-1
	ts.folding.keep(start, run)
	switch run.Kind {
	case cql.RunKeys:
		values := *run
		values.Kind = cql.RunValues
		ts.folding.keep(stop, &values)
		ts.add(grammar.CqlLexerINTEGER, start, stop)
		ts.add(grammar.CqlLexerCOLON, stop, stop)
		ts.add(grammar.CqlLexerINTEGER, stop, stop)
	case cql.RunTuples:
		ts.add(grammar.CqlLexerLPAREN, start, start)
		ts.add(grammar.CqlLexerINTEGER, start, stop)
		ts.add(grammar.CqlLexerRPAREN, stop, stop)
	case cql.RunMarkers:
		ts.add(grammar.CqlLexerQMARK, start, stop)
	default:
		ts.add(grammar.CqlLexerINTEGER, start, stop)
	}
}

// run is the run that a token stands for, or nil. What stands for one is asked about only where a literal or marker is.
func (ts *tokens) run(t antlr.Token) *cql.Run {
	if ts.folding.runs == nil {
		return nil
	}
	return ts.folding.runs[t.GetStart()]
}
