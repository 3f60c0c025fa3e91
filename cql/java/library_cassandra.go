package java

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/cqld/cqld/cql/types"
)

// record is a UDTValue or a TupleValue. As in the driver, its fields are kept as values.
type record struct {
	typ    types.Type
	of     *class
	elems  []types.Type
	names  []string // of a user type
	values [][]byte
}

func (t *thread) newRecord(ct types.Type) *record {
	r := &record{typ: ct, of: classTupleValue}
	switch ct := ct.(type) {
	case *types.Tuple:
		r.elems = ct.Elems
	case *types.UserType:
		r.of = classUDTValue
		for _, f := range ct.Fields {
			r.elems = append(r.elems, f.Type)
			r.names = append(r.names, f.Name)
		}
	}
	t.alloc(128)
	t.grow(len(r.elems), 64)
	t.charge(len(r.elems))
	r.values = make([][]byte, len(r.elems))
	return r
}

func (r *record) class() *class { return r.of }

func (r *record) hash(t *thread) int32 {
	h := int32(31)
	for i, b := range r.values {
		if b == nil {
			h++
		} else {
			h += hashOf(t, t.decode(r.elems[i], b))
		}
	}
	return h
}

func (r *record) equals(t *thread, o object) bool {
	other, ok := o.(*record)
	if !ok || r.of != other.of {
		return false
	}
	if r.typ != other.typ {
		a, b := types.Freeze(r.typ).ClassName(), types.Freeze(other.typ).ClassName()
		if t.charge(len(a) + len(b)); a != b {
			return false
		}
	}
	for i, b := range r.values {
		if !equalObjects(t, t.decode(r.elems[i], b), t.decode(other.elems[i], other.values[i])) {
			return false
		}
	}
	return true
}

func (r *record) text(t *thread) *str { return t.str(t.format(r.typ, r)) }

// format is an object as the driver prints it in CQL.
func (t *thread) format(ct types.Type, o object) string {
	if o == nil {
		return "NULL"
	}
	t.step()
	defer t.nest()()
	many := func(open, end string, elem types.Type, c collection) string {
		var parts []string
		for s := c.iterate(t); s.hasNext(); {
			parts = append(parts, t.format(elem, s.next(t)))
		}
		return open + strings.Join(parts, ",") + end
	}
	switch ct := ct.(type) {
	case *types.List:
		return many("[", "]", ct.Elem, o.(collection))
	case *types.Set:
		return many("{", "}", ct.Elem, o.(collection))
	case *types.Vector:
		return o.text(t).String()
	case *types.Map:
		var parts []string
		for s := o.(*mapObject).entries(t); s.hasNext(); {
			e := s.nextEntry(t)
			parts = append(parts, t.format(ct.Key, e.key)+":"+t.format(ct.Value, e.value))
		}
		return "{" + strings.Join(parts, ",") + "}"
	}
	switch o := o.(type) {
	case *record:
		parts := make([]string, len(o.elems))
		for i, b := range o.values {
			if parts[i] = t.format(o.elems[i], t.decode(o.elems[i], b)); o.names != nil {
				parts[i] = quotedName(o.names[i]) + ":" + parts[i]
			}
		}
		if o.names != nil {
			return "{" + strings.Join(parts, ",") + "}"
		}
		return "(" + strings.Join(parts, ",") + ")"
	case *str:
		t.grow(o.length(), 4)
		return quoted(o.String())
	case *byteBuffer:
		return fmt.Sprintf("0x%x", o.remaining(t))
	case *date:
		return quoted(strconv.FormatInt(o.millis, 10))
	case *localDate:
		return quoted(o.text(t).String())
	case *inetAddress:
		return quoted(types.FormatInet(o.b))
	case *boxLong:
		if ct == types.Time {
			return quoted(types.FormatTimeOfDay(o.v))
		}
	}
	return o.text(t).String()
}

// index is the field of a number or a name. Names are folded to lower case unless they have quotes around them.
func (r *record) index(v value) int {
	if r.names == nil || v.r == nil {
		if i := v.int(); i >= 0 && i < len(r.elems) {
			return i
		}
		throw(classArrayIndex, "Index "+strconv.Itoa(v.int())+" out of bounds for length "+strconv.Itoa(len(r.elems)))
	}
	text := v.str().String()
	name := text
	switch {
	case len(name) > 1 && name[0] == '"' && name[len(name)-1] == '"':
		name = strings.ReplaceAll(name[1:len(name)-1], `""`, `"`)
	case plainName(name):
		name = strings.ToLower(name)
	}
	for i, n := range r.names {
		if n == name {
			return i
		}
	}
	throw(classIllegalArgument, text+" is not a field defined in this UDT")
	return 0
}

func plainName(name string) bool {
	for _, c := range name {
		if c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return true
}

// check throws the exception of a field whose Java type is another.
func (r *record) check(i int, want *typ) { checkCodec(r.elems[i], want) }

// checkCodec throws the exception of a type that is passed as another Java type, for the part of it that differs.
func checkCodec(ct types.Type, want *typ) {
	java := javaType(ct)
	if same(java, want) {
		return
	}
	if java.class == want.class && len(java.args) == len(want.args) {
		switch ct := ct.(type) {
		case *types.List:
			checkCodec(ct.Elem, want.args[0])
		case *types.Set:
			checkCodec(ct.Elem, want.args[0])
		case *types.Map:
			checkCodec(ct.Key, want.args[0])
			checkCodec(ct.Value, want.args[1])
		}
	}
	throw(classCodecNotFound, "Codec not found for requested operation: ["+driverName(ct)+" <-> "+tokenName(want)+"]")
}

// tokenName is a type with the packages of all its parts.
func tokenName(t *typ) string {
	name := t.fullName()
	if len(t.args) > 0 {
		args := make([]string, len(t.args))
		for i, a := range t.args {
			args[i] = tokenName(a)
		}
		name += "<" + strings.Join(args, ", ") + ">"
	}
	return name
}

// recordMethods are the methods of UDTValue and TupleValue: with indexes, and for UDTValue with names too.
func recordMethods(c *class) []native {
	places := []string{"int"}
	if c == classUDTValue {
		places = append(places, "String")
	}
	var all []native
	classes := func(v value) *typ { return boxed(to[*classObjectOf](v).of) }
	for _, place := range places {
		for _, f := range []struct {
			name string
			typ  string
			java *typ
		}{
			{"Bool", "boolean", classBoolean.typ()},
			{"Byte", "byte", classByte.typ()},
			{"Short", "short", classShort.typ()},
			{"Int", "int", classInteger.typ()},
			{"Long", "long", classLong.typ()},
			{"Time", "long", classLong.typ()},
			{"Float", "float", classFloat.typ()},
			{"Double", "double", classDouble.typ()},
			{"String", "String", classString.typ()},
			{"Timestamp", "Date", classDate.typ()},
			{"Date", "LocalDate", classLocalDate.typ()},
			{"Bytes", "ByteBuffer", classByteBuffer.typ()},
			{"Varint", "BigInteger", classBigInteger.typ()},
			{"Decimal", "BigDecimal", classBigDecimal.typ()},
			{"UUID", "UUID", classUUID.typ()},
			{"Inet", "InetAddress", classInetAddress.typ()},
			{"UDTValue", "UDTValue", classUDTValue.typ()},
			{"TupleValue", "TupleValue", classTupleValue.typ()},
		} {
			primitive := primitives[f.typ]
			all = append(all, native{f.typ + " get" + f.name + "(" + place + ")", asItGoes, on(func(t *thread, r *record,
				a []value,
			) value {
				i := r.index(a[0])
				r.check(i, f.java)
				if primitive != nil {
					return number(decodeNumber(primitive.kind, r.values[i]))
				}
				return reference(t.decode(r.elems[i], r.values[i]))
			})}, native{c.simple() + " set" + f.name + "(" + place + ", " + f.typ + ")", asItGoes, on(func(t *thread, r *record,
				a []value,
			) value {
				i := r.index(a[0])
				r.check(i, f.java)
				o := a[1].r
				if primitive != nil {
					o = t.box(primitive.kind, a[1].n)
				}
				r.values[i] = t.encode(r.elems[i], o)
				return reference(r)
			})})
		}
		get := func(want func(a []value) *typ) any {
			return on(func(t *thread, r *record, a []value) value {
				i := r.index(a[0])
				r.check(i, want(a[1:]))
				return reference(t.decode(r.elems[i], r.values[i]))
			})
		}
		set := on(func(t *thread, r *record, a []value) value {
			i := r.index(a[0])
			if o := a[1].r; o != nil {
				checkCast(o, erase(javaType(r.elems[i])))
			}
			r.values[i] = t.encode(r.elems[i], a[1].r)
			return reference(r)
		})
		// setOf is set with the classes that the value consists of.
		setOf := func(want func(a []value) *typ) any {
			return on(func(t *thread, r *record, a []value) value {
				i := r.index(a[0])
				r.check(i, want(a[2:]))
				r.values[i] = t.encode(r.elems[i], a[1].r)
				return reference(r)
			})
		}
		listOf := func(a []value) *typ { return classType(classList, classes(a[0])) }
		setsOf := func(a []value) *typ { return classType(classSet, classes(a[0])) }
		mapOf := func(a []value) *typ { return classType(classMap, classes(a[0]), classes(a[1])) }
		all = append(all,
			native{"boolean isNull(" + place + ")", linear, on(func(_ *thread, r *record, a []value) value {
				return boolean(r.values[r.index(a[0])] == nil)
			})},
			native{"<T> T get(" + place + ", Class<T>)", asItGoes, get(func(a []value) *typ { return classes(a[0]) })},
			native{"Object getObject(" + place + ")", asItGoes, on(func(t *thread, r *record, a []value) value {
				i := r.index(a[0])
				return reference(t.decode(r.elems[i], r.values[i]))
			})},
			native{"<T> List<T> getList(" + place + ", Class<T>)", asItGoes, get(listOf)},
			native{"<T> List<T> getVector(" + place + ", Class<T>)", asItGoes, get(listOf)},
			native{"<T> Set<T> getSet(" + place + ", Class<T>)", asItGoes, get(setsOf)},
			native{"<K, V> Map<K, V> getMap(" + place + ", Class<K>, Class<V>)", asItGoes, get(mapOf)},
			native{"ByteBuffer getBytesUnsafe(" + place + ")", asItGoes, on(func(t *thread, r *record, a []value) value {
				return reference(t.decode(types.Blob, r.values[r.index(a[0])]))
			})},
			native{"<T> " + c.simple() + " set(" + place + ", T, Class<T>)", asItGoes, setOf(func(a []value) *typ {
				return classes(a[0])
			})},
			native{"<T> " + c.simple() + " setList(" + place + ", List<T>, Class<T>)", asItGoes, setOf(listOf)},
			native{"<T> " + c.simple() + " setVector(" + place + ", List<T>, Class<T>)", asItGoes, setOf(listOf)},
			native{"<T> " + c.simple() + " setSet(" + place + ", Set<T>, Class<T>)", asItGoes, setOf(setsOf)},
			native{"<K, V> " + c.simple() + " setMap(" + place + ", Map<K, V>, Class<K>, Class<V>)", asItGoes, setOf(mapOf)},
			native{"<T> " + c.simple() + " setList(" + place + ", List<T>)", asItGoes, set},
			native{"<T> " + c.simple() + " setVector(" + place + ", List<T>)", asItGoes, set},
			native{"<T> " + c.simple() + " setSet(" + place + ", Set<T>)", asItGoes, set},
			native{"<K, V> " + c.simple() + " setMap(" + place + ", Map<K, V>)", asItGoes, set},
			native{c.simple() + " setToNull(" + place + ")", linear, on(func(_ *thread, r *record, a []value) value {
				r.values[r.index(a[0])] = nil
				return reference(r)
			})},
		)
	}
	return all
}

// contextObject is udfContext.
type contextObject struct{ identity }

func (*contextObject) class() *class                     { return classUDFContext }
func (c *contextObject) equals(_ *thread, o object) bool { return o == object(c) }
func (c *contextObject) text(t *thread) *str             { return plainText(t, c) }

// newOf makes a UDTValue or TupleValue of a type.
func (t *thread) newOf(ct types.Type, want *class) value {
	r := t.newRecord(ct)
	_, isTuple := ct.(*types.Tuple)
	_, isUser := ct.(*types.UserType)
	switch {
	case want == classUDTValue && !isUser:
		throw(classIllegalState, "Function argument is not a UDT but a "+driverKind(ct))
	case want == classTupleValue && !isTuple:
		throw(classIllegalState, "Function argument is not a tuple type but a "+driverKind(ct))
	}
	return reference(r)
}

// cassandraClasses are UDTValue, TupleValue and UDFContext.
func cassandraClasses() []declaration {
	byName := func(want *class) nativeFunc {
		return func(t *thread, a []value) value {
			text := a[1].str().String()
			for i, name := range t.fn.spec.ArgNames {
				if name == text {
					return t.newOf(t.fn.spec.ArgTypes[i], want)
				}
			}
			throw(classIllegalArgument, "Function does not declare an argument named '"+text+"'")
			return value{}
		}
	}
	byIndex := func(want *class) nativeFunc {
		return func(t *thread, a []value) value {
			i := a[1].int()
			if i < 0 || i >= len(t.fn.spec.ArgTypes) {
				throw(classIllegalArgument, "Function does not declare an argument with index "+strconv.Itoa(i))
			}
			return t.newOf(t.fn.spec.ArgTypes[i], want)
		}
	}
	return []declaration{
		{classUDTValue, "class UDTValue", recordMethods(classUDTValue), nil},
		{classTupleValue, "class TupleValue", recordMethods(classTupleValue), nil},
		{classUDFContext, "interface UDFContext", []native{
			{"UDTValue newArgUDTValue(String)", asItGoes, byName(classUDTValue)},
			{"UDTValue newArgUDTValue(int)", asItGoes, byIndex(classUDTValue)},
			{"UDTValue newReturnUDTValue()", asItGoes, func(t *thread, _ []value) value {
				return t.newOf(t.fn.spec.Returns, classUDTValue)
			}},
			{"UDTValue newUDTValue(String)", asItGoes, func(t *thread, a []value) value {
				name := a[1].str().String()
				if t.env.Host != nil {
					if u := t.env.Host.UserType(name); u != nil {
						return t.newOf(u, classUDTValue)
					}
				}
				throw(classIllegalArgument, "No UDT named "+name+" in keyspace "+t.env.Keyspace)
				return value{}
			}},
			{"TupleValue newArgTupleValue(String)", asItGoes, byName(classTupleValue)},
			{"TupleValue newArgTupleValue(int)", asItGoes, byIndex(classTupleValue)},
			{"TupleValue newReturnTupleValue()", asItGoes, func(t *thread, _ []value) value {
				return t.newOf(t.fn.spec.Returns, classTupleValue)
			}},
			{"TupleValue newTupleValue(String)", asItGoes, func(t *thread, a []value) value {
				text := a[1].str().String()
				if t.env.Host == nil {
					throw(classIllegalState, "types cannot be parsed here")
				}
				if len(text) > maxTypeText {
					throw(classIllegalArgument, "the name of the type is too long")
				}
				t.charge(100 * len(text))
				ct, err := t.env.Host.ParseType(text)
				if err != nil {
					throw(classIllegalArgument, err.Error())
				}
				return t.newOf(ct, classTupleValue)
			}},
		}, nil},
	}
}

// maxTypeText is how long the name of a type may be that is parsed while a body runs.
const maxTypeText = 1000

// quoted is a text as a literal of CQL.
func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// quotedName is a name as CQL writes it.
func quotedName(s string) string {
	if plainName(s) && strings.ToLower(s) == s {
		return s
	}
	return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
}
