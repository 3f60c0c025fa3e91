package shell

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/protocol/client"
	"github.com/cqld/cqld/protocol/client/diagram"
)

// errorKind has the names under which cqlsh prints errors of a code.
type errorKind struct {
	class   string // of the Python driver
	summary string // "": the class and the text are all that is printed
	retried bool   // the driver tries another node, and reports that there is none
}

var errorKinds = map[cqlerr.Code]errorKind{
	cqlerr.ServerError:    {class: "ServerError", summary: "Server error", retried: true},
	cqlerr.ProtocolError:  {class: "ProtocolException"},
	cqlerr.BadCredentials: {class: "BadCredentials"},
	cqlerr.Unavailable:    {class: "Unavailable", summary: "Unavailable exception", retried: true},
	cqlerr.Overloaded:     {class: "OverloadedErrorMessage", summary: "Coordinator node overloaded", retried: true},
	cqlerr.IsBootstrapping: {
		class: "IsBootstrappingErrorMessage", summary: "Coordinator node is bootstrapping",
		retried: true,
	},
	cqlerr.TruncateError:   {class: "TruncateError", summary: "Error during truncate", retried: true},
	cqlerr.WriteTimeout:    {class: "WriteTimeout", summary: timedOut},
	cqlerr.ReadTimeout:     {class: "ReadTimeout", summary: timedOut},
	cqlerr.ReadFailure:     {class: "ReadFailure", summary: "Replica(s) failed to execute read"},
	cqlerr.FunctionFailure: {class: "FunctionFailure", summary: "User Defined Function failure"},
	cqlerr.WriteFailure:    {class: "WriteFailure", summary: "Replica(s) failed to execute write"},
	cqlerr.CDCWriteFailure: {class: "CDCWriteFailure", summary: "Failed to execute write due to CDC space exhaustion."},
	cqlerr.SyntaxError:     {class: "SyntaxException"},
	cqlerr.Unauthorized:    {class: "Unauthorized", summary: "Unauthorized"},
	cqlerr.Invalid:         {class: "InvalidRequest", summary: "Invalid query"},
	cqlerr.ConfigError:     {class: "ConfigurationException"},
	cqlerr.AlreadyExists:   {class: "AlreadyExists"},
	cqlerr.Unprepared:      {class: "PreparedQueryNotFound"},
}

const timedOut = "Coordinator node timed out waiting for replica nodes' responses"

// node is a server as the driver prints it.
type node struct{ addr, datacenter string }

// errorText prints an error as cqlsh does, which prints the class and text of the Python driver's exceptions.
func (n node) errorText(err error) string {
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Sprintf("OperationTimedOut: errors={'%[1]s': 'Client request timeout. See "+
			"Session.execute[_async](timeout)'}, "+
			"last_host=%[1]s", n.addr)
	}
	e, ok := cqlerr.As(err)
	if !ok {
		return err.Error()
	}
	kind, known := errorKinds[e.Code]
	if !known {
		return fmt.Sprintf("ErrorMessage: Error from server: code=%04x [Unknown] message=\"%s\"", uint32(e.Code),
			e.Message)
	}
	message := fmt.Sprintf(`Error from server: code=%04x [%s] message="%s"`, uint32(e.Code), kind.summary, e.Message)
	if d, ok := e.Detail.(cqlerr.AlreadyExistsDetail); ok {
		if message = fmt.Sprintf("Table '%s.%s' already exists", d.Keyspace, d.Table); d.Table == "" {
			message = fmt.Sprintf("Keyspace '%s' already exists", d.Keyspace)
		}
	}
	if info := detailText(e); info != "" {
		message += " info={" + info + "}"
	}
	switch {
	case kind.retried && e.Code == cqlerr.Unavailable:
		return n.noHost("Unavailable(" + pythonString(message) + ")")
	case kind.retried:
		return n.noHost("<" + message + ">")
	case kind.summary == "" && e.Code != cqlerr.AlreadyExists:
		return kind.class + ": " + e.Message
	}
	return kind.class + ": " + message
}

func (n node) noHost(reason string) string {
	return fmt.Sprintf("NoHostAvailable: ('Unable to complete the operation against any hosts', {<Host: %s %s>: %s})",
		n.addr, n.datacenter, reason)
}

// detailText prints the fields of an error as the items of a Python dictionary.
func detailText(e *cqlerr.Error) string {
	switch d := e.Detail.(type) {
	case cqlerr.UnavailableDetail:
		return fmt.Sprintf("'consistency': '%s', 'required_replicas': %d, 'alive_replicas': %d", d.Consistency,
			d.Required, d.Alive)
	case cqlerr.TimeoutDetail:
		text := fmt.Sprintf("'consistency': '%s', 'required_responses': %d, 'received_responses': %d", d.Consistency,
			d.BlockFor, d.Received)
		if e.Code == cqlerr.WriteTimeout {
			text += fmt.Sprintf(", 'write_type': '%s'", d.WriteType)
		}
		return text
	case cqlerr.FailureDetail:
		text := fmt.Sprintf("'consistency': '%s', 'required_responses': %d, 'received_responses': %d, 'failures': %d",
			d.Consistency, d.BlockFor, d.Received, len(d.Reasons))
		var reasons []string
		for _, r := range d.Reasons {
			reasons = append(reasons, fmt.Sprintf("'%s': '0x%04x'", r.Replica, r.Reason))
		}
		return text + ", 'error_code_map': {" + strings.Join(reasons, ", ") + "}"
	}
	return ""
}

// connectError prints the error of a connection as cqlsh does.
func (n node) connectError(err error) string {
	reason := ""
	switch e, ok := cqlerr.As(err); {
	case errors.Is(err, client.ErrPasswordWanted):
		reason = "AuthenticationFailed('Remote end requires authentication')"
	case ok && e.Code == cqlerr.BadCredentials:
		reason = "AuthenticationFailed(" + pythonString(fmt.Sprintf(
			`Failed to authenticate to %s: Error from server: code=0100 [Bad credentials] message="%s"`, n.addr,
			e.Message)) + ")"
	case ok:
		return n.errorText(err)
	case errors.Is(err, context.DeadlineExceeded):
		reason = "OperationTimedOut('errors=None, last_host=None')"
	default:
		reason = "ConnectionError(" + pythonString(err.Error()) + ")"
	}
	return fmt.Sprintf("('Unable to connect to any servers', {'%s': %s})", n.addr, reason)
}

// pythonString is a text as Python's repr prints it, as far as messages need.
func pythonString(s string) string {
	escaped := strings.NewReplacer(`\`, `\\`, "\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(s)
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		return `"` + escaped + `"`
	}
	return "'" + strings.ReplaceAll(escaped, "'", `\'`) + "'"
}

// ConnectError prints the error of a connection as cqlsh does.
func ConnectError(addr string, err error) string { return node{addr: addr}.connectError(err) }

// shown is an error whose text is printed as it is.
type shown string

// Error is the text.
func (e shown) Error() string { return string(e) }

func shownf(format string, args ...any) error { return shown(fmt.Sprintf(format, args...)) }

// printStatementError prints an error of a statement or command.
func (s *Session) printStatementError(ctx context.Context, err error) {
	var text shown
	switch {
	case errors.As(err, &text):
		s.printError(string(text))
	case errors.Is(err, context.Canceled):
		s.printError("The statement was cancelled.")
	default:
		n := node{addr: s.o.Addr}
		if e, ok := cqlerr.As(err); ok && errorKinds[e.Code].retried {
			n.datacenter = s.about(ctx).datacenter
		}
		s.printError(n.errorText(err))
	}
}

// printError prints the text of an error, after the place of its statement unless that was typed.
func (s *Session) printError(message string) {
	s.failed = true
	_ = s.console.Flush() // its error is returned by the next one
	_ = s.out.Flush()
	if !s.o.Terminal {
		message = fmt.Sprintf("%s:%d:%s", s.o.Name, s.line, message)
	}
	colored := style{color: s.o.Color}
	fmt.Fprintln(s.o.Err, colored.paint(message, red))
}

// underline shows where a typed statement has a syntax error.
func (s *Session) underline(err error, statement string) {
	e, ok := cqlerr.As(err)
	if !ok || e.Code != cqlerr.SyntaxError || !s.o.Terminal {
		return
	}
	m := syntaxPlace.FindStringSubmatch(e.Message)
	if m == nil {
		return
	}
	line, _ := strconv.Atoi(m[1]) // digits
	column, _ := strconv.Atoi(m[2])
	lines := strings.Split(statement, "\n")
	if line < 1 || line > len(lines) {
		return
	}
	text := []rune(lines[line-1])
	if column > len(text) {
		return
	}
	word := span(string(text[column:]), func(c byte) bool { return isLetter(c) || isDigit(c) || c == '_' })
	colored := style{color: s.o.Color}
	marks := strings.Repeat(" ", diagram.TextWidth(string(text[:column]))) +
		colored.paint(strings.Repeat("^", max(1, word)), red)
	fmt.Fprintf(s.o.Err, "  %s\n  %s\n", string(text), marks)
}

// syntaxPlace is how the server's parser writes the place of an error: the line, and the column counted from 0.
var syntaxPlace = regexp.MustCompile(`^line (\d+):(\d+) `)

func (s *Session) printLexError(err error) {
	var e *lexError
	if !errors.As(err, &e) {
		s.printError(err.Error())
		return
	}
	message := e.Error()
	if s.o.Terminal {
		message = fmt.Sprintf("Invalid syntax at char %d", e.column)
	}
	s.printError(message)
	s.printError("  " + e.text)
	s.printError(" " + strings.Repeat(" ", e.column) + "^")
}
