package java

// The classes of the library. Their methods are declared in the files library_*.go.
var (
	classObject       = newClass("java.lang.Object")
	classCharSequence = newClass("java.lang.CharSequence")
	classComparable   = newClass("java.lang.Comparable")
	classIterable     = newClass("java.lang.Iterable")
	classMath         = newClass("java.lang.Math")
	classStrictMath   = newClass("java.lang.StrictMath")
	classSystem       = newClass("java.lang.System")
	classClass        = newClass("java.lang.Class")

	classNumber    = newClass("java.lang.Number")
	classBoolean   = newClass("java.lang.Boolean")
	classByte      = newClass("java.lang.Byte")
	classShort     = newClass("java.lang.Short")
	classCharacter = newClass("java.lang.Character")
	classInteger   = newClass("java.lang.Integer")
	classLong      = newClass("java.lang.Long")
	classFloat     = newClass("java.lang.Float")
	classDouble    = newClass("java.lang.Double")

	classString        = newClass("java.lang.String")
	classStringBuilder = newClass("java.lang.StringBuilder")
	classStringBuffer  = newClass("java.lang.StringBuffer")

	classBigInteger   = newClass("java.math.BigInteger")
	classBigDecimal   = newClass("java.math.BigDecimal")
	classRoundingMode = newClass("java.math.RoundingMode")
	classMathContext  = newClass("java.math.MathContext")

	classCollection    = newClass("java.util.Collection")
	classList          = newClass("java.util.List")
	classSet           = newClass("java.util.Set")
	classSortedSet     = newClass("java.util.SortedSet")
	classMap           = newClass("java.util.Map")
	classSortedMap     = newClass("java.util.SortedMap")
	classEntry         = newClass("java.util.Map.Entry")
	classIterator      = newClass("java.util.Iterator")
	classComparator    = newClass("java.util.Comparator")
	classArrayList     = newClass("java.util.ArrayList")
	classLinkedList    = newClass("java.util.LinkedList")
	classHashSet       = newClass("java.util.HashSet")
	classLinkedHashSet = newClass("java.util.LinkedHashSet")
	classTreeSet       = newClass("java.util.TreeSet")
	classHashMap       = newClass("java.util.HashMap")
	classLinkedHashMap = newClass("java.util.LinkedHashMap")
	classTreeMap       = newClass("java.util.TreeMap")
	classArrays        = newClass("java.util.Arrays")
	classCollections   = newClass("java.util.Collections")
	classObjects       = newClass("java.util.Objects")

	classUUID        = newClass("java.util.UUID")
	classDate        = newClass("java.util.Date")
	classByteBuffer  = newClass("java.nio.ByteBuffer")
	classInetAddress = newClass("java.net.InetAddress")
	classInstant     = newClass("java.time.Instant")
	classCalendar    = newClass("java.util.Calendar")

	classLocalDate  = newClass(cassandraTypes + "LocalDate")
	classDuration   = newClass(cassandraTypes + "Duration")
	classUDTValue   = newClass(cassandraTypes + "UDTValue")
	classTupleValue = newClass(cassandraTypes + "TupleValue")
	classUDFContext = newClass("org.apache.cassandra.cql3.functions.UDFContext")
)

// cassandraTypes is the package of Cassandra's copy of the old driver's types, and driverTypes its name in that driver,
// which Cassandra replaces in bodies.
const (
	cassandraTypes = "org.apache.cassandra.cql3.functions.types."
	driverTypes    = "com.datastax.driver.core."
)

// unboxedTypes are the primitive types of the boxed ones.
var unboxedTypes = map[*class]*typ{
	classBoolean: booleanType, classByte: byteType, classShort: shortType, classCharacter: charType,
	classInteger: intType, classLong: longType, classFloat: floatType, classDouble: doubleType,
}

// moduleOf is the module of a class, as ClassCastException names it.
func moduleOf(c *class) string {
	if len(c.name) > 5 && c.name[:5] == "java." {
		return "java.base"
	}
	return ""
}

// exceptions are the classes that bodies can throw, each after its superclass.
var (
	classThrowable = newException("java.lang.Throwable", classObject, checked)
	classException = newException("java.lang.Exception", classThrowable, checked)
	classError     = newException("java.lang.Error", classThrowable, unchecked)
	classRuntime   = newException("java.lang.RuntimeException", classException, unchecked)

	classIllegalArgument      = newException("java.lang.IllegalArgumentException", classRuntime, unchecked)
	classIllegalState         = newException("java.lang.IllegalStateException", classRuntime, unchecked)
	classArithmeticException  = newException("java.lang.ArithmeticException", classRuntime, unchecked)
	classClassCastException   = newException("java.lang.ClassCastException", classRuntime, unchecked)
	classIndexOutOfBounds     = newException("java.lang.IndexOutOfBoundsException", classRuntime, unchecked)
	classArrayIndex           = newException("java.lang.ArrayIndexOutOfBoundsException", classIndexOutOfBounds, unchecked)
	classStringIndex          = newException("java.lang.StringIndexOutOfBoundsException", classIndexOutOfBounds, unchecked)
	classNegativeArraySize    = newException("java.lang.NegativeArraySizeException", classRuntime, unchecked)
	classArrayStore           = newException("java.lang.ArrayStoreException", classRuntime, unchecked)
	classNumberFormat         = newException("java.lang.NumberFormatException", classIllegalArgument, unchecked)
	classUnsupported          = newException("java.lang.UnsupportedOperationException", classRuntime, unchecked)
	classConcurrent           = newException("java.util.ConcurrentModificationException", classRuntime, unchecked)
	classNoSuchElement        = newException("java.util.NoSuchElementException", classRuntime, unchecked)
	classDateTime             = newException("java.time.DateTimeException", classRuntime, unchecked)
	classBufferUnderflow      = newException("java.nio.BufferUnderflowException", classRuntime, unchecked)
	classReadOnlyBuffer       = newException("java.nio.ReadOnlyBufferException", classUnsupported, unchecked)
	classBufferOverflow       = newException("java.nio.BufferOverflowException", classRuntime, unchecked)
	classVirtualMachine       = newException("java.lang.VirtualMachineError", classError, unchecked)
	classStackOverflow        = newException("java.lang.StackOverflowError", classVirtualMachine, unchecked)
	classAssertionError       = newException("java.lang.AssertionError", classError, unchecked)
	classInvalidType          = newException(cassandraTypes+"exceptions.InvalidTypeException", classRuntime, unchecked)
	classCodecNotFound        = newException(cassandraTypes+"exceptions.CodecNotFoundException", classRuntime, unchecked)
	classNullPointerException = newException("java.lang.NullPointerException", classRuntime, unchecked)
)

// More exceptions that only bodies throw.
var _ = []*class{
	newException("java.util.InputMismatchException", classNoSuchElement, unchecked),
	newException("java.util.EmptyStackException", classRuntime, unchecked),
	newException("java.util.MissingResourceException", classRuntime, unchecked),
	newException("java.util.IllegalFormatException", classIllegalArgument, unchecked),
	newException("java.lang.SecurityException", classRuntime, unchecked),
	newException("java.time.format.DateTimeParseException", classDateTime, unchecked),
	newException("java.lang.CloneNotSupportedException", classException, checked),
	newException("java.lang.InterruptedException", classException, checked),
	newException("java.io.IOException", classException, checked),
}

// exceptions has all of them, in the order of their declarations.
var exceptions []*class

func newException(name string, super *class, throws throwKind) *class {
	c := newClass(name)
	c.throws = throws
	c.supers = []*typ{super.typ()}
	exceptions = append(exceptions, c)
	return c
}
