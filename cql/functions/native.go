package functions

import (
	"slices"
	"strings"
)

// natives has every native function with fixed types, family by family.
var natives = slices.Concat(uuidFunctions, timeFunctions, floorFunctions, blobFunctions, aggregateFunctions,
	mathFunctions)

// byName has the overloads of each name.
var byName = func() map[string][]*Function {
	m := map[string][]*Function{}
	for _, fs := range [][]Function{natives, operatorFunctions, castFunctions} {
		for i := range fs {
			m[fs[i].Name] = append(m[fs[i].Name], &fs[i])
		}
	}
	return m
}()

// All returns the native functions with fixed types, for listings.
func All() []*Function {
	all := make([]*Function, len(natives))
	for i := range natives {
		all[i] = &natives[i]
	}
	return all
}

// withOldName adds to each function the same one under the name it had before names got underscores.
func withOldName(fs []Function) []Function {
	var all []Function
	for _, f := range fs {
		all = append(all, f)
		old := oldName(f.Name)
		if old == f.Name {
			continue
		}
		examples := make([]Example, len(f.Examples))
		for i, e := range f.Examples {
			examples[i] = Example{Call: strings.Replace(e.Call, f.Name+"(", old+"(", 1), Result: e.Result}
		}
		f.Name, f.Examples = old, examples
		all = append(all, f)
	}
	return all
}

// oldName leaves the underscores out.
func oldName(name string) string {
	return string(slices.DeleteFunc([]byte(name), func(c byte) bool { return c == '_' }))
}
