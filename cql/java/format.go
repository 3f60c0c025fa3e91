package java

import (
	"math/big"
	"strconv"
	"strings"
)

// formatSpec is one %[index$][flags][width][.precision]conversion of a format.
type formatSpec struct {
	text             string
	index            int
	flags            string
	width, precision int // -1: none
	conversion       byte
}

// format is String.format in the English locale, with the conversions d, x, o, f, e, s, c, b, h, n and %.
func format(t *thread, s *str, args []object) *str {
	text := s.String()
	var b builder
	next := 0
	for text != "" {
		i := strings.IndexByte(text, '%')
		if i < 0 {
			break
		}
		b.add(t, t.str(text[:i]))
		spec, rest := parseFormat(text[i:])
		text = rest
		t.step()
		switch spec.conversion {
		case 'n':
			b.addASCII(t, "\n")
			continue
		case '%':
			b.add(t, spec.pad(t, "%"))
			continue
		}
		at := spec.index - 1
		if spec.index == 0 {
			at = next
			next++
		}
		if at >= len(args) {
			throw(newFormatException("MissingFormatArgumentException"), "Format specifier '"+spec.text+"'")
		}
		b.add(t, spec.format(t, args[at]))
	}
	b.add(t, t.str(text))
	return b.text(t)
}

// newFormatException is a class of java.util that only formats throw.
func newFormatException(name string) *class { return &class{name: "java.util." + name} }

func parseFormat(text string) (spec formatSpec, rest string) {
	spec = formatSpec{width: -1, precision: -1}
	i := 1
	number := func() int {
		start := i
		for i < len(text) && '0' <= text[i] && text[i] <= '9' {
			i++
		}
		n, err := strconv.Atoi(text[start:i])
		if err != nil {
			return -1
		}
		return n
	}
	if n := number(); n >= 0 && i < len(text) && text[i] == '$' {
		spec.index = n
		i++
	} else {
		i = 1
	}
	for i < len(text) && strings.IndexByte("-#+ 0,(", text[i]) >= 0 {
		flag := text[i : i+1]
		if spec.has(flag) {
			throw(newFormatException("DuplicateFormatFlagsException"), "Flags = '"+flag+"'")
		}
		spec.flags += flag
		i++
	}
	spec.width = number()
	if i+1 < len(text) && text[i] == '.' {
		i++
		spec.precision = number()
	}
	if i >= len(text) || !strings.Contains("dxXofeEsScCbBhHn%", text[i:i+1]) {
		bad := "%"
		if i < len(text) {
			bad = text[i : i+1]
		}
		throw(newFormatException("UnknownFormatConversionException"), "Conversion = '"+bad+"'")
	}
	spec.conversion = text[i]
	spec.text = text[:i+1]
	return spec, text[i+1:]
}

func (f *formatSpec) has(flag string) bool { return strings.Contains(f.flags, flag) }

// pad fills a text up to the width.
func (f *formatSpec) pad(t *thread, text string) *str {
	s := newStr(text)
	missing := f.width - s.length()
	if missing <= 0 {
		return s
	}
	t.grow(missing, 2)
	if f.has("-") {
		return t.str(text + strings.Repeat(" ", missing))
	}
	return t.str(strings.Repeat(" ", missing) + text)
}

func (f *formatSpec) format(t *thread, o object) *str {
	text := ""
	switch f.conversion {
	case 'd', 'x', 'X', 'o':
		text = f.whole(t, o)
	case 'f', 'e', 'E':
		text = f.fraction(t, o)
	case 'c', 'C':
		switch c := o.(type) {
		case nil:
			text = "null"
		case *boxChar:
			text = goText([]uint16{c.v})
		case *boxInt:
			text = codePointText(int(c.v)).String()
		default:
			f.mismatch(o)
		}
	case 'b', 'B':
		text = "true"
		if b, ok := o.(*boxBool); o == nil || ok && !b.v {
			text = "false"
		}
	case 'h', 'H':
		if text = "null"; o != nil {
			text = strconv.FormatUint(uint64(uint32(hashOf(t, o))), 16)
		}
	default:
		s := t.textOf(o)
		if f.precision >= 0 && f.precision < s.length() {
			s = t.substring(s, 0, f.precision)
		}
		text = s.String()
	}
	if f.conversion < 'a' {
		text = strings.ToUpper(text)
	}
	return f.pad(t, text)
}

func (f *formatSpec) mismatch(o object) {
	throw(newFormatException("IllegalFormatConversionException"), string(f.conversion)+" != "+o.class().name)
}

// whole formats a whole number.
func (f *formatSpec) whole(t *thread, o object) string {
	base := 10
	switch f.conversion {
	case 'x', 'X':
		base = 16
	case 'o':
		base = 8
	}
	var v *big.Int
	bits := 0
	switch o := o.(type) {
	case nil:
		return "null"
	case *boxByte:
		v, bits = big.NewInt(int64(o.v)), 8
	case *boxShort:
		v, bits = big.NewInt(int64(o.v)), 16
	case *boxInt:
		v, bits = big.NewInt(int64(o.v)), 32
	case *boxLong:
		v, bits = big.NewInt(o.v), 64
	case *bigInteger:
		v = o.v
	default:
		f.mismatch(o)
	}
	if base != 10 && v.Sign() < 0 && bits > 0 { // as in two's complement
		v = new(big.Int).Add(v, new(big.Int).Lsh(big.NewInt(1), uint(bits)))
	}
	digits := bigText(t, new(big.Int).Abs(v), base)
	if base == 10 && f.has(",") {
		digits = grouped(digits)
	}
	if f.has("#") && base == 16 {
		digits = "0x" + digits
	}
	return f.signed(t, digits, v.Sign() < 0)
}

func grouped(digits string) string {
	var b strings.Builder
	for i := range len(digits) {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteByte(digits[i])
	}
	return b.String()
}

// signed adds the sign and zeros up to the width.
func (f *formatSpec) signed(t *thread, digits string, negative bool) string {
	sign, end := "", ""
	switch {
	case negative && f.has("("):
		sign, end = "(", ")"
	case negative:
		sign = "-"
	case f.has("+"):
		sign = "+"
	case f.has(" "):
		sign = " "
	}
	if missing := f.width - len(sign) - len(digits) - len(end); f.has("0") && missing > 0 {
		t.grow(missing, 1)
		digits = strings.Repeat("0", missing) + digits
	}
	return sign + digits + end
}

// fraction formats a floating number or a decimal, rounded half up from the digits that it prints with.
func (f *formatSpec) fraction(t *thread, o object) string {
	var d *bigDecimal
	negative := false
	switch o := o.(type) {
	case nil:
		return "null"
	case *boxFloat, *boxDouble:
		v := value{n: unbox(o)}.floating()
		if v-v != 0 {
			text := strings.TrimPrefix(doubleText(v), "-")
			return f.signed(t, text, v < 0)
		}
		if d = parseDecimal(t, o.text(t).String()); v == 0 {
			d.scale = 0
		}
		negative = floatBits(v) < 0
	case *bigDecimal:
		d = o
		negative = d.unscaled.Sign() < 0
	default:
		f.mismatch(o)
	}
	precision := f.precision
	if precision < 0 {
		precision = 6
	}
	d = &bigDecimal{new(big.Int).Abs(d.unscaled), d.scale}
	if f.conversion != 'f' {
		return f.signed(t, scientific(t, d, precision), negative)
	}
	digits := d.setScale(t, int64(precision), roundHalfUpMode).plainText(t)
	if f.has(",") {
		whole, rest, _ := strings.Cut(digits, ".")
		digits = grouped(whole)
		if rest != "" {
			digits += "." + rest
		}
	}
	return f.signed(t, digits, negative)
}

// scientific is 1.234560e+01.
func scientific(t *thread, d *bigDecimal, decimals int) string {
	t.grow(decimals, 1)
	d = d.round(t, &mathContext{decimals + 1, roundHalfUpMode})
	digits := bigText(t, d.unscaled, 10)
	exponent := len(digits) - 1 - int(d.scale)
	digits += strings.Repeat("0", max(0, decimals+1-len(digits)))
	if decimals > 0 {
		digits = digits[:1] + "." + digits[1:]
	}
	sign := "+"
	if exponent < 0 {
		sign, exponent = "-", -exponent
	}
	text := strconv.Itoa(exponent)
	if len(text) < 2 {
		text = "0" + text
	}
	return digits + "e" + sign + text
}
