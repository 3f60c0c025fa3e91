package java

// The syntax tree. A node keeps its place for errors; types are names until the compiler resolves them.

// typeName is a type as written: java.util.Map.Entry<String, int[]>[].
type typeName struct {
	pos     pos
	name    string // with its dots
	args    []*typeName
	diamond bool // <>
	dims    int
}

// node is an expression.
type node interface{ at() pos }

func (p pos) at() pos { return p }

type (
	// literal is a number, a text, a character, true, false or null.
	literal struct {
		pos
		tok token
	}
	// name is an identifier alone: a variable, or the beginning of the name of a class.
	name struct {
		pos
		id string
	}
	// field is target.id: the length of an array, a constant of a class, or more of the name of a class.
	field struct {
		pos
		target node
		id     string
	}
	// invocation is target.id(args). A body has no methods, so that there is always a target.
	invocation struct {
		pos
		target node
		id     string
		args   []node
	}
	// creation is new T(args).
	creation struct {
		pos
		class *typeName
		args  []node
	}
	// arrayCreation is new T[a][b][], or T[] with the elements in braces.
	arrayCreation struct {
		pos
		elem   *typeName // without dimensions; nil: the type of the variable that it initializes
		sizes  []node
		dims   int // all dimensions
		init   []node
		braces bool
	}
	// element is array[index].
	element struct {
		pos
		array, index node
	}
	// unary is an operator before its operand: + - ! ~.
	unary struct {
		pos
		op      string
		operand node
	}
	// increment is ++ or -- before or after a variable.
	increment struct {
		pos
		op     string
		target node
		prefix bool
	}
	// operation is an operator between operands.
	operation struct {
		pos
		op          string
		left, right node
	}
	// conditional is test ? yes : no.
	conditional struct {
		pos
		test, yes, no node
	}
	// assignment is target = source, or with another operator before the =.
	assignment struct {
		pos
		op             string // without the =; empty for a plain assignment
		target, source node
	}
	// cast is (T) operand.
	cast struct {
		pos
		to      *typeName
		operand node
	}
	// instanceOf is operand instanceof T.
	instanceOf struct {
		pos
		operand node
		class   *typeName
	}
	// classLiteral is T.class, which methods of UDTValue take.
	classLiteral struct {
		pos
		class *typeName
	}
)

// statement is a statement.
type statement interface{ at() pos }

type (
	block struct {
		pos
		body []statement
	}
	// local declares variables of one type.
	local struct {
		pos
		final bool
		typ   *typeName
		vars  []declarator
	}
	declarator struct {
		pos
		id   string
		dims int // int a[]
		init node
	}
	expressionStatement struct {
		pos
		expr node
	}
	ifStatement struct {
		pos
		test    node
		yes, no statement
	}
	whileStatement struct {
		pos
		test node
		body statement
	}
	doStatement struct {
		pos
		body statement
		test node
	}
	forStatement struct {
		pos
		init   []statement
		test   node
		update []node
		body   statement
	}
	forEachStatement struct {
		pos
		typ  *typeName
		id   string
		over node
		body statement
	}
	switchStatement struct {
		pos
		value node
		cases []switchCase
	}
	switchCase struct {
		pos
		labels    []node
		isDefault bool
		body      []statement
	}
	labeled struct {
		pos
		label string
		body  statement
	}
	// jump is break or continue.
	jump struct {
		pos
		breaks bool
		label  string
	}
	returnStatement struct {
		pos
		value node
	}
	throwStatement struct {
		pos
		value node
	}
	emptyStatement struct{ pos }
)
