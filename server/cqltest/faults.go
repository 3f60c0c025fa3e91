package cqltest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/server"
)

// Fault is a rule: which requests, and what becomes of them. A field that is not set matches all requests, but for two
// things: requests are prepared without faults unless Opcode is PREPARE, and tables of keyspaces that come with the
// server, which drivers read on their own, are left alone unless Keyspace names one of them.
//
//	srv.Faults().Add(cqltest.Fault{Kind: "insert", Table: "orders", Times: 2, Act: cqltest.Overloaded()})
//
// A BATCH matches if one of its statements does.
type Fault struct {
	Opcode      string         // QUERY, PREPARE, EXECUTE or BATCH
	Kind        string         // select, insert, update, delete, truncate or definition; write: insert, update or delete
	Text        string         // is contained in the statement
	Pattern     *regexp.Regexp // matches the statement
	Keyspace    string
	Table       string
	Conditional bool                         // only statements with IF
	Consistency []cqlerr.Consistency         // one of these levels
	Client      string                       // an address, with its port or without
	Node        int                          // the number of the node that coordinates the request
	Application string                       // the client's APPLICATION_NAME or DRIVER_NAME in STARTUP
	Match       func(*server.Inspected) bool // anything else; it must not keep the request

	Call        int     // only the n-th of the requests that match all that is above, counted from 1
	Probability float64 // how likely it is that the rule acts; 0: it always does
	Seed        uint64  // of what is likely: the same requests meet the same fate
	Times       int     // how often the rule acts; 0: always

	Delay time.Duration // the request waits that long before it is served, or before the rest is done
	Act   Act           // the zero value does nothing more
}

// Act is what a fault does to a request. Functions such as Unavailable and Drop make one.
type Act struct {
	kind    actKind
	err     *cqlerr.Error
	applied bool
}

type actKind uint8

const (
	actNothing actKind = iota
	actError
	actDrop
	actMalformed
	actUnprepared
	actEcho
)

// SameLevel stands for the consistency level of the request, in errors that name one.
const SameLevel cqlerr.Consistency = 0xffff

// Fail answers with an error: one of package cqlerr, or any other as a server error with its text.
func Fail(err error) Act {
	told, ok := cqlerr.As(err)
	if !ok {
		told = cqlerr.Serverf("%v", err)
	}
	return Act{kind: actError, err: told}
}

func fail(code cqlerr.Code, detail cqlerr.Detail, format string, args ...any) Act {
	return Act{kind: actError, err: &cqlerr.Error{Code: code, Message: fmt.Sprintf(format, args...), Detail: detail}}
}

// Unavailable says that fewer replicas are alive than a level requires.
func Unavailable(level cqlerr.Consistency, required, alive int) Act {
	return fail(cqlerr.Unavailable, cqlerr.UnavailableDetail{Consistency: level, Required: required, Alive: alive},
		"Cannot achieve consistency level %s", level)
}

// ReadTimeout says that too few replicas have answered a read in time. dataPresent says that the one asked for the data
// has.
func ReadTimeout(level cqlerr.Consistency, received, blockFor int, dataPresent bool) Act {
	return fail(cqlerr.ReadTimeout, cqlerr.TimeoutDetail{
		Consistency: level, Received: received, BlockFor: blockFor, DataPresent: dataPresent,
	}, "Operation timed out - received only %d responses.", received)
}

// WriteTimeout says that too few replicas have confirmed a write in time. writeType is SIMPLE, BATCH, UNLOGGED_BATCH,
// COUNTER, BATCH_LOG, CAS, VIEW or CDC.
func WriteTimeout(level cqlerr.Consistency, received, blockFor int, writeType string) Act {
	return fail(cqlerr.WriteTimeout, cqlerr.TimeoutDetail{
		Consistency: level, Received: received, BlockFor: blockFor, WriteType: writeType,
	}, "Operation timed out - received only %d responses.", received)
}

// Reasons are why replicas have failed: the protocol's numbers, by the addresses of the replicas. Clients of versions
// before v5 get only how many there are.
type Reasons map[netip.Addr]uint16

func (r Reasons) list() (all []cqlerr.FailureReason) {
	for replica, reason := range r {
		all = append(all, cqlerr.FailureReason{Replica: replica, Reason: reason})
	}
	slices.SortFunc(all, func(a, b cqlerr.FailureReason) int { return a.Replica.Compare(b.Replica) })
	return all
}

// ReadFailure says that replicas have failed to read.
func ReadFailure(level cqlerr.Consistency, received, blockFor int, dataPresent bool, reasons Reasons) Act {
	return fail(cqlerr.ReadFailure, cqlerr.FailureDetail{
		Consistency: level, Received: received, BlockFor: blockFor, DataPresent: dataPresent, Reasons: reasons.list(),
	}, "Operation failed - received %d responses and %d failures", received, len(reasons))
}

// WriteFailure says that replicas have failed to write.
func WriteFailure(level cqlerr.Consistency, received, blockFor int, writeType string, reasons Reasons) Act {
	return fail(cqlerr.WriteFailure, cqlerr.FailureDetail{
		Consistency: level, Received: received, BlockFor: blockFor, WriteType: writeType, Reasons: reasons.list(),
	}, "Operation failed - received %d responses and %d failures", received, len(reasons))
}

// CASWriteUnknown says that nobody knows whether a conditional write is applied. Clients of versions before v5 get a
// write timeout of type CAS, as from Cassandra.
func CASWriteUnknown(level cqlerr.Consistency, received, blockFor int) Act {
	return fail(cqlerr.CASWriteUnknown, cqlerr.TimeoutDetail{
		Consistency: level, Received: received, BlockFor: blockFor, WriteType: "CAS",
	}, "CAS operation result is unknown - proposal accepted by %d but not a quorum.", received)
}

// Overloaded says that the coordinator has too much to do.
func Overloaded() Act {
	return fail(cqlerr.Overloaded, nil, "Too many in flight hints: the coordinator is overloaded")
}

// IsBootstrapping says that the coordinator is about to join.
func IsBootstrapping() Act {
	return fail(cqlerr.IsBootstrapping, nil, "Cannot read from a bootstrapping node")
}

// TruncateError says that a table could not be truncated.
func TruncateError() Act {
	return fail(cqlerr.TruncateError, nil, "Error during truncate: Truncate timed out - received only 0 responses")
}

// ServerError says that the server has failed, with a text.
func ServerError(text string) Act { return fail(cqlerr.ServerError, nil, "%s", text) }

// Unprepared says that the server does not know a prepared statement, which drivers then prepare again. It does nothing
// to requests without one.
func Unprepared() Act { return Act{kind: actUnprepared} }

// Drop closes the connection without an answer.
func Drop() Act { return Act{kind: actDrop} }

// Malformed answers with a result of a kind that does not exist, which no driver can decode.
func Malformed() Act { return Act{kind: actMalformed} }

// EchoPayload serves the request, and answers with the custom payload that it came with.
func EchoPayload() Act { return Act{kind: actEcho} }

// AfterApplying has the request served before the act: what it writes is there, and the client does not know it. The
// act is not done to a request that fails on its own.
func (a Act) AfterApplying() Act {
	a.applied = true
	return a
}

// of is the error for a request.
func (a Act) of(r *server.Inspected) error {
	switch a.kind {
	case actDrop:
		return server.ErrHangUp
	case actMalformed:
		return server.ErrMalformed
	case actUnprepared:
		return cqlerr.UnpreparedID(r.PreparedID)
	case actError:
		return withLevel(a.err, r.Consistency)
	}
	return nil
}

// withLevel puts the level of the request in the place of SameLevel.
func withLevel(err *cqlerr.Error, level cqlerr.Consistency) *cqlerr.Error {
	own := *err
	switch d := err.Detail.(type) {
	case cqlerr.UnavailableDetail:
		if d.Consistency == SameLevel {
			d.Consistency = level
			own.Detail = d
			own.Message = strings.Replace(own.Message, SameLevel.String(), level.String(), 1)
		}
	case cqlerr.TimeoutDetail:
		if d.Consistency == SameLevel {
			d.Consistency = level
			own.Detail = d
		}
	case cqlerr.FailureDetail:
		if d.Consistency == SameLevel {
			d.Consistency = level
			own.Detail = d
		}
	}
	return &own
}

// Faults are the rules of a server, in the order in which they were added. The first rule that matches a request and
// does more than delay it is the last one that is looked at.
type Faults struct {
	inspector *inspector

	mu    sync.Mutex
	rules []*Rule
}

// Rule is a Fault that is in force.
type Rule struct {
	Fault

	faults  *Faults
	matched int // guarded by faults.mu
	acted   int
	random  *rand.Rand
}

// Faults are the server's rules. What Exec and Load run is not subject to them. While there are none, they cost
// nothing.
func (s *Server) Faults() *Faults { return &s.inspector.faults }

// Add puts a rule in force, for requests that arrive from then on.
func (f *Faults) Add(fault Fault) *Rule {
	r := &Rule{Fault: fault, faults: f, random: rand.New(rand.NewPCG(fault.Seed, 0))}
	f.mu.Lock()
	f.rules = append(f.rules, r)
	f.mu.Unlock()
	f.inspector.update()
	return r
}

// List returns the rules that are in force, also those that have acted as often as they may.
func (f *Faults) List() []*Rule {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.rules)
}

// Clear removes all rules.
func (f *Faults) Clear() {
	f.mu.Lock()
	f.rules = nil
	f.mu.Unlock()
	f.inspector.update()
}

// Remove ends the rule.
func (r *Rule) Remove() {
	f := r.faults
	f.mu.Lock()
	f.rules = slices.DeleteFunc(f.rules, func(other *Rule) bool { return other == r })
	f.mu.Unlock()
	f.inspector.update()
}

// Matched is how many requests have matched the rule, whether it has acted or not.
func (r *Rule) Matched() int {
	r.faults.mu.Lock()
	defer r.faults.mu.Unlock()
	return r.matched
}

// Acted is how often the rule has acted.
func (r *Rule) Acted() int {
	r.faults.mu.Lock()
	defer r.faults.mu.Unlock()
	return r.acted
}

// String is what the rule is, on one line.
func (r *Rule) String() string {
	var parts []string
	add := func(name string, value any, set bool) {
		if set {
			parts = append(parts, fmt.Sprintf("%s=%v", name, value))
		}
	}
	add("opcode", r.Opcode, r.Opcode != "")
	add("kind", r.Kind, r.Kind != "")
	add("text", fmt.Sprintf("%q", r.Text), r.Text != "")
	add("pattern", r.Pattern, r.Pattern != nil)
	add("keyspace", r.Keyspace, r.Keyspace != "")
	add("table", r.Table, r.Table != "")
	add("conditional", true, r.Conditional)
	add("consistency", r.Consistency, len(r.Consistency) > 0)
	add("client", r.Client, r.Client != "")
	add("node", r.Node, r.Node > 0)
	add("application", r.Application, r.Application != "")
	add("match", "func", r.Match != nil)
	add("call", r.Call, r.Call > 0)
	add("probability", r.Probability, r.Probability > 0)
	add("times", r.Times, r.Times > 0)
	add("delay", r.Delay, r.Delay > 0)
	add("act", r.Act, r.Act.kind != actNothing)
	add("matched", r.Matched(), true)
	add("acted", r.Acted(), true)
	return strings.Join(parts, " ")
}

// String names the act.
func (a Act) String() string {
	name := [...]string{"nothing", "error", "drop", "malformed", "unprepared", "echo payload"}[a.kind]
	if a.kind == actError {
		name = fmt.Sprintf("error 0x%04X %s", uint32(a.err.Code), a.err.Message)
	}
	if a.applied {
		name += " after applying"
	}
	return name
}

// before does what the rules say before a request is served. What is to be done afterwards is in r.Data.
func (f *Faults) before(ctx context.Context, r *server.Inspected) error {
	var delay time.Duration
	act := Act{}
	f.mu.Lock()
	for _, rule := range f.rules {
		if !rule.acts(r) {
			continue
		}
		delay += rule.Delay
		if act = rule.Act; act.kind != actNothing {
			break
		}
	}
	f.mu.Unlock()
	if delay > 0 {
		timer := time.NewTimer(delay)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
	}
	switch {
	case act.kind == actEcho:
		r.AnswerPayload = r.Payload
	case act.applied:
		r.Data = act
	default:
		return act.of(r)
	}
	return nil
}

// after does what is to be done when a request was served.
func (f *Faults) after(r *server.Inspected) error {
	act, ok := r.Data.(Act)
	if !ok || r.Err != nil {
		return nil
	}
	return act.of(r)
}

// acts reports whether the rule acts on a request, and counts. The lock of the rules is held.
func (r *Rule) acts(request *server.Inspected) bool {
	if r.Times > 0 && r.acted >= r.Times || !r.matches(request) {
		return false
	}
	r.matched++
	if r.Call > 0 && r.matched != r.Call || r.Probability > 0 && r.random.Float64() >= r.Probability {
		return false
	}
	r.acted++
	return true
}

// matches reports whether a request is one that the rule is about.
func (r *Rule) matches(request *server.Inspected) bool {
	switch {
	case r.Opcode != request.Opcode && (r.Opcode != "" || request.Opcode == "PREPARE"),
		r.Act.kind == actUnprepared && request.PreparedID == nil,
		len(r.Consistency) > 0 && !slices.Contains(r.Consistency, request.Consistency),
		r.Client != "" && r.Client != request.Client.String() && r.Client != request.Client.Addr().String(),
		r.Node != 0 && r.Node != request.Node,
		r.Application != "" && r.Application != request.Options["APPLICATION_NAME"] &&
			r.Application != request.Options[protocol.OptionDriverName]:
		return false
	}
	return r.matchesStatement(request) && (r.Match == nil || r.Match(request))
}

// matchesStatement reports whether one of the request's statements is one that the rule is about.
func (r *Rule) matchesStatement(request *server.Inspected) bool {
	for _, p := range request.Parts {
		if (r.Keyspace != "" || !schema.IsSystem(p.Keyspace)) && r.matchesPart(&p) {
			return true
		}
	}
	// A text that is refused, or of no table.
	return len(request.Parts) == 0 && r.Kind == "" && r.Keyspace == "" && r.Table == "" && !r.Conditional &&
		slices.ContainsFunc(request.Statements, r.matchesText)
}

func (r *Rule) matchesPart(p *server.Part) bool {
	kind := r.Kind == "" || r.Kind == p.Kind
	if r.Kind == "write" {
		kind = p.Kind == "insert" || p.Kind == "update" || p.Kind == "delete"
	}
	return kind && (r.Keyspace == "" || r.Keyspace == p.Keyspace) && (r.Table == "" || r.Table == p.Table) &&
		(!r.Conditional || p.Conditional) && r.matchesText(p.Text)
}

func (r *Rule) matchesText(text string) bool {
	return strings.Contains(text, r.Text) && (r.Pattern == nil || r.Pattern.MatchString(text))
}
