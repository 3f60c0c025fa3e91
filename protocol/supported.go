package protocol

// Supported answers OPTIONS.
//
//	<options [string multimap]>
type Supported struct{ Options []SupportedOption }

// SupportedOption is one key of SUPPORTED and what may be chosen for it.
type SupportedOption struct {
	Key    string
	Values []string
}

// Get returns the values of an option.
func (m *Supported) Get(key string) []string {
	for _, o := range m.Options {
		if o.Key == key {
			return o.Values
		}
	}
	return nil
}

// Opcode is SUPPORTED's.
func (*Supported) Opcode() Opcode { return OpSupported }
func (*Supported) response()      {}

func (m *Supported) append(dst []byte, _ Version) []byte {
	dst = appendCount(dst, len(m.Options))
	for _, o := range m.Options[:min(len(m.Options), maxShort)] {
		dst = appendStringList(appendString(dst, o.Key), o.Values)
	}
	return dst
}

func (m *Supported) decode(r *reader, _ Version) {
	m.Options = reuse(m.Options)
	for n := r.short(); n > 0 && r.err == nil; n-- {
		m.Options = append(m.Options, SupportedOption{Key: r.string(), Values: r.stringList()})
	}
}
