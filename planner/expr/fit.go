package expr

import (
	"slices"

	"github.com/cqld/cqld/cql"
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/functions"
	"github.com/cqld/cqld/cql/types"
)

// fit is how well a term fits values of a type: the choice of functions and the refusals of literals rest on it. Of a
// call that cannot be resolved fits here: its error is found later. The error is for terms that are valid
// nowhere: nothing else is said of a statement that has one.
func (c *Checker) fit(t cql.Term, to types.Type) (functions.Fit, error) {
	if c.passing > 0 {
		return c.workOutFit(t, to)
	}
	facts := c.of(t)
	for _, known := range facts.fits {
		if known.to == to {
			return known.fit, known.err
		}
	}
	fit, err := c.workOutFit(t, to)
	facts.fits = append(facts.fits, fitting{to, fit, err})
	return fit, err
}

// fits reports whether a part of a literal fits. Nothing is kept of constants: they are asked about once.
func (c *Checker) fits(t cql.Term, to types.Type) (bool, error) {
	if l, ok := t.(*cql.Literal); ok {
		return literalFits(l, to), nil
	}
	fit, err := c.fit(t, to)
	return fit != functions.NoFit, err
}

// workOutFit is fit without a memory.
func (c *Checker) workOutFit(t cql.Term, to types.Type) (functions.Fit, error) {
	switch t := t.(type) {
	case *cql.Literal:
		return fitLiteral(t, to), nil
	case *cql.TypeHint:
		of, err := c.hinted(t)
		if err != nil {
			return functions.WeakFit, nil
		}
		return fitHint(to, of), nil
	case *cql.ListLiteral:
		return c.fitList(t, to)
	case *cql.SetLiteral:
		if _, isMap := to.(*types.Map); isMap && t.Elements.Len() == 0 {
			return functions.WeakFit, nil
		}
		set, ok := to.(*types.Set)
		if !ok {
			return functions.NoFit, nil
		}
		return c.fitAll(t.Elements, set.Elem)
	case *cql.MapLiteral:
		return c.fitMap(t.Keys, t.Values, to)
	case *cql.UserTypeLiteral:
		return c.fitFields(t, to)
	case *cql.TupleLiteral:
		return c.fitTuple(t, to)
	case *cql.Call, *cql.Cast, *cql.Arithmetic:
		if !c.Selects {
			return c.fitResult(t, to), nil
		}
	case *cql.Marker:
		return functions.WeakFit, nil
	}
	of := c.exactType(t)
	if of == nil {
		return functions.NoFit, nil
	}
	if !types.IsMultiCell(of) { // arguments of users' functions are declared without frozen
		to = types.Freeze(to)
	}
	return functions.TypeFit(to, of), nil
}

// fitResult is fit of a call whose function is chosen by the type.
func (c *Checker) fitResult(t cql.Term, to types.Type) functions.Fit {
	f, err := c.function(t, Receiver{Type: to}, nil)
	if err != nil || functions.IsFamily(f.Name) {
		return functions.WeakFit
	}
	return functions.TypeFit(to, f.Returns)
}

// fitLiteral is fit of a literal: it fits best the type that it looks like.
func fitLiteral(l *cql.Literal, to types.Type) functions.Fit {
	switch {
	case !literalFits(l, to):
		return functions.NoFit
	case to == literalType(l):
		return functions.ExactFit
	}
	return functions.WeakFit
}

// fitAll is the worst fit among terms. Without any, all types are equally good.
func (c *Checker) fitAll(terms cql.Terms, to types.Type) (functions.Fit, error) {
	if terms.Len() == 0 {
		return functions.WeakFit, nil
	}
	worst := functions.ExactFit
	err := c.Each(terms, func(t cql.Term) error {
		fit, err := c.fit(t, to)
		worst = min(worst, fit)
		return err
	})
	return worst, err
}

// noList is for a list where none can be.
func noList(t types.Type) error {
	return cqlerr.Invalidf("Unexpected receiver type '%s'; only list and vector are expected", t)
}

// fitList is fit of a list or vector. Selected vectors that are too long or too short are found later.
func (c *Checker) fitList(l *cql.ListLiteral, to types.Type) (functions.Fit, error) {
	switch to := to.(type) {
	case *types.List:
		return c.fitAll(l.Elements, to.Elem)
	case *types.Vector:
		if c.Selects {
			return c.fitAll(l.Elements, types.Freeze(to.Elem))
		}
		if l.Elements.Len() == to.Dim {
			return c.fitAll(l.Elements, to.Elem)
		}
	default:
		if !c.Selects {
			return functions.NoFit, noList(to)
		}
	}
	return functions.NoFit, nil
}

// fitMap is fit of a map. The parts of a selected one are resolved first.
func (c *Checker) fitMap(keys, values cql.Terms, to types.Type) (functions.Fit, error) {
	if c.Selects {
		if err := c.resolveAll(slices.Concat(keys.Parts, values.Parts)); err != nil {
			return functions.NoFit, err
		}
	}
	m, ok := to.(*types.Map)
	if !ok {
		return functions.NoFit, nil
	}
	key, err := c.fitAll(keys, m.Key)
	if err != nil {
		return key, err
	}
	value, err := c.fitAll(values, m.Value)
	return min(key, value), err
}

// fitFields is fit of {a: b}: a user type's value, or among selectors a map whose keys are columns.
func (c *Checker) fitFields(l *cql.UserTypeLiteral, to types.Type) (functions.Fit, error) {
	u, ok := to.(*types.UserType)
	switch {
	case !ok && c.Selects:
		return c.fitMap(cql.Terms{Parts: c.keyColumns(l)}, cql.Terms{Parts: l.Values}, to)
	case !ok:
		return functions.NoFit, nil
	}
	for _, i := range lastFields(l.Fields) {
		at := u.Field(l.Fields[i])
		if at < 0 && !c.Selects {
			continue
		}
		if at < 0 {
			return functions.NoFit, nil
		}
		if fit, err := c.fit(l.Values[i], u.Fields[at].Type); fit == functions.NoFit || err != nil {
			return functions.NoFit, err
		}
	}
	return functions.WeakFit, nil
}

// fitTuple is fit of a tuple, or of a term in parentheses, which among selectors may be of a user type.
func (c *Checker) fitTuple(l *cql.TupleLiteral, to types.Type) (functions.Fit, error) {
	elems, ok := components(to)
	_, user := to.(*types.UserType)
	switch {
	case len(l.Elements) == 1 && (!ok || user && c.Selects):
		return c.fit(l.Elements[0], to)
	case !ok || len(l.Elements) > len(elems):
		return functions.NoFit, nil
	}
	for i, e := range l.Elements {
		if fit, err := c.fit(e, elems[i]); fit == functions.NoFit || err != nil {
			return functions.NoFit, err
		}
	}
	return functions.WeakFit, nil
}
