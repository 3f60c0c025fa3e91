package types

import "unicode/utf8"

// ValidateBound is Validate for the value of a bind marker. In a list that is bound itself, not as a part of another
// value, elements may be null: such lists can be stored, but not as a partition key. Texts inside a bound list, set or
// map must be UTF-8, more strictly than a text that is bound itself.
func ValidateBound(t Type, b []byte) error {
	switch t := t.(type) {
	case *List:
		return validateElements("list", b, checkNullable, t.Elem)
	case *Set:
		return validateElements("set", b, checkBoundElement, t.Elem)
	case *Map:
		return validateElements("map", b, checkBoundElement, t.Key, t.Value)
	}
	return t.Validate(b)
}

// checkNullable is checkBoundElement for elements that may be null.
func checkNullable(t Type, e []byte) error {
	if e == nil {
		return nil
	}
	return checkBoundElement(t, e)
}

// checkBoundElement checks an element of a bound collection. Cassandra makes a Java object of it.
func checkBoundElement(t Type, e []byte) error {
	if err := checkElement(t, e); err != nil {
		return err
	}
	return checkTexts(t, e)
}

// checkTexts refuses a valid value with a text that is not UTF-8. Inside tuples and user types there may be some.
func checkTexts(t Type, b []byte) error {
	switch t := t.(type) {
	case *textType:
		if !utf8.Valid(b) {
			return invalidf("Invalid UTF-8 bytes %x", b)
		}
	case *List:
		return validateElements("list", b, checkTexts, t.Elem)
	case *Set:
		return validateElements("set", b, checkTexts, t.Elem)
	case *Map:
		return validateElements("map", b, checkTexts, t.Key, t.Value)
	case *Vector:
		for e := range VectorElements(t, b) {
			if err := checkTexts(t.Elem, e); err != nil {
				return err
			}
		}
	}
	return nil
}
