package functions

import (
	"errors"
	"fmt"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/cql/types/json"
)

// jsonFamilies turn values into JSON and back.
var jsonFamilies = map[string]*family{
	"to_json": toJSON, "tojson": toJSON,
	"from_json": fromJSON, "fromjson": fromJSON,
}

// toJSON makes the functions that print a value of any type.
var toJSON = unary(parameter{text: "any"}, func(name string, t types.Type) *Function {
	return &Function{
		Name: name, Args: []types.Type{t}, Returns: types.Text,
		Doc:    "A value as JSON; the text null for null.",
		Costly: isUnbounded(t),

		// INSERT JSON lets in empty values that cannot be bound; Cassandra does not treat them as null.
		Call: func(c *Call) (types.Value, error) {
			b := c.Args[0].Bytes
			if b == nil || len(b) == 0 && types.EmptyIsNull(t) && t.Validate(b) == nil {
				return types.Value{Bytes: []byte("null")}, nil
			}
			text, err := types.AppendJSONSteps(nil, t, b, c.pacer().step)
			return types.Value{Bytes: text}, err
		},
	}
})

// fromJSON makes the functions that read a value of the receiver's type.
var fromJSON = &family{
	params: []parameter{fixed("text", types.Text)},
	receive: func(name string, receiver types.Type) (*Function, error) {
		if receiver == nil {
			return nil, cqlerr.Invalidf("%s() cannot be used in the selection clause of a SELECT statement", name)
		}
		f := &Function{
			Name: name, Args: []types.Type{types.Text}, Returns: receiver,
			Doc:    "The value that a JSON text stands for, of the type that is asked for.",
			Costly: true,
		}
		f.Call = func(c *Call) (types.Value, error) {
			if c.Args[0].Bytes == nil {
				return types.Value{}, nil
			}
			b, err := f.readJSON(string(c.Args[0].Bytes), c.Env)
			return types.Value{Bytes: b}, err
		}
		return f, nil
	},
}

// readJSON reads a value of the type that f returns. Without an Env a text that depends on the time is refused.
func (f *Function) readJSON(text string, env *Env) ([]byte, error) {
	v, err := json.Decode(text, (&Call{Env: env}).pacer().step)
	if wrong := new(json.Error); errors.As(err, &wrong) {
		return nil, cqlerr.FunctionFailed("system", f.Name, []string{"text"}, fmt.Sprintf(
			"execution of 'system.%s[text]' failed: Could not decode JSON string '%s': %s", f.Name, text, err))
	}
	if err != nil || v == nil {
		return nil, err
	}
	var clock *types.Clock
	if env != nil {
		clock = (&types.Clock{Now: env.Now}).For(text)
	}
	b, err := clock.ParseJSON(f.Returns, v)
	if err != nil {
		if wrong := new(types.ValueError); errors.As(err, &wrong) && !wrong.Request {
			text := "org.apache.cassandra.serializers.MarshalException: " + wrong.Message
			return nil, cqlerr.FunctionFailed("system", f.Name, []string{"text"}, text)
		}
		return nil, err
	}
	if f.Returns.Validate(b) != nil {
		return nil, cqlerr.Invalidf("Return of function %s (%x) is not a valid value for its declared return type %s",
			f, b, f.Returns)
	}
	return types.NormalizeBound(f.Returns, b), nil // Cassandra takes apart the results of functions
}
