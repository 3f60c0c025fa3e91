package schema

import "github.com/cqld/cqld/cql/types"

// functionSection are the functions of a keyspace.
//
//	<n> n × (name arguments × (name type) returns called-on-null language body)
var functionSection = section[*Keyspace]{
	number:  2,
	present: func(k *Keyspace) bool { return len(k.Functions) > 0 },
	write: func(e *encoder, k *Keyspace) {
		e.uint(uint64(len(k.Functions)))
		for _, f := range k.Functions {
			e.string(f.Name)
			e.types(f.Args)
			for _, name := range f.ArgNames {
				e.string(name)
			}
			e.string(types.ExactClassName(f.Returns))
			e.bool(f.CalledOnNull)
			e.string(f.Language)
			e.string(f.Body)
		}
	},
	read: func(d *decoder, k *Keyspace) {
		for range d.count() {
			f := &Function{Keyspace: k.Name, Name: d.string(), Args: d.types()}
			for range f.Args {
				f.ArgNames = append(f.ArgNames, d.string())
			}
			f.Returns = d.columnType()
			f.CalledOnNull, f.Language, f.Body = d.bool(), d.string(), d.string()
			if d.err == nil {
				k.Functions = append(k.Functions, f)
			}
		}
	},
}

// aggregateSection are the aggregates of a keyspace.
//
//	<n> n × (name arguments returns state-function state-type final-function initial?)
var aggregateSection = section[*Keyspace]{
	number:  3,
	present: func(k *Keyspace) bool { return len(k.Aggregates) > 0 },
	write: func(e *encoder, k *Keyspace) {
		e.uint(uint64(len(k.Aggregates)))
		for _, a := range k.Aggregates {
			e.string(a.Name)
			e.types(a.Args)
			e.string(types.ExactClassName(a.Returns))
			e.string(a.StateFunction)
			e.string(types.ExactClassName(a.StateType))
			e.string(a.FinalFunction)
			e.bool(a.Initial != nil)
			if a.Initial != nil {
				e.bytes(a.Initial)
			}
		}
	},
	read: func(d *decoder, k *Keyspace) {
		for range d.count() {
			a := &Aggregate{Keyspace: k.Name, Name: d.string(), Args: d.types(), Returns: d.columnType()}
			a.StateFunction, a.StateType, a.FinalFunction = d.string(), d.columnType(), d.string()
			if d.bool() {
				a.Initial = d.bytes()
			}
			if d.err == nil {
				k.Aggregates = append(k.Aggregates, a)
			}
		}
	},
}

// types writes a list of types.
func (e *encoder) types(all []types.Type) {
	e.uint(uint64(len(all)))
	for _, t := range all {
		e.string(types.ExactClassName(t))
	}
}

// types reads a list of types.
func (d *decoder) types() []types.Type {
	all := make([]types.Type, d.count())
	for i := range all {
		all[i] = d.columnType()
	}
	return all
}
