// Package restriction evaluates the WHERE clause of a plan: bound values become partition keys, ranges of tokens
// and ranges of clustering keys.
//
// A where.Choice (= or IN) becomes a Listing of its values (listing.go), which may be millions. Several of them
// become a product (also there), whose combinations are made when they are read. AppendKeys (keys.go) makes the
// serialized partition keys, AppendSlices (slices.go) the ranges of clustering keys, and TokenRange (tokens.go) the
// range of tokens. values.go has the values of single columns and tuples, and the errors about null and unset values.
//
// Each function gets the expr.Context of its execution and calls Step while it works on many values.
package restriction
