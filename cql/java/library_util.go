package java

import (
	"bytes"
	"crypto/md5"
	"crypto/rand"
	"encoding/binary"
	"math"
	"net/netip"
	"strconv"

	"github.com/cqld/cqld/cql/types"
)

// utilClasses are Objects, UUID, ByteBuffer and InetAddress.
func utilClasses() []declaration {
	return []declaration{
		{classObjects, "final class java.util.Objects", []native{
			{"static boolean equals(Object, Object)", asItGoes, func(t *thread, a []value) value {
				return boolean(equalObjects(t, a[0].r, a[1].r))
			}},
			{"static int hashCode(Object)", asItGoes, func(t *thread, a []value) value {
				return number(int64(hashOf(t, a[0].r)))
			}},
			{"static int hash(Object...)", asItGoes, func(t *thread, a []value) value {
				x, ok := a[0].r.(*array)
				if !ok {
					return number(0)
				}
				h := int32(1)
				for _, o := range x.r {
					h = 31*h + hashOf(t, o)
				}
				return number(int64(h))
			}},
			{"static String toString(Object)", asItGoes, func(t *thread, a []value) value {
				return reference(t.textOf(a[0].r))
			}},
			{"static String toString(Object, String)", asItGoes, func(t *thread, a []value) value {
				if a[0].r == nil {
					return a[1]
				}
				return reference(t.textOf(a[0].r))
			}},
			{"static boolean isNull(Object)", fixed, func(_ *thread, a []value) value { return boolean(a[0].r == nil) }},
			{"static boolean nonNull(Object)", fixed, func(_ *thread, a []value) value { return boolean(a[0].r != nil) }},
			{"static <T> T requireNonNull(T)", fixed, func(_ *thread, a []value) value { return reference(a[0].notNull()) }},
			{"static <T> T requireNonNull(T, String)", fixed, func(_ *thread, a []value) value {
				if s, ok := a[1].r.(*str); ok && a[0].r == nil {
					throw(classNullPointerException, s.String())
				}
				return reference(a[0].notNull())
			}},
			{"static <T> T requireNonNullElse(T, T)", fixed, func(_ *thread, a []value) value {
				if a[0].r != nil {
					return a[0]
				}
				if a[1].r == nil {
					throw(classNullPointerException, "defaultObj")
				}
				return a[1]
			}},
		}, nil},
		{classUUID, "final class java.util.UUID implements Comparable<UUID>", []native{
			{"UUID(long, long)", fixed, func(t *thread, a []value) value {
				var u uuid
				binary.BigEndian.PutUint64(u[:8], uint64(a[0].n))
				binary.BigEndian.PutUint64(u[8:], uint64(a[1].n))
				return reference(t.uuid(u))
			}},
			{"static UUID randomUUID()", fixed, func(t *thread, _ []value) value {
				var random [16]byte
				rand.Read(random[:])
				return reference(t.uuid(types.RandomUUID(random)))
			}},
			{"static UUID fromString(String)", linear, func(t *thread, a []value) value {
				text := a[0].str().String()
				u, ok := types.ParseJavaUUID(text)
				if !ok {
					if len(text) > 36 {
						throw(classIllegalArgument, "UUID string too large")
					}
					throw(classIllegalArgument, "Invalid UUID string: "+text)
				}
				return reference(t.uuid(u))
			}},
			{"static UUID nameUUIDFromBytes(byte[])", linear, func(t *thread, a []value) value {
				u := uuid(md5.Sum(to[*array](a[0]).bytes(t)))
				u[6], u[8] = u[6]&0x0f|0x30, u[8]&0x3f|0x80
				return reference(t.uuid(u))
			}},
			{"long getMostSignificantBits()", fixed, on(func(_ *thread, u *uuid, _ []value) value { return number(u.half(0)) })},
			{"long getLeastSignificantBits()", fixed, on(func(_ *thread, u *uuid, _ []value) value {
				return number(u.half(8))
			})},
			{"int version()", fixed, on(func(_ *thread, u *uuid, _ []value) value { return integer(int(u[6] >> 4)) })},
			{"int variant()", fixed, on(func(_ *thread, u *uuid, _ []value) value {
				low := uint64(u.half(8))
				return integer(int(int64(low>>(64-low>>62)) & (int64(low) >> 63)))
			})},
			{"long timestamp()", fixed, on(func(_ *thread, u *uuid, _ []value) value {
				u.checkTimeBased()
				return number(int64(binary.BigEndian.Uint16(u[6:])&0xfff)<<48 | int64(binary.BigEndian.Uint16(u[4:]))<<32 |
					int64(binary.BigEndian.Uint32(u[:])))
			})},
			{"int clockSequence()", fixed, on(func(_ *thread, u *uuid, _ []value) value {
				u.checkTimeBased()
				return integer(int(binary.BigEndian.Uint16(u[8:]) & 0x3fff))
			})},
			{"long node()", fixed, on(func(_ *thread, u *uuid, _ []value) value {
				u.checkTimeBased()
				return number(u.half(8) & 0xffffffffffff)
			})},
		}, nil},
		{classByteBuffer, "class java.nio.ByteBuffer implements Comparable<ByteBuffer>", bufferMethods(), nil},
		{classInetAddress, "class java.net.InetAddress", []native{
			{"String getHostAddress()", fixed, on(func(t *thread, i *inetAddress, _ []value) value {
				return reference(t.ascii(types.FormatInet(i.b)))
			})},
			{"byte[] getAddress()", fixed, on(func(t *thread, i *inetAddress, _ []value) value {
				return reference(t.byteArray(i.b))
			})},
			{"boolean isLoopbackAddress()", fixed, inetIs(func(a netip.Addr) bool { return a.IsLoopback() })},
			{"boolean isAnyLocalAddress()", fixed, inetIs(func(a netip.Addr) bool { return a.IsUnspecified() })},
			{"boolean isMulticastAddress()", fixed, inetIs(func(a netip.Addr) bool { return a.IsMulticast() })},
			{"boolean isLinkLocalAddress()", fixed, inetIs(func(a netip.Addr) bool { return a.IsLinkLocalUnicast() })},
			{"boolean isSiteLocalAddress()", fixed, inetIs(func(a netip.Addr) bool {
				if a.Is4() {
					return a.IsPrivate()
				}
				b := a.As16()
				return b[0] == 0xfe && b[1]&0xc0 == 0xc0
			})},
			{"static InetAddress getLoopbackAddress()", fixed, func(t *thread, _ []value) value {
				t.alloc(32)
				return reference(&inetAddress{b: []byte{127, 0, 0, 1}})
			}},
		}, nil},
	}
}

// uuid is a UUID.
type uuid [16]byte

func (t *thread) uuid(u uuid) *uuid {
	t.alloc(16)
	return &u
}

func (*uuid) class() *class { return classUUID }

func (u *uuid) half(at int) int64 { return int64(binary.BigEndian.Uint64(u[at:])) }

func (u *uuid) checkTimeBased() {
	if u[6]>>4 != 1 {
		throw(classUnsupported, "Not a time-based UUID")
	}
}

func (u *uuid) hash(*thread) int32 { return hashLong(u.half(0) ^ u.half(8)) }

func (u *uuid) equals(_ *thread, o object) bool {
	other, ok := o.(*uuid)
	return ok && *u == *other
}

func (u *uuid) text(t *thread) *str { return t.ascii(types.FormatUUID(*u)) }

func (u *uuid) compare(_ *thread, o object) int {
	other := o.(*uuid)
	for _, at := range []int{0, 8} {
		switch a, b := u.half(at), other.half(at); {
		case a < b:
			return -1
		case a > b:
			return 1
		}
	}
	return 0
}

// inetAddress is an InetAddress without a name.
type inetAddress struct{ b []byte }

func inetIs(f func(netip.Addr) bool) any {
	return on(func(_ *thread, i *inetAddress, _ []value) value {
		a, _ := netip.AddrFromSlice(i.b)
		return boolean(f(a))
	})
}

func (*inetAddress) class() *class { return classInetAddress }

func (i *inetAddress) hash(*thread) int32 {
	var h int32
	for at := 0; at+4 <= len(i.b); at += 4 {
		if len(i.b) == 4 {
			return int32(binary.BigEndian.Uint32(i.b))
		}
		part := int32(0)
		for _, b := range i.b[at : at+4] {
			part = part<<8 + int32(int8(b)) // Java forgets to take the bytes as unsigned
		}
		h += part
	}
	return h
}

func (i *inetAddress) equals(_ *thread, o object) bool {
	other, ok := o.(*inetAddress)
	return ok && bytes.Equal(i.b, other.b)
}

func (i *inetAddress) text(t *thread) *str { return t.ascii("/" + types.FormatInet(i.b)) }

// storage has the bytes that buffers share. A buffer that was made of an array, or whose array was asked for, shares
// the bytes with the array.
type storage struct {
	raw   []byte
	array *array
}

func (s *storage) get(i int) byte {
	if s.array != nil {
		return byte(s.array.n[i])
	}
	return s.raw[i]
}

func (s *storage) set(i int, b byte) {
	if s.array != nil {
		s.array.n[i] = int64(int8(b))
	} else {
		s.raw[i] = b
	}
}

// byteBuffer is a ByteBuffer: the bytes of a storage from offset on, which remain from position up to limit.
type byteBuffer struct {
	bytes                             *storage
	offset, position, limit, capacity int
	readOnly                          bool
}

// newBuffer is a buffer of bytes that are not changed elsewhere.
func (t *thread) newBuffer(b []byte) *byteBuffer {
	t.alloc(160)
	return &byteBuffer{bytes: &storage{raw: b}, limit: len(b), capacity: len(b)}
}

func (*byteBuffer) class() *class { return classByteBuffer }

// javaClass is the name of the class that Java makes buffers of.
func (b *byteBuffer) javaClass() string {
	if b.readOnly {
		return "java.nio.HeapByteBufferR"
	}
	return "java.nio.HeapByteBuffer"
}

// remaining copies the bytes that remain.
func (b *byteBuffer) remaining(t *thread) []byte {
	t.grow(b.limit-b.position, 1)
	all := make([]byte, b.limit-b.position)
	for i := range all {
		all[i] = b.bytes.get(b.offset + b.position + i)
	}
	return all
}

func (b *byteBuffer) hash(t *thread) int32 {
	h := int32(1)
	all := b.remaining(t)
	for i := len(all) - 1; i >= 0; i-- {
		h = 31*h + int32(int8(all[i]))
	}
	return h
}

func (b *byteBuffer) equals(t *thread, o object) bool {
	other, ok := o.(*byteBuffer)
	return ok && bytes.Equal(b.remaining(t), other.remaining(t))
}

func (b *byteBuffer) compare(t *thread, o object) int {
	x, y := b.remaining(t), o.(*byteBuffer).remaining(t)
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return int(int8(x[i])) - int(int8(y[i]))
		}
	}
	return len(x) - len(y)
}

func (b *byteBuffer) text(t *thread) *str {
	return t.ascii(b.javaClass() + "[pos=" + strconv.Itoa(b.position) + " lim=" + strconv.Itoa(b.limit) + " cap=" +
		strconv.Itoa(b.capacity) + "]")
}

func (t *thread) copyBuffer(b *byteBuffer) *byteBuffer {
	t.alloc(96)
	n := *b
	return &n
}

// take moves over n bytes and returns where they begin.
func (b *byteBuffer) take(n int, empty *class) int {
	if b.limit-b.position < n {
		throwPlain(empty)
	}
	b.position += n
	return b.position - n
}

func (b *byteBuffer) check(i, n int) int {
	if i < 0 || n > b.limit-i {
		throwPlain(classIndexOutOfBounds)
	}
	return i
}

func (b *byteBuffer) read(i, n int) uint64 {
	var v uint64
	for k := range n {
		v = v<<8 | uint64(b.bytes.get(b.offset+i+k))
	}
	return v
}

func (b *byteBuffer) write(i, n int, v uint64) {
	for k := n - 1; k >= 0; k-- {
		b.bytes.set(b.offset+i+k, byte(v))
		v >>= 8
	}
}

func (b *byteBuffer) changing() {
	if b.readOnly {
		throwPlain(classReadOnlyBuffer)
	}
}

// checkMark throws Java's exceptions of position(int) and limit(int).
func (b *byteBuffer) checkMark(what string, n, most int, mostIs string) {
	switch {
	case n > most:
		throw(classIllegalArgument, what+" > "+mostIs+": ("+strconv.Itoa(n)+" > "+strconv.Itoa(most)+")")
	case n < 0:
		throw(classIllegalArgument, what+" < 0: ("+strconv.Itoa(n)+" < 0)")
	}
}

func bufferMethods() []native {
	chain := func(f func(t *thread, b *byteBuffer, a []value)) any {
		return on(func(t *thread, b *byteBuffer, a []value) value {
			f(t, b, a)
			return reference(b)
		})
	}
	ints := func(f func(b *byteBuffer) int) any {
		return on(func(_ *thread, b *byteBuffer, _ []value) value { return integer(f(b)) })
	}
	all := []native{
		{"static ByteBuffer allocate(int)", asItGoes, func(t *thread, a []value) value {
			n := a[0].int()
			if n < 0 {
				throw(classIllegalArgument, "capacity < 0: ("+strconv.Itoa(n)+" < 0)")
			}
			t.grow(n, 1)
			return reference(t.newBuffer(make([]byte, n)))
		}},
		{"static ByteBuffer wrap(byte[])", fixed, func(t *thread, a []value) value {
			x := to[*array](a[0])
			t.alloc(160)
			return reference(&byteBuffer{bytes: &storage{array: x}, limit: len(x.n), capacity: len(x.n)})
		}},
		{"static ByteBuffer wrap(byte[], int, int)", fixed, func(t *thread, a []value) value {
			x := to[*array](a[0])
			from, n := a[1].int(), a[2].int()
			if from < 0 || n < 0 || from > len(x.n)-n {
				throwPlain(classIndexOutOfBounds)
			}
			t.alloc(160)
			return reference(&byteBuffer{bytes: &storage{array: x}, position: from, limit: from + n, capacity: len(x.n)})
		}},
		{"byte get()", fixed, on(func(_ *thread, b *byteBuffer, _ []value) value {
			return number(int64(int8(b.read(b.take(1, classBufferUnderflow), 1))))
		})},
		{"byte get(int)", fixed, on(func(_ *thread, b *byteBuffer, a []value) value {
			return number(int64(int8(b.read(b.check(a[0].int(), 1), 1))))
		})},
		{"ByteBuffer get(byte[])", linear, chain(func(t *thread, b *byteBuffer, a []value) {
			x := to[*array](a[0])
			from := b.take(len(x.n), classBufferUnderflow)
			for i := range x.n {
				x.n[i] = int64(int8(b.bytes.get(b.offset + from + i)))
			}
		})},
		{"ByteBuffer put(byte)", fixed, chain(func(_ *thread, b *byteBuffer, a []value) {
			b.changing()
			b.write(b.take(1, classBufferOverflow), 1, uint64(a[0].n))
		})},
		{"ByteBuffer put(int, byte)", fixed, chain(func(_ *thread, b *byteBuffer, a []value) {
			b.changing()
			b.write(b.check(a[0].int(), 1), 1, uint64(a[1].n))
		})},
		{"ByteBuffer put(byte[])", linear, chain(func(t *thread, b *byteBuffer, a []value) {
			b.changing()
			x := to[*array](a[0])
			from := b.take(len(x.n), classBufferOverflow)
			for i, n := range x.n {
				b.bytes.set(b.offset+from+i, byte(n))
			}
		})},
		{"ByteBuffer put(ByteBuffer)", linear, chain(func(t *thread, b *byteBuffer, a []value) {
			other := to[*byteBuffer](a[0])
			if other == b {
				throw(classIllegalArgument, "The source buffer is this buffer")
			}
			b.changing()
			all := other.remaining(t)
			from := b.take(len(all), classBufferOverflow)
			other.position = other.limit
			for i, c := range all {
				b.bytes.set(b.offset+from+i, c)
			}
		})},
		{"int remaining()", fixed, ints(func(b *byteBuffer) int { return b.limit - b.position })},
		{"boolean hasRemaining()", fixed, on(func(_ *thread, b *byteBuffer, _ []value) value {
			return boolean(b.position < b.limit)
		})},
		{"int position()", fixed, ints(func(b *byteBuffer) int { return b.position })},
		{"int limit()", fixed, ints(func(b *byteBuffer) int { return b.limit })},
		{"int capacity()", fixed, ints(func(b *byteBuffer) int { return b.capacity })},
		{"int arrayOffset()", fixed, ints(func(b *byteBuffer) int { return b.offset })},
		{"ByteBuffer position(int)", fixed, chain(func(_ *thread, b *byteBuffer, a []value) {
			b.checkMark("newPosition", a[0].int(), b.limit, "limit")
			b.position = a[0].int()
		})},
		{"ByteBuffer limit(int)", fixed, chain(func(_ *thread, b *byteBuffer, a []value) {
			b.checkMark("newLimit", a[0].int(), b.capacity, "capacity")
			b.limit = a[0].int()
			b.position = min(b.position, b.limit)
		})},
		{"ByteBuffer flip()", fixed, chain(func(_ *thread, b *byteBuffer, _ []value) {
			b.limit, b.position = b.position, 0
		})},
		{"ByteBuffer rewind()", fixed, chain(func(_ *thread, b *byteBuffer, _ []value) { b.position = 0 })},
		{"ByteBuffer clear()", fixed, chain(func(_ *thread, b *byteBuffer, _ []value) {
			b.position, b.limit = 0, b.capacity
		})},
		{"ByteBuffer duplicate()", fixed, on(func(t *thread, b *byteBuffer, _ []value) value {
			return reference(t.copyBuffer(b))
		})},
		{"ByteBuffer asReadOnlyBuffer()", fixed, on(func(t *thread, b *byteBuffer, _ []value) value {
			n := t.copyBuffer(b)
			n.readOnly = true
			return reference(n)
		})},
		{"ByteBuffer slice()", fixed, on(func(t *thread, b *byteBuffer, _ []value) value {
			n := t.copyBuffer(b)
			n.offset += n.position
			n.capacity = n.limit - n.position
			n.position, n.limit = 0, n.capacity
			return reference(n)
		})},
		{"boolean hasArray()", fixed, on(func(_ *thread, b *byteBuffer, _ []value) value { return boolean(!b.readOnly) })},
		{"boolean isReadOnly()", fixed, on(func(_ *thread, b *byteBuffer, _ []value) value { return boolean(b.readOnly) })},
		{"byte[] array()", linear, on(func(t *thread, b *byteBuffer, _ []value) value {
			b.changing()
			if b.bytes.array == nil {
				b.bytes.array = t.byteArray(b.bytes.raw)
				b.bytes.raw = nil
			}
			return reference(b.bytes.array)
		})},
	}
	for _, k := range []struct {
		name, typ string
		size      int
		kind      kind
	}{
		{"Short", "short", 2, shortKind},
		{"Char", "char", 2, charKind},
		{"Int", "int", 4, intKind},
		{"Long", "long", 8, longKind},
		{"Float", "float", 4, floatKind},
		{"Double", "double", 8, doubleKind},
	} {
		decode := func(v uint64) value {
			if k.kind == floatKind {
				return floating(float64(math.Float32frombits(uint32(v))))
			}
			if k.kind == doubleKind {
				return number(int64(v))
			}
			return number(fromWhole(int64(v), k.kind))
		}
		encode := func(v value) uint64 {
			if k.kind == floatKind {
				return uint64(math.Float32bits(float32(v.floating())))
			}
			return uint64(v.n)
		}
		all = append(all,
			native{k.typ + " get" + k.name + "()", fixed, on(func(_ *thread, b *byteBuffer, _ []value) value {
				return decode(b.read(b.take(k.size, classBufferUnderflow), k.size))
			})},
			native{k.typ + " get" + k.name + "(int)", fixed, on(func(_ *thread, b *byteBuffer, a []value) value {
				return decode(b.read(b.check(a[0].int(), k.size), k.size))
			})},
			native{"ByteBuffer put" + k.name + "(" + k.typ + ")", fixed, chain(func(_ *thread, b *byteBuffer, a []value) {
				b.changing()
				b.write(b.take(k.size, classBufferOverflow), k.size, encode(a[0]))
			})},
			native{"ByteBuffer put" + k.name + "(int, " + k.typ + ")", fixed, chain(func(_ *thread, b *byteBuffer, a []value) {
				b.changing()
				b.write(b.check(a[0].int(), k.size), k.size, encode(a[1]))
			})},
		)
	}
	return all
}

// throwable is an exception as an object.
type throwable struct {
	identity
	of      *class
	message object // *str, or nil
}

func (x *throwable) class() *class                   { return x.of }
func (x *throwable) equals(_ *thread, o object) bool { return o == object(x) }
func (x *throwable) text(t *thread) *str             { return t.str(x.exception().Error()) }

func (x *throwable) exception() *Exception {
	e := &Exception{Class: x.of.name}
	if s, ok := x.message.(*str); ok {
		e.Message, e.HasMessage = s.String(), true
	}
	return e
}

// exceptionClasses are the classes that can be thrown. Their constructors take a message, a cause, both or none.
func exceptionClasses() []declaration {
	all := make([]declaration, len(exceptions))
	for i, c := range exceptions {
		made := func(t *thread, message object) value {
			t.alloc(64)
			return reference(&throwable{of: c, message: message})
		}
		d := declaration{class: c, head: "class " + c.name}
		d.methods = []native{
			{c.simple() + "()", fixed, func(t *thread, _ []value) value { return made(t, nil) }},
			{c.simple() + "(String)", fixed, func(t *thread, a []value) value { return made(t, a[0].r) }},
			{c.simple() + "(String, Throwable)", asItGoes, func(t *thread, a []value) value { return made(t, a[0].r) }},
			{c.simple() + "(Throwable)", asItGoes, func(t *thread, a []value) value {
				if a[0].r == nil {
					return made(t, nil)
				}
				return made(t, t.textOf(a[0].r))
			}},
		}
		switch c {
		case classAssertionError:
			d.methods[1] = native{"AssertionError(Object)", asItGoes, func(t *thread, a []value) value {
				return made(t, t.textOf(a[0].r))
			}}
			d.methods = d.methods[:3]
		case classThrowable:
			message := on(func(_ *thread, x *throwable, _ []value) value { return reference(x.message) })
			d.methods = append(d.methods, native{"String getMessage()", fixed, message}, native{
				"String getLocalizedMessage()", fixed,
				message,
			})
		case classArithmeticException, classNullPointerException, classClassCastException, classNumberFormat,
			classNoSuchElement,
			classIndexOutOfBounds, classArrayIndex, classStringIndex:
			d.methods = d.methods[:2]
		}
		all[i] = d
	}
	return all
}
