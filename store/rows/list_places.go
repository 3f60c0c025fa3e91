package rows

import "encoding/binary"

// AppendPlace appends the path of a list's element. Elements are ordered by at, then by id. at is the time of an
// append, and minus the time of a prepend, which comes in front of all elements that were there.
func AppendPlace(dst []byte, at int64, id uint64) []byte {
	dst = binary.BigEndian.AppendUint64(dst, uint64(at)^1<<63)
	return binary.BigEndian.AppendUint64(dst, id)
}
