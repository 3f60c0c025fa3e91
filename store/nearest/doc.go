// Package nearest finds the vectors that are nearest to a given one, approximately: in a graph whose nodes are vectors
// with the keys of their rows (a hierarchical navigable small world, by Malkov and Yashunin).
//
// A Graph never changes, so searches take no lock. A Builder adds nodes to a copy of one and makes the next: the
// vectors are shared, the links are copied. Nodes cannot be taken out. They can be marked dead: a search passes
// through them and does not return them.
package nearest
