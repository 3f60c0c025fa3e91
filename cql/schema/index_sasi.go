package schema

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
)

// SASIMode is how an SSTable-attached index works.
type SASIMode struct {
	Mode     string // PREFIX, CONTAINS or SPARSE
	Literal  bool   // values are text, whatever the type
	Analyzer string // the name of the class that splits values into terms; "" for none
	Options  map[string]string
}

// The analyzers of SASI indexes, in one package.
const (
	analyzerPackage = "org.apache.cassandra.index.sasi.analyzer."

	StandardAnalyzer      = "StandardAnalyzer"
	NonTokenizingAnalyzer = "NonTokenizingAnalyzer"
	DelimiterAnalyzer     = "DelimiterAnalyzer"
	noOpAnalyzer          = "NoOpAnalyzer"
)

// Options of the StandardAnalyzer.
const (
	skipStopWords  = "tokenization_skip_stop_words"
	enableStemming = "tokenization_enable_stemming"
	languageOption = "tokenization_locale"
)

// SASIMode is the mode of an index of the kind SASI on column c.
func (x *Index) SASIMode(c *Column) SASIMode {
	text := isText(c.Type) && !c.Desc
	m := SASIMode{Mode: "PREFIX", Literal: text, Options: x.Options}
	if mode, ok := x.Options["mode"]; ok {
		m.Mode = strings.ToUpper(mode)
	}
	if literal, ok := x.Options["is_literal"]; ok {
		m.Literal = isTrue(literal)
	}
	analyzed, given := x.Options["analyzed"]
	if class, ok := x.Options["analyzer_class"]; ok {
		if !given || isTrue(analyzed) {
			m.Analyzer = strings.TrimPrefix(class, analyzerPackage)
		}
	} else if isTrue(analyzed) && text {
		m.Analyzer = StandardAnalyzer
	}
	if m.Analyzer == noOpAnalyzer {
		m.Analyzer = ""
	}
	return m
}

// Tokenizes reports whether a value has several terms.
func (m SASIMode) Tokenizes() bool {
	return m.Analyzer == StandardAnalyzer || m.Analyzer == DelimiterAnalyzer
}

// Languages by the names that languageOption has for them.
const (
	Dutch   = "nl"
	French  = "fr"
	finnish = "fl" // as Cassandra's stemmers have it
)

// stopWordLanguages are the languages that Cassandra has stop words of.
const stopWordLanguages = "ar bg cs de en es fi fr hi hu it pl pt ro ru sv"

// Language is the language whose rules the StandardAnalyzer follows; "" for none.
func (m SASIMode) Language() string {
	language := strings.ToLower(m.Options[languageOption])
	return language[:min(len(language), 2)]
}

// Stems reports whether the StandardAnalyzer makes stems of words.
func (m SASIMode) Stems() bool { return isTrue(m.Options[enableStemming]) }

// Unsupported returns the option that searches are refused with; "" if there is none.
func (m SASIMode) Unsupported() string {
	if m.Analyzer != StandardAnalyzer {
		return ""
	}
	language := m.Language()
	switch {
	case isTrue(m.Options[skipStopWords]) && slices.Contains(strings.Fields(stopWordLanguages), language):
		return skipStopWords
	case m.Stems() && language == finnish:
		return enableStemming
	}
	return ""
}

// checkSASI refuses an SSTable-attached index that t cannot have.
func checkSASI(t *Table, x *Index) error {
	if len(x.Targets) != 1 {
		return cqlerr.Configf("failed to retrieve target column for: %s", x.Target())
	}
	c := t.Column(x.Column())
	switch {
	case types.IsMultiCell(c.Type):
		return cqlerr.Configf("complex columns are not yet supported by SASI")
	case c.Kind == PartitionKey:
		return cqlerr.Configf("partition key columns are not yet supported by SASI")
	}
	if err := checkAnalyzer(c, x.Options); err != nil {
		return err
	}
	m := x.SASIMode(c)
	if !slices.Contains([]string{"PREFIX", "CONTAINS", "SPARSE"}, m.Mode) {
		return cqlerr.Configf("Incorrect index mode: %s", x.Options["mode"])
	}
	if memory, ok := x.Options["max_compaction_flush_memory_in_mb"]; ok {
		if _, err := strconv.ParseInt(memory, 10, 64); err != nil {
			all := x.AllOptions()
			return cqlerr.Configf("Failed to validate custom indexer options: %s", javaMap(all, slices.Sorted(maps.Keys(all))))
		}
	}
	if m.Mode == "SPARSE" {
		if m.Literal {
			return cqlerr.Configf("SPARSE mode is only supported on non-literal columns.")
		}
		analyzed, given := x.Options["analyzed"]
		if _, class := x.Options["analyzer_class"]; class && !given || isTrue(analyzed) {
			return cqlerr.Configf("SPARSE mode doesn't support analyzers.")
		}
	}
	return checkAnalyzerOptions(m)
}

// checkAnalyzer refuses an analyzer that does not exist or is not for the type of the column.
func checkAnalyzer(c *Column, options map[string]string) error {
	class, ok := options["analyzer_class"]
	if !ok {
		return nil
	}
	name, ok := strings.CutPrefix(class, analyzerPackage)
	switch {
	case ok && name == noOpAnalyzer:
		return nil
	case ok && name == "AbstractAnalyzer":
		return cqlerr.Configf("Unable to initialize analyzer class option specified [%s]", name)
	case !ok || !slices.Contains([]string{StandardAnalyzer, NonTokenizingAnalyzer, DelimiterAnalyzer}, name):
		return cqlerr.Configf("Invalid analyzer class option specified [%s]", class)
	case !isText(c.Type) || c.Desc:
		return cqlerr.Configf("%s does not support type %s", name, c.Type)
	}
	_, sensitive := options["case_sensitive"]
	_, lower := options["normalize_lowercase"]
	_, upper := options["normalize_uppercase"]
	if name == NonTokenizingAnalyzer && sensitive && (lower || upper) {
		return cqlerr.Configf("case_sensitive option cannot be specified together with either normalize_lowercase or " +
			"normalize_uppercase")
	}
	return nil
}

// checkAnalyzerOptions refuses options that no analyzer can be made with. Cassandra keeps such an index, and fails
// whenever it opens the table.
func checkAnalyzerOptions(m SASIMode) error {
	prefix := ""
	switch m.Analyzer {
	case DelimiterAnalyzer:
		if d, ok := m.Options["delimiter"]; ok && len(utf16.Encode([]rune(d))) != 1 {
			return cqlerr.Configf("Only single character delimiters supported, was %s", d)
		}
		return nil
	case StandardAnalyzer:
		prefix = "tokenization_"
		locale, ok := m.Options[languageOption]
		if ok && len(utf16.Encode([]rune(locale))) < 2 && (m.Stems() || isTrue(m.Options[skipStopWords])) {
			return cqlerr.Configf("The locale '%s' has no language of two letters", locale)
		}
	case NonTokenizingAnalyzer:
	default:
		return nil
	}
	if isTrue(m.Options[prefix+"normalize_lowercase"]) && isTrue(m.Options[prefix+"normalize_uppercase"]) {
		return cqlerr.Configf("Options to normalize terms cannot be both uppercase and lowercase at the same time")
	}
	return nil
}
