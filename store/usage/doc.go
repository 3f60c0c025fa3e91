// Package usage keeps, for each table, an estimate of its size, the mutations that are being committed, and when it
// should be swept.
package usage
