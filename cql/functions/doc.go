// Package functions has the native functions, one declaration each, grouped in a file per family.
//
// A Function is found by Resolve for a name and the types of its arguments. It is pure: what it may know
// of the clock and of randomness is in Env. Aggregates are declared the same way and make a state for each
// group of rows. The families are listed in native.go; token, which depends on a table, is made by Token.
// Users' functions are known by their signatures only, and chosen from beside native ones.
//
// Specification: the CQL reference's chapter on functions; what it leaves open was asked of Cassandra 5.0.
package functions
