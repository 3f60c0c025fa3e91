package shell

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/protocol/client"
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
