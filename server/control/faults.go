package control

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
	"github.com/cqld/cqld/internal/suggest"
	"github.com/cqld/cqld/protocol"
	"github.com/cqld/cqld/server"
)

// Fault is a rule: it selects requests, and delays them or changes their fate. A field that is not set matches all
// requests, with two exceptions: requests are prepared without faults unless Opcode is PREPARE, and faults do not
// apply to keyspaces that come with the server, which drivers read, unless Keyspace names one of them.
//
//	faults.Add(control.Fault{Kind: "insert", Table: "orders", Times: 2, Act: control.Overloaded()})
//
// A BATCH matches if one of its statements does.
type Fault struct {
	Opcode      string         // QUERY, PREPARE, EXECUTE or BATCH
	Kind        string         // select, insert, update, delete, truncate or definition; write: insert, update or delete
	Text        string         // is contained in the statement
	Pattern     *regexp.Regexp // matches the statement
	Keyspace    string
	Table       string
	Conditional bool                 // only statements with IF
	Consistency []cqlerr.Consistency // one of these levels
	Client      string               // an address, with its port or without
	Node        int                  // the number of the node that coordinates the request
	Application string               // the client's APPLICATION_NAME or DRIVER_NAME in STARTUP
	Match       func(*Request) bool  // anything else; it must not keep the request

	Call        int     // only the n-th of the requests that match all that is above, counted from 1
	Probability float64 // how likely it is that the rule acts; 0: it always does
	Seed        uint64  // of Probability: the same requests meet the same fate
	Times       int     // how often the rule acts; 0: always

	Delay time.Duration // the request waits that long before it is served, or before the rest is done
	Act   Act           // the zero value does nothing more
}

// Check returns the reason why the fault would never act, or nil.
func (f *Fault) Check() error {
	writeType, hasType := f.Act.writeType()
	switch {
	case f.Probability < 0 || f.Probability > 1:
		return fmt.Errorf("the probability is %v: want a number from 0 to 1", f.Probability)
	case f.Call < 0 || f.Times < 0 || f.Node < 0:
		return fmt.Errorf("the call is %d, times %d, the node %d: none may be negative", f.Call, f.Times, f.Node)
	case f.Delay < 0:
		return fmt.Errorf("the delay is %v, which is negative", f.Delay)
	case f.Act.kind == actNothing && f.Delay == 0:
		return fmt.Errorf("it has neither an act nor a delay; acts are %s", strings.Join(ActNames(), ", "))
	}
	for _, level := range f.Consistency {
		if !level.Known() {
			return fmt.Errorf("there is no consistency level %d", uint16(level))
		}
	}
	for _, field := range []struct {
		name, value string
		given       bool
		of          []string
	}{
		{"opcode", f.Opcode, f.Opcode != "", FaultOpcodes},
		{"kind", f.Kind, f.Kind != "", FaultKinds},
		{"write type", writeType, hasType, WriteTypes},
	} {
		if !field.given || slices.Contains(field.of, field.value) {
			continue
		}
		if best := suggest.Nearest(field.value, field.of); best != "" {
			return fmt.Errorf("the %s is %q: did you mean %q?", field.name, field.value, best)
		}
		return fmt.Errorf("the %s is %q: want one of %s", field.name, field.value, strings.Join(field.of, ", "))
	}
	return nil
}

// The values of fields that have few.
var (
	FaultOpcodes = []string{"QUERY", "PREPARE", "EXECUTE", "BATCH"}
	FaultKinds   = []string{"select", "insert", "update", "delete", "write", "truncate", "use", "describe", "definition"}
	WriteTypes   = []string{"SIMPLE", "BATCH", "UNLOGGED_BATCH", "COUNTER", "BATCH_LOG", "CAS", "VIEW", "CDC"}
)

// Request is a request of a client for an Interceptor and Fault.Match, which must not change it.
type Request struct {
	Opcode     string        // QUERY, PREPARE, EXECUTE or BATCH
	Statements []string      // the text, or all texts of a BATCH; "" for an unknown prepared statement
	Keyspace   string        // of the session
	Parts      []server.Part // its statements; none for a text that is refused or an id that is unknown

	Consistency       cqlerr.Consistency // of PREPARE: Any
	SerialConsistency cqlerr.Consistency

	Client  netip.AddrPort
	Node    int               // the number of the node that coordinates the request; 1: the server has no ring
	Options map[string]string // of the connection's STARTUP
	Payload map[string][]byte // the custom payload that the client has sent
}

// requestOf is a request as the server shows it.
func requestOf(r *server.Inspected) *Request {
	own := &Request{
		Opcode: r.Opcode, Statements: r.Statements, Keyspace: r.Keyspace, Parts: r.Parts,
		Consistency: r.Consistency, SerialConsistency: r.SerialConsistency,
		Client: r.Client, Node: r.Node, Options: r.Options,
	}
	for _, e := range r.Payload {
		if own.Payload == nil {
			own.Payload = map[string][]byte{}
		}
		own.Payload[e.Key] = e.Value
	}
	return own
}

// Faults are the rules of a server, in the order in which they were added. They are tried in this order, up to the
// first one that matches the request and does more than delay it.
type Faults struct {
	controls *Controls

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

// Add puts a rule in force, for requests that arrive from then on.
func (f *Faults) Add(fault Fault) *Rule {
	r := f.newRule(fault)
	f.mu.Lock()
	f.rules = append(f.rules, r)
	f.mu.Unlock()
	f.controls.update()
	return r
}

// put puts a rule in force, at the place of another one if old is not nil and still in force.
func (f *Faults) put(old *Rule, fault Fault) *Rule {
	f.mu.Lock()
	at := slices.Index(f.rules, old)
	if at >= 0 {
		f.rules[at] = f.newRule(fault)
		defer f.mu.Unlock()
		return f.rules[at]
	}
	f.mu.Unlock()
	return f.Add(fault)
}

func (f *Faults) newRule(fault Fault) *Rule {
	return &Rule{Fault: fault, faults: f, random: rand.New(rand.NewPCG(fault.Seed, 0))}
}

// List returns the rules that are in force. A rule that has acted Times times is among them.
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
	f.controls.update()
}

// Remove ends the rule.
func (r *Rule) Remove() {
	f := r.faults
	f.mu.Lock()
	f.rules = slices.DeleteFunc(f.rules, func(other *Rule) bool { return other == r })
	f.mu.Unlock()
	f.controls.update()
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

// String is the rule on one line.
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

// before applies the rules before a request is served. If an act comes afterwards, r.Data has it.
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
	return act.before(r)
}

// after applies the act that comes after a request was served.
func (f *Faults) after(r *server.Inspected) error {
	act, ok := r.Data.(Act)
	if !ok || r.Err != nil {
		return nil
	}
	return act.errorFor(r)
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
	return r.matchesStatement(request) && (r.Match == nil || r.Match(requestOf(request)))
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
