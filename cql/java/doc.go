// Package java compiles and runs the bodies of user-defined functions, which are written in Java.
//
//	CREATE FUNCTION ks.plus (a int, b int) RETURNS NULL ON NULL INPUT RETURNS int LANGUAGE java AS 'return a + b;';
//
// Compile checks a body as Java's compiler does and makes a Function of it. Function.Call takes and returns values of
// CQL types. State runs the functions of an aggregate.
//
// # What bodies can have
//
// Local variables and var, all operators, if, for, while, do, switch, labels, return and throw; the primitive types,
// arrays, and the classes that library_*.go declare: the computing ones of java.lang, java.math and java.util, and
// Cassandra's UDTValue, TupleValue, LocalDate, Duration and UDFContext (udfContext). Everything else is refused with a
// CompileError that names it: try, lambda expressions, classes, wildcards, reflection, threads, input and output.
//
// javaType tells which Java type each CQL type has. Numbers and booleans are primitive unless the function is CALLED ON
// NULL INPUT. As in Cassandra, java.lang and java.util are imported, and classes of other packages need their full
// names: java.math.BigDecimal.
//
// # From text to closures
//
// token.go cuts the body into tokens, and parse_*.go make a tree of them, whose nodes are in ast.go. compile*.go go
// through the tree: they find the type of each expression, choose the methods that calls mean, check that variables
// have a value where they are read and that statements can be reached, and make a closure of each node. The closure
// of an expression has one of four Go types, by its Java type (see expr), so that numbers are never boxed on the way:
//
//	a + b   becomes   func(t *thread) int64 { return int64(int32(x(t) + y(t))) }
//
// Variables are slots of the thread, which is one call while it runs. A statement returns a signal: it ended normally,
// or with return, break or continue. Exceptions are panics that Call recovers, as bodies cannot catch them.
//
// # Objects
//
// A reference is an object: a pointer to a str, a box, a list and so on, so that == on references is == on pointers.
// A class of the library is a declaration: its head and the heads of its methods in Java, and the Go functions that run
// them. A hash map has Java's hash codes and buckets, since the order of its elements shows in results.
//
// # Budget
//
// A call may take Env.Steps steps and allocate Env.Memory bytes. Each turn of a loop and each call of a method is a
// step, and every method of the library has a price: how many more steps its operands make of a call (price.go).
// Memory other than boxed numbers is counted before it is allocated. Env.Step is called every few thousand steps, so
// that the caller can yield or end the call at a deadline. Nobody can end a call in between, so that one operation
// takes a tenth of a second at most: numbers and regular expressions have a largest size (maxDigits, maxInstructions).
//
// Compile is bounded too: by the length of the body (maxSource), its nodes (maxNodes) and nesting (maxDepth), the size
// of its types (maxTypeSize) and what the compiler does with them (maxWork).
//
// A stack that overflows ends the process, which nobody can recover. So each recursion over objects counts its depth
// (thread.nest).
//
// # Tests
//
// The expected results in testdata come from Cassandra itself: testdata/oracle has the program that asks it.
package java
