package script

import (
	"encoding/binary"
	"encoding/hex"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/cqld/cqld/cql/types"
)

// literal is a literal of a statement: a value that a client could bind.
type literal struct {
	start, end int // in the statement
	kind       literalKind
	constant   token     // of a constant
	items      []literal // of the others; of a map the values
	keys       []literal // of a map
	names      []string  // of a user type's literal, the fields that items are for
}

type literalKind uint8

const (
	constantLiteral literalKind = iota
	nullLiteral
	listLiteral     // [1, 2]
	setLiteral      // {1, 2}, and {}
	mapLiteral      // {1: 2}
	userTypeLiteral // {a: 1}
	tupleLiteral    // (1, 2)
	inLiteral       // (1, 2) after IN
)

// takesLiteral are the words that a literal with a bracket can follow. After other words a bracket opens a list of
// names, the arguments of a function, or the key of an element.
var takesLiteral = []string{"IN", "CONTAINS", "KEY", "LIKE", "OF", "SELECT", "DISTINCT"}

// literalAt reads the literal that begins at a token, and returns the place after it.
func literalAt(tokens []token, at int) (l literal, next int, ok bool) {
	if at == len(tokens) {
		return l, at, false
	}
	t := tokens[at]
	var before token
	if at > 0 {
		before = tokens[at-1]
	}
	l.start, l.end = t.start, t.end
	_, constant := literalKinds[t.kind]
	switch {
	case constant && before.is(",") && at+1 < len(tokens) && tokens[at+1].is(">"):
		return l, at, false // of vector<float, 3>
	case constant:
		l.constant = t
		return l, at + 1, true
	case t.is("NULL"):
		l.kind = nullLiteral
		return l, at + 1, !before.is("NOT", "IS", "DEFAULT")
	case (before.kind == wordToken || before.kind == nameToken || before.is("]")) && !before.is(takesLiteral...):
		return l, at, false
	case t.is("["):
		l.kind = listLiteral
		return l.readItems(tokens, at+1, "]")
	case t.is("{"):
		l.kind = setLiteral
		return l.readItems(tokens, at+1, "}")
	case t.is("("):
		l.kind = tupleLiteral
		if before.is("IN") {
			l.kind = inLiteral
		}
		l, next, ok = l.readItems(tokens, at+1, ")")
		return l, next, ok && (len(l.items) > 0 || l.kind == inLiteral)
	}
	return l, at, false
}

// readItems reads the items of a bracket.
func (l literal) readItems(tokens []token, at int, closing string) (literal, int, bool) {
	for at < len(tokens) && !tokens[at].is(closing) {
		if len(l.items) > 0 {
			if !tokens[at].is(",") {
				return l, at, false
			}
			at++
		}
		if l.kind != listLiteral && closing == "}" && at+1 < len(tokens) && tokens[at+1].is(":") &&
			(tokens[at].kind == wordToken || tokens[at].kind == nameToken) && !tokens[at].is("NULL") {
			l.kind = userTypeLiteral
			l.names = append(l.names, tokens[at].fieldName())
			at += 2
		}
		item, next, ok := literalAt(tokens, at)
		if !ok {
			return l, at, false
		}
		if at = next; closing == "}" && l.kind != userTypeLiteral && at < len(tokens) && tokens[at].is(":") {
			l.kind = mapLiteral
			l.keys = append(l.keys, item)
			if item, next, ok = literalAt(tokens, at+1); !ok {
				return l, at, false
			}
			at = next
		}
		l.items = append(l.items, item)
	}
	mixed := func(n int) bool { return n > 0 && n != len(l.items) }
	if at == len(tokens) || mixed(len(l.names)) || mixed(len(l.keys)) {
		return l, at, false
	}
	l.end = tokens[at].end
	return l, at + 1, true
}

// encode encodes a literal for a marker of some type; nil is null. A literal of another type is encoded by its own
// type: the server must find that the bytes are wrong.
func (l literal) encode(t types.Type) []byte {
	switch l.kind {
	case nullLiteral:
		return nil
	case constantLiteral:
		return l.encodeConstant(t)
	}
	switch t := t.(type) {
	case *types.Tuple:
		if l.kind == tupleLiteral {
			return types.NewTuple(l.encodeFields(func(i int) types.Type { return typeAt(t.Elems, i) }))
		}
	case *types.UserType:
		if l.kind == userTypeLiteral || l.kind == setLiteral && len(l.items) == 0 {
			return l.encodeUserType(t)
		}
		if l.kind == tupleLiteral {
			return types.NewTuple(l.encodeFields(func(i int) types.Type {
				if i < len(t.Fields) {
					return t.Fields[i].Type
				}
				return nil
			}))
		}
	case *types.Vector:
		if l.kind == listLiteral {
			return types.NewVector(t, l.encodeItems(t.Elem))
		}
	case *types.List:
		return l.encodeElements(t.Elem)
	case *types.Set:
		return l.encodeElements(t.Elem)
	case *types.Map:
		return l.encodeEntries(t.Key, t.Value)
	}
	if l.kind == tupleLiteral && len(l.items) == 1 {
		return l.items[0].encode(t) // not a tuple but parentheses
	}
	return l.encodeEntries(nil, nil)
}

func typeAt(all []types.Type, i int) types.Type {
	if i < len(all) {
		return all[i]
	}
	return nil
}

// encodeItems encodes each item as a value of one type.
func (l literal) encodeItems(t types.Type) [][]byte {
	return l.encodeFields(func(int) types.Type { return t })
}

// encodeFields encodes each item as a value of the type for its place.
func (l literal) encodeFields(typeOf func(i int) types.Type) [][]byte {
	values := make([][]byte, len(l.items))
	for i, item := range l.items {
		values[i] = item.encode(typeOf(i))
	}
	return values
}

// encodeUserType encodes the fields in the type's order, followed by the fields that the type does not have.
func (l literal) encodeUserType(t *types.UserType) []byte {
	values := make([][]byte, len(t.Fields))
	for i, item := range l.items {
		if at := t.Field(l.names[i]); at >= 0 {
			values[at] = item.encode(t.Fields[at].Type)
		} else {
			values = append(values, item.encode(nil))
		}
	}
	return types.NewTuple(values)
}

// encodeElements encodes a list or set, in the order of the text.
func (l literal) encodeElements(elem types.Type) []byte {
	if l.kind == mapLiteral {
		return l.encodeEntries(elem, elem)
	}
	return types.NewList(l.encodeItems(elem))
}

// encodeEntries encodes a map, in the order of the text; another literal is encoded as its items.
func (l literal) encodeEntries(key, value types.Type) []byte {
	if l.kind != mapLiteral {
		return types.NewList(l.encodeItems(key))
	}
	b := binary.BigEndian.AppendUint32(nil, uint32(len(l.items)))
	for i := range l.items {
		b = types.AppendElement(types.AppendElement(b, l.keys[i].encode(key)), l.items[i].encode(value))
	}
	return b
}

// encodeConstant encodes a constant as a value of the type or, if it does not match, of the constant's default type.
func (l literal) encodeConstant(t types.Type) []byte {
	text := l.constant.unquoted()
	if t != nil {
		if b, err := t.ParseLiteral(literalKinds[l.constant.kind], text); err == nil {
			return b
		}
	}
	switch l.constant.kind {
	case integerToken:
		n, _ := new(big.Int).SetString(text, 10)
		switch {
		case n.IsInt64() && int64(int32(n.Int64())) == n.Int64():
			return types.EncodeInt(int32(n.Int64()))
		case n.IsInt64():
			return types.EncodeBigInt(n.Int64())
		}
		return types.EncodeVarInt(n)
	case floatToken:
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			f = math.Inf(1)
		}
		return types.EncodeDouble(f)
	case booleanToken:
		return types.EncodeBoolean(strings.EqualFold(text, "true"))
	case hexToken:
		if b, err := hex.DecodeString(text[2:]); err == nil {
			return b
		}
	case uuidToken:
		if u, ok := types.ParseUUID(text); ok {
			return u[:]
		}
	case durationToken:
		if b, err := durationType.ParseLiteral(types.DurationLiteral, text); err == nil {
			return b
		}
	}
	return types.EncodeText(text)
}

var durationType, _ = types.Native("duration")
