package paging

import (
	"encoding/binary"

	"github.com/cqld/cqld/cql/cqlerr"
)

// A paging state of DESCRIBE has, in place of the partition key, everything that its rows depend on:
//
//	<format [short] 1><release [string]><schema version [uuid]><rows of the pages before [long]>
const (
	describedFormat = 1

	// release is the version of Cassandra that cqld answers like.
	release = "5.0.8"
)

// EncodeDescribed encodes the paging state of DESCRIBE after a number of rows.
func EncodeDescribed(rows, protocol int, version [16]byte) []byte {
	b := binary.BigEndian.AppendUint16(nil, describedFormat)
	b = appendShortBytes(b, []byte(release))
	b = append(b, version[:]...)
	b = binary.BigEndian.AppendUint64(b, uint64(rows))
	s := State{Partition: b, Remaining: NoLimit, InPartition: NoLimit}
	return s.Encode(protocol)
}

// Described returns the number of rows on the pages before, of a state of DESCRIBE. The schema must have the version
// that it had then.
func (s *State) Described(version [16]byte) (rows int, err error) {
	d := decoder{b: s.Partition, ok: true}
	format := d.take(2)
	if format == nil || binary.BigEndian.Uint16(format) != describedFormat {
		return 0, cqlerr.Invalidf("Incompatible paging state")
	}
	if got := string(d.shortBytes()); d.ok && got != release {
		return 0, cqlerr.Invalidf("The server version of the paging state %s is different from the one of the server %s",
			got, release)
	}
	if got := d.take(len(version)); d.ok && [16]byte(got) != version {
		return 0, cqlerr.Invalidf("The schema has changed since the previous page of the DESCRIBE statement result. Please " +
			"retry the DESCRIBE statement.")
	}
	offset := d.take(8)
	if !d.ok || len(d.b) > 0 || binary.BigEndian.Uint64(offset) > NoLimit {
		return 0, errNotState()
	}
	return int(binary.BigEndian.Uint64(offset)), nil
}
