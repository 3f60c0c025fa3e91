package exec

import "github.com/cqld/cqld/planner"

// WriteType is what errors call a write with this plan; "" if it is not one.
func WriteType(p planner.Plan) string {
	switch p := p.(type) {
	case *planner.Modification:
		if p.If != nil {
			return Conditional
		}
		if p.Table.Counter {
			return Counter.writeType()
		}
		return "SIMPLE"
	case *planner.Batch:
		if planner.IsConditional(p.Statements) {
			return Conditional
		}
		return BatchKind(p.Kind).writeType()
	}
	return ""
}

// WriteType is what errors call such a batch.
func (k BatchKind) WriteType() string { return k.writeType() }
