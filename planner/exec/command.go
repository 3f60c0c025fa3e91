package exec

import "github.com/cqld/cqld/planner/exec/paging"

// commandText is the current command as a SELECT.
func (r *reading) commandText() string {
	c := paging.Command{
		Plan: r.plan, X: &r.x, From: r.command.from, Slices: r.read.Slices, Ranges: r.read.Ranges,
		Limits: r.limits(), MaxLength: maxCommandText,
	}
	if r.read.Keys != nil {
		c.Partition = r.command.read.Partition
	}
	return c.Text()
}
