// Package expr has typed expressions, and checks terms: it gives them their types and makes expressions of them.
//
// A Checker works on the terms of one statement. Check takes a term and its Receiver, the column or argument that will
// get the value, and returns an Expr. Constants become the bytes of their value at once. Expr.Eval computes from a
// Context the parts that depend on one execution: bound values, functions such as now(), and in selections the row.
//
// # Scopes
//
// A Scope is the surroundings of terms: the names they use, the table they are about, and whether they are values or
// selectors. VALUES, SET, WHERE, USING, LIMIT, the arguments of masks and INITCOND have values. A SELECT list has
// selectors, and values again between the brackets of m[key]. Cassandra has a class for each of the two, and they
// differ in this:
//
//	                         values                            selectors
//	column, field, element   are not there                     are terms
//	aggregates               are refused                       are terms
//	functions                are chosen for the receiver       are chosen by the arguments alone
//	[a]                      is for its receiver only          has a type, or is a vector
//	{a: b}                   is a user type's value            may be a map whose keys are columns
//	{1: a}                   has a type                        takes the expected one
//	(a)                      is a tuple                        is a
//	(type) a                 has the type                      has the type, frozen
//
// Another clause is another Scope with other receivers. Another form of term is a case in Checker.value or
// Checker.selector, in Checker.ownType if it has a type by itself, in Checker.workOutFit, and in printer.term.
//
// # Findings
//
// Info keeps it for each term, beside the tree, which never changes: the function that was chosen, the types, how well
// the term fits others. The texts of errors (Info.Text) and the names of result columns (Info.Name) are made from it.
//
// # The order of complaints
//
// The first complaint is the one that a client gets, so the order of phases is Cassandra's. For a selector:
//
//	names       Checker.Resolve     columns, functions, types, from the inside to the outside
//	types       Checker.selector    selectors, from the outside to the inside
//
// For a value:
//
//	function    Checker.function    a call's, by the form of its arguments: Checker.fit, Checker.exactType
//	receiver    Checker.call        its result is for the receiver
//	parts       Checker.fits        all parts of a literal are for it; one that is valid nowhere is refused at once
//	values      Checker.value       then each part by itself
package expr
