package console

import (
	"errors"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/cqld/cqld/cql/cqlerr"
)

// errorView is an error, with the line of the statement that it is about.
type errorView struct {
	Kind, Message       string
	Line                int // 0: the place is not known
	Before, Mark, After string
}

// syntaxPlace is how the parser writes the place of an error: the line, and the column counted from 0. It is 0:-1 at
// the end of the text.
var syntaxPlace = regexp.MustCompile(`^line (\d+):(-?\d+) `)

// newErrorView describes an error of a statement.
func newErrorView(err error, text string) *errorView {
	v := &errorView{Kind: "Refused", Message: err.Error()}
	if e, ok := cqlerr.As(err); ok {
		v.Kind = errorKinds[e.Code]
	} else if !errors.As(err, new(failure)) {
		v.Kind = "Failed"
	}
	m := syntaxPlace.FindStringSubmatch(v.Message)
	lines := strings.Split(text, "\n")
	if m == nil {
		return v
	}
	line, _ := strconv.Atoi(m[1]) // digits
	column, _ := strconv.Atoi(m[2])
	if line > len(lines) {
		return v
	}
	if line == 0 {
		line, column = len(lines), math.MaxInt
	}
	runes := []rune(lines[line-1])
	column = min(column, len(runes))
	end := column
	for end < len(runes) && !strings.ContainsRune(" \t();,", runes[end]) {
		end++
	}
	if end = max(end, min(column+1, len(runes))); end == column {
		runes, end = append(runes, ' '), column+1
	}
	v.Line, v.Before, v.Mark, v.After = line, string(runes[:column]), string(runes[column:end]), string(runes[end:])
	return v
}

// errorKinds are the kinds of errors as people read them.
var errorKinds = map[cqlerr.Code]string{
	cqlerr.ServerError: "Server error", cqlerr.ProtocolError: "Protocol error", cqlerr.BadCredentials: "Bad credentials",
	cqlerr.Unavailable: "Unavailable", cqlerr.Overloaded: "Overloaded", cqlerr.IsBootstrapping: "Bootstrapping",
	cqlerr.TruncateError: "Truncate error", cqlerr.WriteTimeout: "Write timeout", cqlerr.ReadTimeout: "Read timeout",
	cqlerr.ReadFailure: "Read failure", cqlerr.FunctionFailure: "Function failure", cqlerr.WriteFailure: "Write failure",
	cqlerr.CASWriteUnknown: "Unknown outcome", cqlerr.SyntaxError: "Syntax error", cqlerr.Unauthorized: "Unauthorized",
	cqlerr.Invalid: "Invalid", cqlerr.ConfigError: "Configuration", cqlerr.AlreadyExists: "Already exists",
	cqlerr.Unprepared: "Unprepared",
}
