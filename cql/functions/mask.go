package functions

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha3"
	"crypto/sha512"
	gohash "hash"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
)

// stringParameter takes text and ascii.
var stringParameter = fixed("[text|varchar|ascii]", types.Text, types.ASCII)

// maskFamilies hide values, or parts of them.
var maskFamilies = map[string]*family{
	"mask_null": unary(parameter{text: "any"}, func(name string, t types.Type) *Function {
		return &Function{
			Name: name, Args: []types.Type{t}, Returns: AsReturned(t),
			Doc:  "Null instead of any value.",
			Call: func(*Call) (types.Value, error) { return types.Value{}, nil },
		}
	}),
	"mask_default": unary(parameter{text: "any"}, func(name string, t types.Type) *Function {
		masked := maskedValue(t)
		return &Function{
			Name: name, Args: []types.Type{t}, Returns: AsReturned(t),
			Doc:  "One and the same value of a type instead of any, also of null: zero, four asterisks, an empty collection.",
			Call: func(*Call) (types.Value, error) { return types.Value{Bytes: masked}, nil },
		}
	}),
	"mask_replace": {
		params: []parameter{{text: "any", receiver: true}, {text: "any", receiver: true, other: 1, follow: true}},
		make: func(name string, args []types.Type) (*Function, error) {
			return &Function{
				Name: name, Args: args, Returns: AsReturned(args[1]),
				Doc:  "The second value instead of the first.",
				Call: func(c *Call) (types.Value, error) { return c.Args[1], nil },
			}, nil
		},
	},
	"mask_inner": partialMask("A text without what stands between its first and its last characters.",
		func(i, first, last int32) bool { return i >= first && i <= last }),
	"mask_outer": partialMask("A text without its first and its last characters.",
		func(i, first, last int32) bool { return i < first || i > last }),
	"mask_hash": {
		params: []parameter{{text: "any"}, fixed("text", types.Text)}, optional: 1,
		make: func(name string, args []types.Type) (*Function, error) {
			return &Function{
				Name: name, Args: append(args[:1:1], []types.Type{types.Text}[:len(args)-1]...), Returns: types.Blob,
				Doc:    "The digest of a value's bytes, SHA-256 if nothing else is asked for.",
				Call:   hash,
				Costly: isUnbounded(args[0]),
				Prepare: func(arg int, v types.Value) (err error) {
					if arg == 1 {
						_, err = digestNamed(v)
					}
					return err
				},
			}, nil
		},
	},
}

// maskedValue is the value that mask_default shows.
func maskedValue(t types.Type) []byte {
	switch t := t.(type) {
	case *types.List, *types.Set, *types.Map:
		return types.NewList(nil)
	case *types.Tuple:
		return types.NewTuple(maskedValues(t.Elems))
	case *types.UserType:
		parts := make([][]byte, len(t.Fields))
		for i, f := range t.Fields {
			parts[i] = maskedValue(f.Type)
		}
		return types.NewTuple(parts)
	case *types.Vector:
		parts := make([][]byte, t.Dim)
		for i := range parts {
			parts[i] = maskedValue(t.Elem)
		}
		return types.NewVector(t, parts)
	}
	switch t {
	case types.ASCII, types.Text:
		return []byte("****")
	case types.Blob, types.Empty:
		return []byte{}
	case types.Boolean, types.TinyInt, types.VarInt:
		return make([]byte, 1)
	case types.SmallInt:
		return make([]byte, 2)
	case types.Duration:
		return make([]byte, 3)
	case types.Int, types.Float, types.Inet:
		return make([]byte, 4)
	case types.Decimal:
		return make([]byte, 5)
	case types.Date:
		return types.EncodeDate(0)
	case types.UUID:
		return make([]byte, 16)
	case types.TimeUUID, types.LegacyTimeUUID:
		u := types.MinTimeUUID(0)
		return u[:]
	}
	return make([]byte, 8)
}

// maskedValues are the masked values of several types.
func maskedValues(ts []types.Type) [][]byte {
	all := make([][]byte, len(ts))
	for i, t := range ts {
		all[i] = maskedValue(t)
	}
	return all
}

// partialMask makes the family of a function that hides the characters for which hides is true: its arguments
// are the number of a character, and the numbers of the first and the last inner one.
func partialMask(doc string, hides func(i, first, last int32) bool) *family {
	whole := fixed("int", types.Int)
	return &family{
		params: []parameter{stringParameter, whole, whole, fixed("text", types.Text)}, optional: 1,
		make: func(name string, args []types.Type) (*Function, error) {
			as := append(args[:1:1], []types.Type{types.Int, types.Int, types.Text}[:len(args)-1]...)
			prepare := func(arg int, v types.Value) error {
				if arg != 3 {
					return nil
				}
				_, err := padding(name, []types.Value{v})
				return err
			}
			return &Function{
				Name: name, Args: as, Returns: args[0], Doc: doc, Prepare: prepare, Costly: true,
				Call: func(c *Call) (types.Value, error) {
					pad, err := padding(name, c.Args[3:])
					text := c.Args[0].Bytes
					if err != nil || len(text) == 0 {
						return c.Args[0], err
					}
					p := c.pacer()
					chars := decodeText(p, text)
					begin, end := number32(c.Args[1]), number32(c.Args[2])
					last := int32(len(chars)) - 1 - end
					for i := range chars {
						if hides(int32(i), begin, last) {
							chars[i] = pad
						}
					}
					masked := encodeText(p, chars, args[0] == types.ASCII)
					return types.Value{Bytes: masked}, p.err
				},
			}, nil
		},
	}
}

// padding is the character that hidden ones are replaced with.
func padding(function string, arg []types.Value) (uint16, error) {
	if len(arg) == 0 || arg[0].Bytes == nil {
		return '*', nil
	}
	chars := utf16.Encode([]rune(string(arg[0].Bytes)))
	if len(chars) != 1 {
		return 0, cqlerr.Invalidf("The padding argument for function system.%s should be single-character, "+
			"but '%s' has %d characters.", function, arg[0].Bytes, len(chars))
	}
	return chars[0], nil
}

// number32 is an int, or 0 for none.
func number32(v types.Value) int32 {
	if len(v.Bytes) == 0 {
		return 0
	}
	return types.DecodeInt(v.Bytes)
}

// decodeText reads a text as characters of 16 bits, until p is over.
func decodeText(p *pacer, text []byte) []uint16 {
	chars := make([]uint16, 0, len(text))
	for len(text) > 0 && !p.read(1) {
		r, n := utf8.DecodeRune(text)
		chars, text = utf16.AppendRune(chars, r), text[n:]
	}
	return chars
}

// encodeText writes characters of 16 bits, until p is over. Halves of longer ones, and characters that ascii does not
// have, become question marks.
func encodeText(p *pacer, chars []uint16, ascii bool) []byte {
	text := make([]byte, 0, len(chars))
	for i := 0; i < len(chars) && !p.read(1); i++ {
		r := rune(chars[i])
		if utf16.IsSurrogate(r) {
			whole := rune('�')
			if i+1 < len(chars) {
				whole = utf16.DecodeRune(r, rune(chars[i+1]))
			}
			if r = '?'; whole != '�' {
				r = whole
				i++
			}
		}
		if ascii && r > 127 {
			r = '?'
		}
		text = utf8.AppendRune(text, r)
	}
	return text
}

// digests are the algorithms of mask_hash, in lower case and without the hyphen after sha.
var digests = map[string]func() gohash.Hash{
	"md5":        md5.New,
	"sha":        sha1.New,
	"sha1":       sha1.New,
	"sha224":     sha256.New224,
	"sha256":     sha256.New,
	"sha384":     sha512.New384,
	"sha512":     sha512.New,
	"sha512/224": sha512.New512_224,
	"sha512/256": sha512.New512_256,
	"sha3-224":   func() gohash.Hash { return sha3.New224() },
	"sha3-256":   func() gohash.Hash { return sha3.New256() },
	"sha3-384":   func() gohash.Hash { return sha3.New384() },
	"sha3-512":   func() gohash.Hash { return sha3.New512() },
}

// digestNamed finds an algorithm, of null the usual one.
func digestNamed(name types.Value) (func() gohash.Hash, error) {
	algorithm := "SHA-256"
	if name.Bytes != nil {
		algorithm = string(name.Bytes)
	}
	digest := digests[strings.Replace(strings.ToLower(algorithm), "sha-", "sha", 1)]
	if digest == nil {
		return nil, cqlerr.Invalidf("Hash algorithm not found: %s", algorithm)
	}
	return digest, nil
}

// hash is mask_hash. The algorithm is looked for even if there is nothing to hash.
func hash(c *Call) (types.Value, error) {
	var name types.Value
	if len(c.Args) > 1 {
		name = c.Args[1]
	}
	digest, err := digestNamed(name)
	if err != nil || c.Args[0].Bytes == nil {
		return types.Value{}, err
	}
	h, p := digest(), c.pacer()
	for part := range slices.Chunk(c.Args[0].Bytes, readAtOnce) {
		h.Write(part)
		if p.read(len(part)) {
			return types.Value{}, p.err
		}
	}
	return types.Value{Bytes: h.Sum(nil)}, nil
}
