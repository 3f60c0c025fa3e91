package java

// price is how a call of a native method is charged, beside the step that each call is. Nobody else can end the call
// while the method runs, so that whatever grows with the operands is charged before it is done.
type price uint8

const (
	_ price = iota

	// fixed is for methods that take about as long whatever their operands are: List.get.
	fixed

	// linear is for methods that go over their operands once. The call charges their sizes: String.trim.
	linear

	// product is for methods of numbers whose time grows with the product of the sizes of their operands, or with the
	// square of their only one. The call charges that: BigInteger.multiply, BigInteger.toString.
	product

	// asItGoes is for methods that charge each element, character or comparison themselves, because only they know how
	// many there are, or how large the elements are: List.contains.
	asItGoes
)

// sizePerStep is how many characters, elements or words of numbers a native function goes over in the time of a step.
const sizePerStep = 4

// charge counts what a call with these operands takes.
func (p price) charge(t *thread, operands []value) {
	sum, first, second := 0, 1, 0 // the two largest
	for _, v := range operands {
		n := sizeOf(v.r)
		sum += n
		switch {
		case n > first:
			first, second = n, first
		case n > second:
			second = n
		}
	}
	if second == 0 {
		second = first
	}
	t.charge(sum / sizePerStep)
	if p == product {
		t.charge(first * second / (2 * sizePerStep))
	}
}

// sizeOf is how many characters, elements or words an object consists of. It refuses numbers that are too long.
func sizeOf(o object) int {
	switch o := o.(type) {
	case *str:
		return o.length()
	case *bigInteger:
		return words(o.v)
	case *bigDecimal:
		return words(o.unscaled)
	case *builder:
		return o.length()
	case *array:
		return o.length()
	case *byteBuffer:
		return o.limit - o.position
	case *record:
		return len(o.values)
	case collection:
		return o.size()
	case *mapObject:
		return o.size()
	}
	return 0
}
