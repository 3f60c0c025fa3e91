package expr

// Parts are the expressions that e is computed from.
func Parts(e Expr) []Expr {
	switch e := e.(type) {
	case *Call:
		return e.Args
	case *Aggregate:
		return e.Args
	case *Composed:
		return e.Parts
	case *JSONRow:
		return e.Values
	case *Hinted:
		return []Expr{e.Value}
	case *Stamp:
		return []Expr{e.Of}
	case *Field:
		return []Expr{e.Of}
	case *Element:
		return []Expr{e.Of, e.Key}
	case *Slice:
		parts := []Expr{e.Of}
		for _, bound := range []*Key{e.From, e.To} {
			if bound != nil {
				parts = append(parts, bound)
			}
		}
		return parts
	}
	return nil
}
