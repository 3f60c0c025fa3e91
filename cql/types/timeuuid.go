package types

import (
	"cmp"
	"encoding/binary"
	"sync/atomic"
	"time"

	"github.com/cqld/cqld/cql/types/json"
)

// timeuuidType is a UUID of version 1. It sorts by its time, then by the other bytes as signed numbers.
type timeuuidType struct{ fixedSize }

// Validate takes a UUID of version 1 or no bytes.
func (t *timeuuidType) Validate(b []byte) error {
	if err := t.fixedSize.Validate(b); err != nil || len(b) == 0 {
		return err
	}
	if b[6]>>4 != 1 {
		// Cassandra prints the first digit, which is not the version.
		return invalidf("Invalid version for TimeUUID type: 0x%x", b[0]>>4)
	}
	return nil
}

// signedBytes makes the second halves of UUIDs sort by signed bytes.
const signedBytes = 0x8080808080808080

// Compare orders by time, then by the last 8 bytes as signed ones.
func (*timeuuidType) Compare(a, b []byte) int {
	if order, done := compareEmpty(a, b); done {
		return order
	}
	x, y := timeFirst(binary.BigEndian.Uint64(a)), timeFirst(binary.BigEndian.Uint64(b))
	if x != y {
		return cmp.Compare(x, y)
	}
	return cmp.Compare(binary.BigEndian.Uint64(a[8:])^signedBytes, binary.BigEndian.Uint64(b[8:])^signedBytes)
}

// AppendKey appends the time with its most significant bits first, then the last 8 bytes with their sign bits
// inverted.
func (*timeuuidType) AppendKey(dst, b []byte, desc bool) []byte {
	if len(b) == 0 {
		return append(dst, keyEmpty^mask(desc))
	}
	first := timeFirst(binary.BigEndian.Uint64(b))
	return appendUUIDKey(dst, first, binary.BigEndian.Uint64(b[8:])^signedBytes, desc)
}

// DecodeKey moves the parts of the time to their places in a UUID.
func (*timeuuidType) DecodeKey(dst, key []byte, desc bool) (value, rest []byte, err error) {
	n := len(dst)
	value, rest, err = decodeFixedKey(dst, key, 16, 0, desc)
	if err != nil || len(value) == n {
		return value, rest, err
	}
	b := value[n:]
	binary.BigEndian.PutUint64(b, timeLast(binary.BigEndian.Uint64(b)))
	binary.BigEndian.PutUint64(b[8:], binary.BigEndian.Uint64(b[8:])^signedBytes)
	return value, rest, nil
}

// ParseLiteral takes a UUID of version 1.
func (*timeuuidType) ParseLiteral(kind LiteralKind, text string) ([]byte, error) {
	if kind != UUIDLiteral {
		return nil, ErrKind
	}
	u, ok := ParseUUID(text)
	if !ok {
		return nil, invalidf("Unknown timeuuid representation: %s", text)
	}
	if u[6]>>4 != 1 {
		return nil, invalidf("TimeUUID supports only version 1 UUIDs")
	}
	return u[:], nil
}

// Format prints the UUID without quotes, null for the empty value.
func (*timeuuidType) Format(b []byte) string { return (*uuidType)(nil).Format(b) }

// ParseJSON takes a string with a UUID of version 1.
func (*timeuuidType) ParseJSON(v json.Value) ([]byte, error) {
	return jsonString(TimeUUID, v, "a string representation of a timeuuid")
}

// AppendJSON prints the UUID as a string.
func (*timeuuidType) AppendJSON(dst, b []byte) []byte { return appendJSONQuoted(dst, UUID, b) }

// gregorian is the number of ticks of 100 ns from 1582-10-15, where UUIDs count from, to 1970.
const gregorian = 0x01B21DD213814000

// ticksPerMilli is how many ticks of a version 1 UUID make a millisecond.
const ticksPerMilli = 10000

// timeUUID returns a version 1 UUID for a number of ticks since 1970. A time before 1582 overwrites the version.
func timeUUID(ticks int64, rest uint64) (u [16]byte) {
	binary.BigEndian.PutUint64(u[:], timeLast(1<<60|uint64(ticks+gregorian)))
	binary.BigEndian.PutUint64(u[8:], rest)
	return u
}

// TimeUUIDMillis is the time of a version 1 UUID in milliseconds since 1970, rounded towards 1970.
func TimeUUIDMillis(u []byte) int64 {
	ticks := timeFirst(binary.BigEndian.Uint64(u)) & (1<<60 - 1)
	micros := int64(ticks/10) - gregorian/10
	return micros / 1000
}

// MinTimeUUID is the least timeuuid of a millisecond since 1970.
func MinTimeUUID(millis int64) [16]byte { return timeUUID(millis*ticksPerMilli, signedBytes) }

// MaxTimeUUID is the greatest timeuuid of a millisecond since 1970.
func MaxTimeUUID(millis int64) [16]byte {
	return timeUUID((millis+1)*ticksPerMilli-1, 0x7F7F7F7F7F7F7F7F)
}

// UUIDClock makes version 1 UUIDs, each later than the one before. It may be used concurrently.
type UUIDClock struct {
	last atomic.Int64
	rest uint64
}

// NewUUIDClock returns a clock whose UUIDs all end in the given random bytes, with the bits for random ones set.
func NewUUIDClock(random [8]byte) *UUIDClock {
	random[0] = random[0]&0x3F | 0x80 // the variant of RFC 4122
	random[2] |= 0x01                 // a node that is not a network card
	return &UUIDClock{rest: binary.BigEndian.Uint64(random[:])}
}

// Next returns the UUID of now, or of the tick after the last one if that is later.
func (c *UUIDClock) Next(now time.Time) [16]byte { return timeUUID(c.Ticks(now)-gregorian, c.rest) }

// Ticks returns the number of 100 ns from 1582-10-15 to now, or one more than it returned last if that is later.
func (c *UUIDClock) Ticks(now time.Time) int64 {
	ticks := now.Unix()*1e7 + int64(now.Nanosecond())/100 + gregorian
	for {
		last := c.last.Load()
		next := max(ticks, last+1)
		if c.last.CompareAndSwap(last, next) {
			return next
		}
	}
}

// Rest returns the last 8 bytes of all UUIDs of the clock, as a number.
func (c *UUIDClock) Rest() uint64 { return c.rest }
