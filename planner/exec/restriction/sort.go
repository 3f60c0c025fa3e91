package restriction

import (
	"slices"

	"github.com/cqld/cqld/planner/expr"
)

// Step lets other work run. It returns an error when the execution has to end.
func Step(x *expr.Context) error {
	if x.Step == nil {
		return nil
	}
	return x.Step()
}

// SortStably sorts rows stably, and calls Step now and then.
func SortStably[T any](x *expr.Context, rows []T, compare func(a, b T) int) error {
	var err error
	n := 0
	slices.SortStableFunc(rows, func(a, b T) int {
		if n++; n%16 == 0 && err == nil {
			err = Step(x)
		}
		if err != nil {
			return 0 // the order does not matter any more
		}
		return compare(a, b)
	})
	return err
}

// SortPlaces sorts the places of elements in a list, and calls Step now and then. Equal elements stay in the order of
// their places.
func SortPlaces(x *expr.Context, places []uint32, compare func(a, b uint32) int) error {
	var err error
	n := 0
	slices.SortFunc(places, func(a, b uint32) int {
		if n++; n%256 == 0 && err == nil {
			err = Step(x)
		}
		if err != nil {
			return 0 // the order does not matter any more
		}
		if o := compare(a, b); o != 0 {
			return o
		}
		return int(a) - int(b)
	})
	return err
}
