package expr

import "github.com/cqld/cqld/cql/types"

// Field is a field of a value of a user type.
type Field struct {
	Of    Expr
	Index int
}

// userType is the type that the field is one of.
func (f *Field) userType() *types.UserType { return f.Of.Type().(*types.UserType) }

// Type is the field's.
func (f *Field) Type() types.Type { return f.userType().Fields[f.Index].Type }

// Eval returns null for a field of null, and for one that was added when the value was there already.
func (f *Field) Eval(x *Context) (types.Value, error) {
	of, err := f.Of.Eval(x)
	if err != nil || of.Bytes == nil {
		return types.Value{}, err
	}
	return types.Value{Bytes: types.TupleFields(of.Bytes, f.Index+1)[f.Index]}, nil
}

// String prints of.field.
func (f *Field) String() string { return f.Of.String() + "." + f.userType().Fields[f.Index].Name }
