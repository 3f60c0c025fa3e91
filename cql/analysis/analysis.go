// Package analysis makes terms of values: what indexes that analyze text store and compare in place of the text.
//
// Storage-attached indexes have one term for a value (ForSAI). SSTable-attached indexes have one, or several where
// their analyzer splits text (ForSASI). words.go finds the words of text and stems.go their stems; case.go and
// ascii_folds.go have the changes of characters as Cassandra's Java makes them.
package analysis

import (
	"bytes"
	"net/netip"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
)

// MaxSASITerm is the number of bytes from which on an SSTable-attached index leaves a term out.
const MaxSASITerm = 1024

// ForSAI returns the function that makes the term of a value of a type in a storage-attached index; nil: values are
// stored as they are.
func ForSAI(x *schema.Index, of types.Type) func([]byte) []byte {
	switch of {
	case types.Text, types.ASCII:
		return forText(x.Options)
	case types.Inet:
		return ipv6
	}
	return nil
}

// forText is ForSAI of text. The changes are made in Cassandra's order.
func forText(options map[string]string) func([]byte) []byte {
	on := func(name string) bool { return strings.EqualFold(options[name], "true") }
	lower := strings.EqualFold(options["case_sensitive"], "false")
	normalize, ascii := on("normalize"), on("ascii")
	if !lower && !normalize && !ascii {
		return nil
	}
	return func(value []byte) []byte {
		text := string(value)
		if lower {
			text = javaLower(text)
		}
		if normalize {
			text = norm.NFC.String(text)
		}
		if ascii {
			text = asciiFold(text)
		}
		return []byte(text)
	}
}

// ipv6 makes sixteen bytes of an address.
func ipv6(b []byte) []byte {
	if a, ok := netip.AddrFromSlice(b); ok {
		long := a.As16()
		return long[:]
	}
	return b
}

// ForSASI returns the terms of a value in an SSTable-attached index whose values are text. Values of no bytes have
// none.
func ForSASI(m schema.SASIMode, value []byte) [][]byte {
	if len(value) == 0 {
		return nil
	}
	switch m.Analyzer {
	case schema.DelimiterAnalyzer:
		delimiter, ok := m.Options["delimiter"]
		if !ok {
			delimiter = ","
		}
		var terms [][]byte
		for _, term := range bytes.Split(value, []byte(delimiter)) {
			if len(term) > 0 {
				terms = append(terms, term)
			}
		}
		return terms
	case schema.NonTokenizingAnalyzer:
		return [][]byte{nonTokenizing(m, value)}
	case schema.StandardAnalyzer:
		var terms [][]byte
		words(string(value), func(word string) { terms = append(terms, standard(m, word)) })
		return terms
	}
	return [][]byte{value}
}

// standard is what the StandardAnalyzer makes of a word.
func standard(m schema.SASIMode, word string) []byte {
	switch {
	case strings.EqualFold(m.Options["tokenization_normalize_lowercase"], "true"):
		word = javaLower(word)
	case strings.EqualFold(m.Options["tokenization_normalize_uppercase"], "true"):
		word = javaUpper(word)
	}
	if m.Stems() {
		word = stem(m.Language(), word)
	}
	return norm.NFC.Bytes([]byte(word))
}

// nonTokenizing is what the NonTokenizingAnalyzer makes of a value.
func nonTokenizing(m schema.SASIMode, value []byte) []byte {
	on := func(name string) bool { return strings.EqualFold(m.Options[name], "true") }
	text := string(value)
	sensitive, told := m.Options["case_sensitive"]
	switch {
	case told && !strings.EqualFold(sensitive, "true"), on("normalize_lowercase"):
		text = javaLower(text)
	case on("normalize_uppercase"):
		text = javaUpper(text)
	}
	return norm.NFC.Bytes([]byte(text))
}
