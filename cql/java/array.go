package java

import "strconv"

// array is an array. Elements of primitive types are in n, as in value, and references in r.
type array struct {
	identity
	elem *typ
	n    []int64
	r    []object
}

func (*array) class() *class                     { return classObject }
func (a *array) equals(_ *thread, o object) bool { return o == object(a) }

func (a *array) text(t *thread) *str { return t.ascii(arrayClassName(a.elem) + "@1") }

// arrayClassName is Java's name of an array's class: [I, [Ljava.lang.String;.
func arrayClassName(elem *typ) string {
	if i := elem.kind; i <= doubleKind {
		return "[" + string(" ZBSCIJFD"[i])
	}
	if elem.kind == arrayKind {
		return "[" + arrayClassName(elem.elem)
	}
	return "[L" + elem.fullName() + ";"
}

func (a *array) length() int { return len(a.n) + len(a.r) }

func (t *thread) newArray(elem *typ, n int) *array {
	if n < 0 {
		throw(classNegativeArraySize, strconv.Itoa(n))
	}
	a := &array{elem: elem}
	t.alloc(96)
	t.step()
	if elem.primitive() {
		t.grow(n, 8)
		a.n = make([]int64, n)
	} else {
		t.grow(n, 16)
		a.r = make([]object, n)
	}
	return a
}

// newArrays makes an array of arrays with these lengths.
func (t *thread) newArrays(elem *typ, sizes []int) *array {
	for _, n := range sizes {
		if n < 0 {
			throw(classNegativeArraySize, strconv.Itoa(n))
		}
	}
	a := t.newArray(elem, sizes[0])
	if len(sizes) > 1 {
		for i := range a.r {
			a.r[i] = t.newArrays(elem.elem, sizes[1:])
		}
	}
	return a
}

// check is the index i if it is in the array.
func (a *array) check(i int64) int64 {
	if uint64(i) >= uint64(a.length()) {
		throw(classArrayIndex, "Index "+strconv.FormatInt(i, 10)+" out of bounds for length "+strconv.Itoa(a.length()))
	}
	return i
}

// store puts a reference into the array, whose elements may be of a more special class than its variable says.
func (a *array) store(i int64, o object) {
	if o != nil && !instanceOfType(o, a.elem) {
		throw(classArrayStore, o.class().name)
	}
	a.r[i] = o
}

// get is an element as an object.
func (a *array) get(t *thread, i int) object {
	if a.r != nil {
		return a.r[i]
	}
	return t.box(a.elem.kind, a.n[i])
}

func (t *thread) byteArray(b []byte) *array {
	a := t.newArray(byteType, len(b))
	for i, c := range b {
		a.n[i] = int64(int8(c))
	}
	return a
}

func (a *array) bytes(t *thread) []byte {
	t.grow(len(a.n), 1)
	b := make([]byte, len(a.n))
	for i, n := range a.n {
		b[i] = byte(n)
	}
	return b
}

// charsText is the text of n characters of an array, or of all if n is negative.
func (t *thread) charsText(a *array, from, n int) *str {
	if n < 0 && from == 0 {
		n = len(a.n)
	}
	if from < 0 || n < 0 || from > len(a.n)-n {
		throw(classStringIndex, "offset "+strconv.Itoa(from)+", count "+strconv.Itoa(n)+", length "+strconv.Itoa(len(a.n)))
	}
	t.grow(n, 2)
	u := make([]uint16, n)
	for i := range u {
		u[i] = uint16(a.n[from+i])
	}
	return t.units(u)
}

// arrayCopy is System.arraycopy.
func arrayCopy(t *thread, v []value) value {
	from, ok1 := v[0].notNull().(*array)
	into, ok2 := v[2].notNull().(*array)
	if !ok1 || !ok2 || from.elem.primitive() != into.elem.primitive() || from.elem.primitive() && from.elem != into.elem {
		throw(classArrayStore, "arraycopy: type mismatch: can not copy these arrays")
	}
	i, j, n := v[1].int(), v[3].int(), v[4].int()
	if i < 0 || j < 0 || n < 0 || i > from.length()-n || j > into.length()-n {
		throw(classArrayIndex, "arraycopy: last source index "+strconv.Itoa(i+n)+" out of bounds for length "+
			strconv.Itoa(from.length()))
	}
	t.charge(n)
	copy(into.n[min(j, len(into.n)):], from.n[min(i, len(from.n)):min(i+n, len(from.n))])
	if from.r != nil {
		moved := append([]object(nil), from.r[i:i+n]...)
		t.grow(n, 16)
		for k, o := range moved {
			into.store(int64(j+k), o)
		}
	}
	return value{}
}
