package types

// counterType is a number of 8 bytes that is only ever added to. Its values are those of bigint, but it
// counts as varying in length.
type counterType struct{ bigintType }

// FixedLength is 0: Cassandra's counters say that they vary in length.
func (*counterType) FixedLength() int { return 0 }

// ParseJSON takes nothing: counters are not written but added to.
func (*counterType) ParseJSON(JSON) ([]byte, error) {
	return nil, invalidf("Counters cannot be read from JSON")
}
