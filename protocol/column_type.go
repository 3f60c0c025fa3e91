package protocol

import (
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
)

// Column types are encoded as [option]: a [short] code and its parameters (section 4.2.5.2).
//
//	0x0000 custom		<class [string]>
//	0x0020 list			<element [option]>
//	0x0021 map			<key [option]><value [option]>
//	0x0022 set			<element [option]>
//	0x0030 user type	<keyspace [string]><name [string]><n [short]>(<field [string]><type [option]>)*
//	0x0031 tuple		<n [short]>(<type [option]>)*
//
// Frozen is not encoded. A type without a code in a version is custom, with the name of Cassandra's class; vectors
// are always custom.
const (
	codeCustom   = 0x0000
	codeText10   = 0x000A // another code of text, never sent by servers
	codeList     = 0x0020
	codeMap      = 0x0021
	codeSet      = 0x0022
	codeUserType = 0x0030
	codeTuple    = 0x0031
)

// nativeCode is the code of a native type and the first version that has it.
type nativeCode struct {
	code  int
	since Version
}

// nativeCodes has the types without parameters.
var nativeCodes = map[types.Type]nativeCode{
	types.ASCII:     {0x0001, V3},
	types.BigInt:    {0x0002, V3},
	types.Blob:      {0x0003, V3},
	types.Boolean:   {0x0004, V3},
	types.Counter:   {0x0005, V3},
	types.Decimal:   {0x0006, V3},
	types.Double:    {0x0007, V3},
	types.Float:     {0x0008, V3},
	types.Int:       {0x0009, V3},
	types.Timestamp: {0x000B, V3},
	types.UUID:      {0x000C, V3},
	types.Text:      {0x000D, V3},
	types.VarInt:    {0x000E, V3},
	types.TimeUUID:  {0x000F, V3},
	types.Inet:      {0x0010, V3},
	types.Date:      {0x0011, V4},
	types.Time:      {0x0012, V4},
	types.SmallInt:  {0x0013, V4},
	types.TinyInt:   {0x0014, V4},
	types.Duration:  {0x0015, V5},
}

// nativeTypes is the inverse of nativeCodes.
var nativeTypes = func() map[int]types.Type {
	m := map[int]types.Type{codeText10: types.Text}
	for t, c := range nativeCodes {
		m[c.code] = t
	}
	return m
}()

// appendType appends the [option] of a type.
func appendType(dst []byte, t types.Type, v Version) []byte {
	switch t := t.(type) {
	case *types.List:
		return appendType(appendShort(dst, codeList), t.Elem, v)
	case *types.Set:
		return appendType(appendShort(dst, codeSet), t.Elem, v)
	case *types.Map:
		return appendType(appendType(appendShort(dst, codeMap), t.Key, v), t.Value, v)
	case *types.Tuple:
		dst = appendCount(appendShort(dst, codeTuple), len(t.Elems))
		for _, elem := range t.Elems {
			dst = appendType(dst, elem, v)
		}
		return dst
	case *types.UserType:
		dst = appendString(appendString(appendShort(dst, codeUserType), t.Keyspace), t.Name)
		dst = appendCount(dst, len(t.Fields))
		for _, f := range t.Fields {
			dst = appendType(appendString(dst, f.Name), f.Type, v)
		}
		return dst
	case *types.Vector, *types.Custom:
		return appendCustom(dst, t)
	}
	if c, ok := nativeCodes[t]; ok && v >= c.since {
		return appendShort(dst, c.code)
	}
	return appendCustom(dst, t)
}

func appendCustom(dst []byte, t types.Type) []byte {
	return appendString(appendShort(dst, codeCustom), t.ClassName())
}

// maxTypeDepth limits the nesting of types. Cassandra has no limit; real schemas stay far below this one.
const maxTypeDepth = 100

// columnType decodes an [option]. Classes that CQL has a type for become that type.
func (r *reader) columnType(depth int) types.Type {
	if depth > maxTypeDepth {
		r.fail(cqlerr.Protocolf("Types nested more than %d times", maxTypeDepth))
	}
	code := r.short()
	if r.err != nil {
		return nil
	}
	depth++
	switch code {
	case codeCustom:
		return r.customType()
	case codeList:
		return &types.List{Elem: r.columnType(depth)}
	case codeSet:
		return &types.Set{Elem: r.columnType(depth)}
	case codeMap:
		return &types.Map{Key: r.columnType(depth), Value: r.columnType(depth)}
	case codeTuple:
		t := &types.Tuple{}
		for n := r.short(); n > 0 && r.err == nil; n-- {
			t.Elems = append(t.Elems, r.columnType(depth))
		}
		return t
	case codeUserType:
		t := &types.UserType{Keyspace: r.string(), Name: r.string()}
		for n := r.short(); n > 0 && r.err == nil; n-- {
			t.Fields = append(t.Fields, types.Field{Name: r.string(), Type: r.columnType(depth)})
		}
		return t
	}
	if t, ok := nativeTypes[code]; ok {
		return t
	}
	r.fail(cqlerr.Protocolf("Unknown type code %d", code))
	return nil
}

func (r *reader) customType() types.Type {
	class := r.string()
	if r.err != nil {
		return nil
	}
	if t, err := types.FromClassName(class); err == nil {
		return t
	}
	return &types.Custom{Class: class}
}
