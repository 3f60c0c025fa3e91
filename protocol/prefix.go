package protocol

// Prefix is what may stand in the body of a response before the message.
//
//	[<tracing id [uuid]>][<warnings [string list]>][<payload [bytes map]>]
//
// Each part is announced by a flag of the header. A nil *Prefix is an empty one.
type Prefix struct {
	Traced    bool
	TracingID [16]byte
	Warnings  []string
	Payload   []PayloadEntry
}

// PayloadEntry is one entry of a custom payload: extensions of servers and clients may exchange any.
type PayloadEntry struct {
	Key   string
	Value []byte
}

// flags are the header flags for the parts that are there. Versions that do not know a part lose it.
func (p *Prefix) flags(v Version) (f Flags) {
	if p == nil {
		return 0
	}
	if p.Traced {
		f |= FlagTracing
	}
	if len(p.Warnings) > 0 && v.HasWarnings() {
		f |= FlagWarning
	}
	if len(p.Payload) > 0 && v.HasPayload() {
		f |= FlagCustomPayload
	}
	return f
}

func (p *Prefix) append(dst []byte, v Version) []byte {
	f := p.flags(v)
	if f.Has(FlagTracing) {
		dst = append(dst, p.TracingID[:]...)
	}
	if f.Has(FlagWarning) {
		dst = appendStringList(dst, p.Warnings)
	}
	if f.Has(FlagCustomPayload) {
		dst = appendPayload(dst, p.Payload)
	}
	return dst
}

func decodePrefix(r *reader, h Header) *Prefix {
	p := &Prefix{Traced: h.Flags.Has(FlagTracing)}
	if p.Traced {
		p.TracingID = r.uuid()
	}
	if h.Flags.Has(FlagWarning) {
		p.Warnings = r.stringList()
	}
	if h.Flags.Has(FlagCustomPayload) {
		p.Payload = r.appendPayload(nil)
	}
	return p
}

func appendPayload(dst []byte, payload []PayloadEntry) []byte {
	payload = payload[:min(len(payload), maxShort)]
	dst = appendShort(dst, len(payload))
	for _, e := range payload {
		dst = appendBytes(appendString(dst, e.Key), e.Value)
	}
	return dst
}

// appendPayload appends the entries of a [bytes map] to dst.
func (r *reader) appendPayload(dst []PayloadEntry) []PayloadEntry {
	for n := r.short(); n > 0 && r.err == nil; n-- {
		dst = append(dst, PayloadEntry{Key: r.string(), Value: r.bytes()})
	}
	return dst
}
