package types

import "encoding/binary"

// appendElementsKey appends the key of a list, set or map: each element behind a byte that says whether
// it is null, and keyEnd.
func appendElementsKey(dst, b []byte, desc bool, types ...Type) []byte {
	m := mask(desc)
	rest := b[min(4, len(b)):]
	for range DecodeCount(b) {
		for _, t := range types {
			e, r, ok := readElement(rest)
			if !ok {
				return append(dst, keyEnd^m)
			}
			dst = appendNullableKey(dst, t, e, desc)
			rest = r
		}
	}
	return append(dst, keyEnd^m)
}

// appendNullableKey appends the key of an element that may be null.
func appendNullableKey(dst []byte, t Type, e []byte, desc bool) []byte {
	m := mask(desc)
	if e == nil {
		return append(dst, keyNull^m)
	}
	return t.AppendKey(append(dst, keyElement^m), e, desc)
}

// decodeNullableKey appends an element behind its length, as appendNullableKey encoded it. end is true
// when there is keyEnd instead.
func decodeNullableKey(dst, key []byte, t Type, desc bool) (value, rest []byte, end bool, err error) {
	if len(key) == 0 {
		return nil, nil, false, errKey
	}
	marker := key[0] ^ mask(desc)
	key = key[1:]
	switch marker {
	case keyEnd:
		return dst, key, true, nil
	case keyNull:
		return AppendElement(dst, nil), key, false, nil
	case keyElement:
	default:
		return nil, nil, false, errKey
	}
	at := len(dst)
	value, rest, err = t.DecodeKey(append(dst, 0, 0, 0, 0), key, desc)
	if err != nil {
		return nil, nil, false, err
	}
	binary.BigEndian.PutUint32(value[at:], uint32(len(value)-at-4))
	return value, rest, false, nil
}

// decodeElementsKey decodes what appendElementsKey made.
func decodeElementsKey(dst, key []byte, desc bool, types ...Type) (value, rest []byte, err error) {
	at := len(dst)
	value, rest = append(dst, 0, 0, 0, 0), key
	for n := 0; ; n++ {
		for i, t := range types {
			var end bool
			value, rest, end, err = decodeNullableKey(value, rest, t, desc)
			if err != nil || end && i > 0 {
				return nil, nil, errKey
			}
			if end {
				binary.BigEndian.PutUint32(value[at:], uint32(n))
				return value, rest, nil
			}
		}
	}
}
