package script

import (
	"slices"
	"strings"
)

// ExpectOurs makes a script expect cqld's answers. Before, it expects Cassandra's.
func (s *Script) ExpectOurs() {
	for _, b := range s.Blocks {
		b.expectOurs = true
	}
}

// Differs reports whether cqld answers a block otherwise than Cassandra.
func (s *Script) Differs() bool {
	return slices.ContainsFunc(s.Blocks, func(b *Block) bool { return b.Ours != nil })
}

// wanted is the expected answer of the server for a binding.
func (b *Block) wanted(binding Binding) []string {
	if b.expectOurs && b.Ours != nil {
		return b.Ours
	}
	return b.expected(binding)
}

// record keeps an answer as the server's. Ours is kept only if it differs from Cassandra's.
func (b *Block) record(got []string) {
	if !b.expectOurs {
		b.Expected, b.Bound, b.Parts = got, nil, nil
		return
	}
	b.Ours = nil
	if !slices.Equal(got, b.Expected) {
		b.Ours = got
	}
}

// gone reports whether a block that should show a difference got Cassandra's answer from cqld.
func (b *Block) gone(got []string) bool {
	return b.expectOurs && b.Ours != nil && slices.Equal(got, b.Expected)
}

// expectsReadFailure reports whether a read of the block should fail.
func (b *Block) expectsReadFailure(binding Binding) bool {
	return slices.ContainsFunc(b.wanted(binding), func(line string) bool {
		return strings.HasPrefix(line, "error "+readFailure+":")
	})
}
