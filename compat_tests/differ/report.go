package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cqld/cqld/compat_tests/script"
)

// show shrinks a difference and prints it as a script.
func (r *runner) show(ctx context.Context, f *finding) error {
	small, d, err := r.shrink(ctx, f)
	if err = errors.Join(err, ctx.Err()); err != nil {
		return err
	}
	text, err := r.script(ctx, small)
	if err != nil {
		return err
	}
	head := []string{fmt.Sprintf("# seed %d, scenario %d (%s), %s: %s", r.o.seed, f.number, f.family.name, small.version, d.aspect)}
	head = append(head, comment("Cassandra: ", d.cassandra)...)
	text.Comment = append(append(head, comment("cqld: ", d.cqld)...), text.Comment...)
	r.mu.Lock()
	defer r.mu.Unlock()
	_, err = fmt.Fprintf(r.o.out, "%s\n\n", text)
	return err
}

// lines describe a finding before it is shrunk.
func (f *finding) lines() []string {
	last := f.scenario.steps[len(f.scenario.steps)-1]
	cql, _ := last.cql(tableName)
	all := comment(fmt.Sprintf("scenario %d (%s), step %d, %s: ", f.number, f.family.name, len(f.scenario.steps), f.aspect), cql)
	if how := last.how(); how != "" {
		all = append(all, comment("", how)...)
	}
	return append(append(all, comment("Cassandra: ", f.cassandra)...), comment("cqld: ", f.cqld)...)
}

// comment is a text as lines of a comment.
func comment(label, text string) []string {
	return strings.Split("# "+strings.ReplaceAll(label+text, "\n", "\n#   "), "\n")
}

// script is a scenario in the language of compat_tests/scripts, with Cassandra's answers; where cqld's differ in
// that language too, the comment has them. A block with bound values has no answers.
func (r *runner) script(ctx context.Context, s *scenario) (*script.Script, error) {
	text := &script.Script{}
	mode := script.Mode{Version: s.version, PageSize: 5000}
	for _, st := range s.steps {
		cql, bound := st.cql("t")
		b := &script.Block{Kind: script.Exec, Statements: []string{cql + ";"}}
		if st.kind == read {
			b.Kind = script.Query
		}
		if how := st.how(); how != "" {
			b.Comment = comment("", how)
		}
		text.Blocks = append(text.Blocks, b)
		if len(bound) > 0 || st.mode == batchMessage {
			mode.Version = 0 // the language has no versions
		}
		if st.page != 0 {
			mode.PageSize = st.page
		}
		mode.Prepared = mode.Prepared || st.mode == prepared
	}
	text.Blocks = joined(text.Blocks)
	if mode.Version == 0 {
		return text, nil
	}
	return text, r.answers(ctx, text, mode)
}

// joined merges consecutive blocks with the same comment.
func joined(blocks []*script.Block) []*script.Block {
	var list []*script.Block
	for _, b := range blocks {
		if last := len(list) - 1; last >= 0 && b.Kind == script.Exec && list[last].Kind == script.Exec &&
			slices.Equal(b.Comment, list[last].Comment) {
			list[last].Statements = append(list[last].Statements, b.Statements...)
			continue
		}
		list = append(list, b)
	}
	return list
}

// answers runs a script on both servers.
func (r *runner) answers(ctx context.Context, s *script.Script, m script.Mode) error {
	keyspace := r.keyspace() + "_" + r.tableName()
	cassandra, err := answersOf(ctx, r.o.cassandra, keyspace, s, m)
	if err != nil {
		return err
	}
	cqld, err := answersOf(ctx, r.o.cqld, keyspace, s, m)
	if err != nil {
		return err
	}
	same := true
	for i, b := range s.Blocks {
		b.Expected = cassandra[i]
		if !slices.Equal(cassandra[i], cqld[i]) {
			same = false
			s.Comment = append(s.Comment, comment(fmt.Sprintf("cqld to block %d:\n", i+1), strings.Join(cqld[i], "\n"))...)
		}
	}
	if same {
		s.Comment = append(s.Comment, "# The answers below are the same: the difference is in what scripts do not show.")
	}
	return nil
}

// answersOf runs a script on one server.
func answersOf(ctx context.Context, addr, keyspace string, s *script.Script, m script.Mode) ([][]string, error) {
	runner, err := script.Open(ctx, addr, keyspace, m)
	if err != nil {
		return nil, err
	}
	var all [][]string
	for _, b := range s.Blocks {
		all = append(all, runner.Run(ctx, b))
	}
	return all, runner.Drop(ctx)
}
