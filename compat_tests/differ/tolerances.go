package main

import (
	"regexp"
	"slices"
	"strings"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/protocol"
)

// tolerance is a difference that is counted and not shown.
type tolerance struct {
	name    string // with the reason: docs/differences.md or chance
	applies func(aspect string, cassandra, cqld *answer) bool
}

// outcomeOfNextPage is the aspect of a page after the first that only one server fails to read.
const outcomeOfNextPage = "outcome of a next page"

// tolerances are the known ones. Differences that can be avoided when statements are made have no tolerance: see
// literals.
var tolerances = []tolerance{
	{"not supported by cqld yet", func(_ string, _, cqld *answer) bool { return unsupported(cqld) }},
	{"a Java exception of Cassandra's", func(_ string, cassandra, cqld *answer) bool {
		return cassandra.err != nil && cassandra.err.Code == cqlerr.ServerError && cqld.err != nil && cqld.err.Code != cqlerr.ServerError
	}},
	{"a failure inside Cassandra, reading bytes that it took", func(_ string, cassandra, _ *answer) bool {
		return cassandra.err != nil && (cassandra.err.Code == cqlerr.ReadFailure || cassandra.err.Code == cqlerr.ReadTimeout)
	}},
	{"a list bound with a null element", func(_ string, cassandra, _ *answer) bool {
		return cassandra.err != nil && cassandra.err.Message == "Null value read when not allowed"
	}},
	{"the JSON of an empty boolean or tinyint (docs/differences.md, 216)", func(_ string, cassandra, cqld *answer) bool {
		return cassandra.err != nil && cqld.err == nil && jsonOfNothing.MatchString(cassandra.err.Message)
	}},
	{"pages after an empty key of a view (docs/differences.md, 340)", func(aspect string, cassandra, cqld *answer) bool {
		return aspect == outcomeOfNextPage && cqld.err == nil &&
			cassandra.err != nil && emptyKeyFailure.MatchString(cassandra.err.Message)
	}},
	{"an empty page after which Cassandra has another one (docs/differences.md, 322)", func(aspect string, cassandra, cqld *answer) bool {
		return aspect == "has more pages" && hasMore(cassandra) && len(cassandra.rows) == 0 && len(cqld.rows) == 0
	}},
	{"a tinyint literal in hex", func(_ string, _, cqld *answer) bool {
		return cqld.err != nil && strings.HasPrefix(cqld.err.Message, "Expected 1 byte for a tinyint")
	}},
	{"the snippet in a syntax error", func(aspect string, cassandra, cqld *answer) bool {
		return aspect == "error message" && cassandra.err.Code == cqlerr.SyntaxError &&
			withoutSnippet(cassandra.err.Message) == withoutSnippet(cqld.err.Message)
	}},
	{"a number beyond a double after a syntax error, where Cassandra continues to parse", func(aspect string, cassandra, cqld *answer) bool {
		return aspect == "error message" && cassandra.err.Code == cqlerr.SyntaxError &&
			strings.Contains(cassandra.err.Message, "] reason: NumberFormatException ") &&
			strings.HasPrefix(cassandra.err.Message, "Failed parsing statement: [") && strings.HasPrefix(cqld.err.Message, "line ")
	}},
	{"a page of groups in front of a row for which floor fails, which cqld has looked at", func(_ string, cassandra, cqld *answer) bool {
		return cassandra.err == nil && cqld.err != nil &&
			cqld.err.Message == "The floor function starting time is greater than the provided time"
	}},
	{"a number that is unset or empty is added under a condition", func(_ string, cassandra, cqld *answer) bool {
		return cassandra.err != nil && strings.HasPrefix(cassandra.err.Message, "java.lang.NullPointerException") &&
			ofConditions(cqld)
	}},
	{"the order in which the conditions of a row are compared", func(_ string, cassandra, cqld *answer) bool {
		return refusesCondition(cassandra) && (refusesCondition(cqld) || ofConditions(cqld)) ||
			refusesCondition(cqld) && ofConditions(cassandra)
	}},
	{"the message of a Java exception that the virtual machine has thrown often", func(aspect string, cassandra, cqld *answer) bool {
		return aspect == "error message" && ofFunction(cassandra) && strings.HasPrefix(cqld.err.Message, cassandra.err.Message+": ")
	}},
	{"the text of a NullPointerException (docs/differences.md, 254)", func(aspect string, cassandra, cqld *answer) bool {
		return aspect == "error message" && ofFunction(cassandra) && strings.Contains(cassandra.err.Message, nullPointer) &&
			(strings.HasSuffix(cqld.err.Message, nullPointer) ||
				strings.Contains(cqld.err.Message, nullPointer) && strings.Contains(cassandra.err.Message, "toString()"))
	}},
	{"a refused body, of which cqld has the first error only (docs/differences.md, 513)", func(aspect string, cassandra, cqld *answer) bool {
		return aspect == "error message" && strings.HasPrefix(cqld.err.Message, bodyRefused) && hasErrors(cassandra.err.Message, cqld.err.Message)
	}},
	{"a body for which Cassandra's compiler makes code that the virtual machine refuses", func(_ string, cassandra, _ *answer) bool {
		return cassandra.err != nil && strings.Contains(cassandra.err.Message, "from Java source: java.lang.VerifyError")
	}},
	{"the time that a user's function took", func(aspect string, cassandra, _ *answer) bool {
		return aspect == "warnings" && len(cassandra.warnings) > 0 && strings.Contains(cassandra.warnings[0], " ran longer than ")
	}},
	{"the sign of a NaN, which the processor chooses", func(aspect string, cassandra, cqld *answer) bool {
		return aspect == "order of rows" && strings.Contains(cassandra.String(), "NaN") && cassandra.String() == cqld.String()
	}},
	{"DESCRIBE in pages, while definitions change", func(_ string, cassandra, _ *answer) bool {
		return cassandra.err != nil && strings.HasPrefix(cassandra.err.Message, "The schema has changed since the previous page")
	}},
	{"columns named after the spelling of a function that came first", func(aspect string, cassandra, cqld *answer) bool {
		plainName := func(s string) string { return strings.ReplaceAll(strings.ToLower(s), "_", "") }
		x, y := resultSpecs(cassandra), resultSpecs(cqld)
		return x != y && strings.Contains(x, "(") && plainName(x) == plainName(y)
	}},
}

// emptyKeyFailure is the error of Cassandra for the page after a partition with an empty key. When it was thrown often,
// Java omits the text after the colon.
var emptyKeyFailure = regexp.MustCompile(
	`^java\.lang\.NullPointerException(: Cannot invoke "java\.nio\.ByteBuffer\.position\(\)" because "key" is null)?$`)

// jsonOfNothing is the error for JSON of a value without bytes.
var jsonOfNothing = regexp.MustCompile(`^java\.lang\.NullPointerException: Cannot invoke "java\.lang\.(Boolean|Byte)\.toString\(\)"`)

// conditionRefused is an error about a value of a condition, when it is evaluated.
var conditionRefused = regexp.MustCompile(`^Invalid (comparison with|'unset' value in|null value for|negative list index)`)

// refusesCondition reports whether an answer is a possible refusal of a value of a condition.
func refusesCondition(a *answer) bool {
	return a.err != nil && conditionRefused.MatchString(a.err.Message)
}

const nullPointer = "java.lang.NullPointerException"

// ofFunction reports whether an error is that of a user's function. Version 3 has no code for it.
func ofFunction(a *answer) bool {
	return a.err.Code == cqlerr.FunctionFailure || strings.HasPrefix(a.err.Message, "ERROR FUNCTION_FAILURE: ")
}

// bodyRefused begins the error about a body that does not compile; a line for each of its errors follows.
const bodyRefused = "Java source compilation failed:\n"

// hasErrors reports whether the errors of a body that cqld lists are among Cassandra's.
func hasErrors(cassandra, cqld string) bool {
	all := strings.Split(cassandra, "\n")
	for _, line := range strings.Split(strings.ReplaceAll(cqld, ", or is not supported", ""), "\n") {
		if !slices.Contains(all, line) {
			return false
		}
	}
	return true
}

// hasMore reports whether another page follows.
func hasMore(a *answer) bool {
	rows, ok := a.response.(*protocol.Rows)
	return ok && rows.Metadata.PagingState != nil
}

// ofConditions reports whether an answer tells if conditions held.
func ofConditions(a *answer) bool {
	rows, ok := a.response.(*protocol.Rows)
	if !ok || rows.Metadata.Columns == nil {
		return false
	}
	columns := rows.Metadata.Columns.Columns()
	return len(columns) > 0 && columns[0].Name == "[applied]"
}

// withoutSnippet is a syntax error without the piece of the statement at its end.
func withoutSnippet(text string) string {
	before, _, _ := strings.Cut(text, " (")
	return before
}

// unsupported reports whether cqld answers that it does not support this yet.
func unsupported(a *answer) bool {
	return a.err != nil && strings.HasSuffix(a.err.Message, "is not supported by cqld yet")
}

// tolerated is the name of the tolerance that allows a difference, or nothing.
func tolerated(aspect string, cassandra, cqld *answer) string {
	for _, t := range tolerances {
		if t.applies(aspect, cassandra, cqld) {
			return t.name
		}
	}
	return ""
}
