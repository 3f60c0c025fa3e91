package stream

import (
	"github.com/antlr4-go/antlr/v4"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/grammar"
)

// folding finds runs of plain terms while a text is split into tokens. The parser sees a run as one integer, a run of
// tuples as an integer in parentheses, a run of markers as a marker, and a run of map entries as two integers with a
// colon between them: the grammar accepts these where it accepts the terms.
type folding struct {
	on      bool
	pending []fold
	tried   []int            // for each open bracket, the end of the text that was searched for runs
	runs    map[int]*cql.Run // by the offset of the token
}

// fold is a run, and the lexer offset at which it replaces tokens.
type fold struct {
	run  *cql.Run
	from int
}

// reset prepares for another text.
func (f *folding) reset() {
	f.on, f.pending, f.tried, f.runs = false, f.pending[:0], f.tried[:0], nil
}

// enable switches folding on in the clauses that have literals.
func (f *folding) enable(kind, first int32) {
	switch kind {
	case grammar.CqlLexerK_INSERT, grammar.CqlLexerK_UPDATE, grammar.CqlLexerK_DELETE:
		f.on = first == kind || first == grammar.CqlLexerK_BEGIN
	case grammar.CqlLexerK_WHERE, grammar.CqlLexerK_ORDER:
		f.on = f.on || first == grammar.CqlLexerK_SELECT
	case grammar.CqlLexerK_GROUP:
		f.on = false
	}
}

// minRunLength is the length of the shortest text of a run that is folded.
const minRunLength = 2*cql.MinRun - 1

// find searches for a run after a bracket or comma that ends before at.
func (f *folding) find(kind int32, text string, at int) {
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
	if last < 0 || at < f.tried[last] || len(text)-at < minRunLength {
		return
	}
	run, from, end := cql.FindRun(text, at)
	f.tried[last] = end
	if run != nil {
		f.pending = append(f.pending, fold{run, from})
	}
}

// take removes and returns the run that begins at the position of the lexer, or nil.
func (f *folding) take(pos int) *cql.Run {
	last := len(f.pending) - 1
	if last < 0 || f.pending[last].from != pos {
		return nil
	}
	run := f.pending[last].run
	f.pending = f.pending[:last]
	return run
}

// keep records the run that a token represents.
func (f *folding) keep(start int, run *cql.Run) {
	if f.runs == nil {
		f.runs = map[int]*cql.Run{}
	}
	f.runs[start] = run
}

// addRun adds the tokens of a run.
func (ts *Tokens) addRun(run *cql.Run) {
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

// Run returns the run that a token, a literal or marker, represents, or nil.
func (ts *Tokens) Run(t antlr.Token) *cql.Run {
	if ts.folding.runs == nil {
		return nil
	}
	return ts.folding.runs[t.GetStart()]
}
