package types

// maxPrinted is the longest number, in bytes, that is printed: one of 100,000 digits takes some milliseconds, and ten
// times as many fifty times as long.
const maxPrinted = 41_600

// printedAtOnce is how many bytes of a value are printed without a step.
const printedAtOnce = 16 << 10

// AppendJSONSteps is AppendJSON for values of any size: it calls step between the parts of large ones, whose error ends
// it, and refuses numbers that would take long.
func AppendJSONSteps(dst []byte, t Type, b []byte, step func() error) ([]byte, error) {
	if len(b) <= printedAtOnce {
		return t.AppendJSON(dst, b), nil
	}
	if step != nil {
		if err := step(); err != nil {
			return nil, err
		}
	}
	p := jsonPrinter{dst: dst, step: step}
	switch t := t.(type) {
	case *List:
		p.elements(Elements(b), t.Elem)
	case *Set:
		p.elements(Elements(b), t.Elem)
	case *Vector:
		p.elements(VectorElements(t, b), t.Elem)
	case *Map:
		p.entries(t, b)
	case *Tuple:
		p.fields(t.Elems, nil, b)
	case *UserType:
		p.user(t, b)
	default:
		if (t == VarInt || t == Decimal) && len(b) > maxPrinted {
			return nil, invalidf("numbers of more than 100000 digits are not printed by cqld")
		}
		return t.AppendJSON(dst, b), nil
	}
	return p.dst, p.err
}

// jsonPrinter prints the parts of a value. It ends with the first error.
type jsonPrinter struct {
	dst     []byte
	step    func() error
	err     error
	pending int // bytes printed since the last step
}

// part prints one part, and reports whether there may be others.
func (p *jsonPrinter) part(t Type, b []byte) bool {
	if len(b) <= printedAtOnce {
		p.dst = appendJSONNullable(p.dst, t, b)
	} else if p.dst, p.err = AppendJSONSteps(p.dst, t, b, p.step); p.err != nil {
		return false
	}
	if p.pending += len(b) + 1; p.pending > printedAtOnce && p.step != nil {
		p.pending = 0
		p.err = p.step()
	}
	return p.err == nil
}

func (p *jsonPrinter) elements(all func(func([]byte) bool), elem Type) {
	p.dst = append(p.dst, '[')
	separator := ""
	for e := range all {
		p.dst = append(p.dst, separator...)
		if !p.part(elem, e) {
			return
		}
		separator = ", "
	}
	p.dst = append(p.dst, ']')
}

// entries prints a map: its keys are strings.
func (p *jsonPrinter) entries(t *Map, b []byte) {
	p.dst = append(p.dst, '{')
	separator := ""
	for k, v := range Entries(b) {
		p.dst = append(p.dst, separator...)
		from := len(p.dst)
		if !p.part(t.Key, k) {
			return
		}
		if p.dst[from] != '"' {
			key := string(p.dst[from:])
			p.dst = appendJSONString(p.dst[:from], key)
		}
		p.dst = append(p.dst, ": "...)
		if !p.part(t.Value, v) {
			return
		}
		separator = ", "
	}
	p.dst = append(p.dst, '}')
}

func (p *jsonPrinter) fields(types []Type, names []string, b []byte) {
	open, end := byte('['), byte(']')
	if names != nil {
		open, end = '{', '}'
	}
	p.dst = append(p.dst, open)
	for i, e := range TupleFields(b, len(types)) {
		if i > 0 {
			p.dst = append(p.dst, ", "...)
		}
		if names != nil {
			p.dst = append(AppendJSONKey(p.dst, names[i]), ": "...)
		}
		if !p.part(types[i], e) {
			return
		}
	}
	p.dst = append(p.dst, end)
}

func (p *jsonPrinter) user(t *UserType, b []byte) {
	names := make([]string, len(t.Fields))
	types := make([]Type, len(t.Fields))
	for i := range t.Fields {
		names[i], types[i] = t.Fields[i].Name, t.Fields[i].Type
	}
	p.fields(types, names, b)
}
