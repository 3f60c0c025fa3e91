package control

import (
	"maps"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
)

// faultTable has rules by name. Their order is that in which the names were inserted first:
//
//	INSERT INTO cqld_control.faults (name, kind, table_name, act, times)
//	    VALUES ('slow orders', 'insert', 'orders', 'write_timeout', 2)
//	SELECT name, matched, acted FROM cqld_control.faults
//	DELETE FROM cqld_control.faults WHERE name = 'slow orders'
type faultTable struct {
	faults *Faults
	named  map[string]*namedFault
}

// namedFault is a rule with the columns that were written.
type namedFault struct {
	values
	rule *Rule
}

func (t *faultTable) rows() (all []Row) {
	list := t.faults.List()
	for name, n := range t.named {
		v := maps.Clone(n.values)
		v["matched"] = types.EncodeBigInt(int64(n.rule.Matched()))
		v["acted"] = types.EncodeBigInt(int64(n.rule.Acted()))
		v.setInt("position", slices.Index(list, n.rule)+1)
		all = append(all, Row{textKey(name), v})
	}
	return all
}

// Write puts a rule in force, or changes one, which is counted anew.
func (t *faultTable) Write(key []byte, change map[string][]byte) error {
	return t.write(key, change, false)
}

// Replace is Write without the columns that the rule had before.
func (t *faultTable) Replace(key []byte, change map[string][]byte) error {
	return t.write(key, change, true)
}

func (t *faultTable) write(key []byte, change map[string][]byte, replace bool) error {
	for _, name := range []string{"matched", "acted", "position"} {
		if _, given := change[name]; given {
			return readOnly(map[string][]byte{name: nil})
		}
	}
	name := string(key)
	old := t.named[name]
	next := &namedFault{values: values{}}
	if old != nil && !replace {
		next.values = maps.Clone(old.values)
	}
	for column, value := range change {
		if next.values[column] = value; value == nil {
			delete(next.values, column)
		}
	}
	fault, err := next.fault()
	if err != nil {
		return err
	}
	var rule *Rule
	if old != nil {
		rule = old.rule
	}
	next.rule = t.faults.put(rule, fault)
	t.named[name] = next
	return nil
}

// Delete removes a rule.
func (t *faultTable) Delete(key []byte) error {
	if n := t.named[string(key)]; n != nil {
		n.rule.Remove()
		delete(t.named, string(key))
	}
	return nil
}

// Truncate removes all rules, also those without a name.
func (t *faultTable) Truncate() error {
	clear(t.named)
	t.faults.Clear()
	return nil
}

// oneOf returns a text, which may be null, if it is in the list of. Otherwise the error has the list.
func (v values) oneOf(name string, of []string) (string, error) {
	text := v.text(name)
	if v[name] != nil && !slices.Contains(of, text) {
		return "", cqlerr.Invalidf("%s is '%s': want one of %s", name, text, strings.Join(of, ", "))
	}
	return text, nil
}

// fault reads a rule.
func (v values) fault() (f Fault, err error) {
	f = Fault{
		Opcode: v.text("opcode"), Kind: v.text("kind"), Text: v.text("text_contains"), Keyspace: v.text("keyspace_name"), Table: v.text("table_name"),
		Conditional: v.bool("conditional"), Client: v.text("client"), Application: v.text("application"),
		Probability: types.DecodeDouble(v["probability"]), Seed: uint64(types.DecodeBigInt(v["seed"])),
	}
	if pattern := v.text("text_matches"); pattern != "" {
		if f.Pattern, err = regexp.Compile(pattern); err != nil {
			return f, cqlerr.Invalidf("text_matches: %v", err)
		}
	}
	for level := range types.Elements(v["consistency"]) {
		l, err := parseLevel("consistency", string(level))
		if err != nil {
			return f, err
		}
		f.Consistency = append(f.Consistency, l)
	}
	if f.Call, err = v.int("call", 0); err != nil {
		return f, err
	}
	if f.Times, err = v.int("times", 0); err != nil {
		return f, err
	}
	if f.Node, err = v.int("node", 0); err != nil {
		return f, err
	}
	if f.Delay, err = v.duration("delay"); err != nil {
		return f, err
	}
	if f.Act, err = v.act(); err != nil {
		return f, err
	}
	if err := f.Check(); err != nil {
		return f, cqlerr.Invalidf("The fault would never act: %v", err)
	}
	return f, nil
}

// parseLevel reads the name of a consistency level.
func parseLevel(column, name string) (cqlerr.Consistency, error) {
	for l := cqlerr.Any; l.Known(); l++ {
		if strings.EqualFold(l.String(), name) {
			return l, nil
		}
	}
	return 0, cqlerr.Invalidf("%s: there is no consistency level '%s'", column, name)
}

// actArguments are the arguments of acts.
type actArguments struct {
	level              cqlerr.Consistency
	required, alive    int
	blockFor, received int
	dataPresent        bool
	writeType          string
	reasons            Reasons
}

// plainError makes an act that is an error without details.
func plainError(code cqlerr.Code, message string) func(actArguments) Act {
	return func(actArguments) Act { return fail(code, nil, "%s", message) }
}

// acts are the acts by their names.
var acts = map[string]func(a actArguments) Act{
	"unavailable":   func(a actArguments) Act { return Unavailable(a.level, a.required, a.alive) },
	"read_timeout":  func(a actArguments) Act { return ReadTimeout(a.level, a.received, a.blockFor, a.dataPresent) },
	"write_timeout": func(a actArguments) Act { return WriteTimeout(a.level, a.received, a.blockFor, a.writeType) },
	"read_failure": func(a actArguments) Act {
		return ReadFailure(a.level, a.received, a.blockFor, a.dataPresent, a.reasons)
	},
	"write_failure":     func(a actArguments) Act { return WriteFailure(a.level, a.received, a.blockFor, a.writeType, a.reasons) },
	"cas_write_unknown": func(a actArguments) Act { return CASWriteUnknown(a.level, a.received, a.blockFor) },
	"overloaded":        func(actArguments) Act { return Overloaded() },
	"is_bootstrapping":  func(actArguments) Act { return IsBootstrapping() },
	"truncate_error":    func(actArguments) Act { return TruncateError() },
	"server_error":      plainError(cqlerr.ServerError, "a fault of the test"),
	"invalid":           plainError(cqlerr.Invalid, "a fault of the test"),
	"syntax_error":      plainError(cqlerr.SyntaxError, "a fault of the test"),
	"unauthorized":      plainError(cqlerr.Unauthorized, "a fault of the test"),
	"config_error":      plainError(cqlerr.ConfigError, "a fault of the test"),
	"unprepared":        func(actArguments) Act { return Unprepared() },
	"drop":              func(actArguments) Act { return Drop() },
	"malformed":         func(actArguments) Act { return Malformed() },
	"echo_payload":      func(actArguments) Act { return EchoPayload() },
}

// ActNames returns the names of acts, as column act has them.
func ActNames() []string { return slices.Sorted(maps.Keys(acts)) }

// act reads the act of a rule. The default numbers are those of one replica that does not answer.
func (v values) act() (act Act, err error) {
	name, err := v.oneOf("act", ActNames())
	if name == "" || err != nil {
		return Act{}, err
	}
	a := actArguments{level: SameLevel, dataPresent: v.bool("data_present")}
	if level := v.text("level"); level != "" {
		if a.level, err = parseLevel("level", level); err != nil {
			return Act{}, err
		}
	}
	for _, n := range []struct {
		name      string
		to        *int
		otherwise int
	}{
		{"required", &a.required, 1},
		{"alive", &a.alive, 0},
		{"block_for", &a.blockFor, 1},
		{"received", &a.received, 0},
	} {
		if *n.to, err = v.int(n.name, n.otherwise); err != nil {
			return Act{}, err
		}
	}
	if a.writeType, err = v.oneOf("write_type", WriteTypes); err != nil {
		return Act{}, err
	}
	if a.writeType == "" {
		a.writeType = "SIMPLE"
	}
	a.reasons = Reasons{}
	for replica, reason := range types.Entries(v["reasons"]) {
		a.reasons[types.DecodeInet(replica)] = uint16(types.DecodeInt(reason))
	}
	if v["reasons"] == nil {
		a.reasons[netip.AddrFrom4([4]byte{127, 0, 0, 1})] = 0
	}
	act = acts[name](a)
	if message := v.text("message"); message != "" {
		if act.err == nil {
			return Act{}, cqlerr.Invalidf("The act %s has no message", name)
		}
		act.err.Message = message
	}
	if v.bool("after_applying") {
		act = act.AfterApplying()
	}
	return act, nil
}
