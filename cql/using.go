package cql

// Using is a USING clause; nil where an option is not given.
type Using struct {
	Timestamp Term
	TTL       Term
}
