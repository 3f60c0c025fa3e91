// Package paging encodes the end of a page as bytes for the client, who returns them to get the next page.
//
// A State names the last row and the rows that are left under the limits (state.go).
// describe.go has the states of DESCRIBE.
package paging
