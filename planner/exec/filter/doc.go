// Package filter compares rows with restrictions that keys do not answer: with ALLOW FILTERING, or because
// an index serves them.
//
// Conditions makes a Condition of each where.Filter, with its values evaluated. Most filters compare as their types
// do (filter.go). An index that compares in another way decides instead: storage-attached indexes keep
// terms of values (sai.go), SSTable-attached indexes match patterns of LIKE (sasi.go), and indexes of the first kind
// compare bytes (legacy.go). Indexes analyze text with cql/analysis. Lookup (lookup.go) returns the entries of an
// index that the store reads for a filter.
package filter
