// Package expr has typed expressions: terms of the language once the types around them are known.
//
// A Binder turns a term and its Receiver, the column or argument that will get the value, into an Expr.
// Constants become the bytes of their value at once; what depends on one execution, bound values,
// functions such as now(), and in selections the row, is computed by Expr.Eval from a Context.
//
// Start with Expr, then Binder.Bind. Each kind of expression is in a file of its own.
package expr
