package protocol

import "strings"

// Startup opens a connection.
//
//	<options [string map]>
type Startup struct{ Options []Option }

// Option is one entry of a [string map], which has an order on the wire.
type Option struct{ Key, Value string }

// The options of STARTUP that have an effect, spelled as Cassandra compares them: keys in upper case.
const (
	OptionCQLVersion      = "CQL_VERSION"
	OptionCompression     = "COMPRESSION"
	OptionThrowOnOverload = "THROW_ON_OVERLOAD"
	OptionDriverName      = "DRIVER_NAME"
	OptionDriverVersion   = "DRIVER_VERSION"
	OptionNoCompact       = "NO_COMPACT"
)

// Get returns the value of an option, given in upper case. Keys of clients are taken in any case; of several
// equal ones the last counts.
func (m *Startup) Get(key string) (string, bool) {
	for i := len(m.Options) - 1; i >= 0; i-- {
		if strings.ToUpper(m.Options[i].Key) == key {
			return m.Options[i].Value, true
		}
	}
	return "", false
}

// Map returns all options with their keys in upper case.
func (m *Startup) Map() map[string]string {
	all := make(map[string]string, len(m.Options))
	for _, o := range m.Options {
		all[strings.ToUpper(o.Key)] = o.Value
	}
	return all
}

// Opcode is STARTUP's.
func (*Startup) Opcode() Opcode { return OpStartup }
func (*Startup) request()       {}

func (m *Startup) append(dst []byte, _ Version) []byte {
	dst = appendCount(dst, len(m.Options))
	for _, o := range m.Options[:min(len(m.Options), maxShort)] {
		dst = appendString(appendString(dst, o.Key), o.Value)
	}
	return dst
}

func (m *Startup) decode(r *reader, _ Version) {
	m.Options = reuse(m.Options)
	for n := r.short(); n > 0 && r.err == nil; n-- {
		m.Options = append(m.Options, Option{Key: r.string(), Value: r.string()})
	}
}
