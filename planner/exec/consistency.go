package exec

import (
	"math"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
	"github.com/cqld/cqld/planner/exec/replicas"
)

// checkLevel refuses NODE_LOCAL.
func checkLevel(cl cqlerr.Consistency) error {
	if cl == cqlerr.NodeLocal {
		return cqlerr.Invalidf("NODE_LOCAL consistency level is highly dangerous and should be used only for debugging " +
			"purposes")
	}
	return nil
}

// checkReadLevel refuses levels that reads cannot have.
func checkReadLevel(cl cqlerr.Consistency) error {
	if cl == cqlerr.Any {
		return cqlerr.Invalidf("ANY ConsistencyLevel is only supported for writes")
	}
	return checkLevel(cl)
}

// checkWriteLevel refuses levels at which a table cannot be written to without conditions.
func checkWriteLevel(cl cqlerr.Consistency, t *schema.Table) error {
	switch {
	case t.Counter && cl == cqlerr.Any:
		return cqlerr.Invalidf("Consistency level ANY is not yet supported for counter table %s", t.Name)
	case t.Counter && cl.IsSerial():
		return cqlerr.Invalidf("Counter operations are inherently non-serializable")
	case cl.IsSerial():
		return cqlerr.Invalidf("You must use conditional updates for serializable writes")
	}
	return checkLevel(cl)
}

// replicasOf returns the replicas of a partition as the coordinator of a request sees them.
func (e *Executor) replicasOf(o *Options, t *schema.Table, key []byte) replicas.Set {
	k := e.store.Catalog().Keyspace(t.Keyspace)
	v := o.View
	if v == nil {
		return replicas.Alone(k, e.strictIn)
	}
	if k != nil {
		if p := v.Placement(k); !p.Everywhere {
			return replicas.On(v, k, p.Replicas(types.Token(key)))
		}
	}
	return replicas.On(v, nil, []int{v.Self})
}

// checkReplicas refuses the write at a level that replicas cannot reach: the replicas of the tables, or in a ring of
// each partition.
func (w *writing) checkReplicas(tables ...*schema.Table) error {
	if w.options.View == nil {
		for _, t := range tables {
			if err := w.checkPartition(t, nil); err != nil {
				return err
			}
		}
		return nil
	}
	for _, m := range w.mutations {
		if err := w.checkPartition(m.Partition()); err != nil {
			return err
		}
	}
	return nil
}

// checkPartition is checkReplicas for one partition.
func (w *writing) checkPartition(t *schema.Table, key []byte) error {
	if t.Virtual {
		return nil
	}
	r := w.e.replicasOf(w.options, t, key)
	wait, err := r.Write(w.options.Consistency, w.kind, t.Counter, w.options.Timeout)
	w.wait.Add(wait)
	return err
}

// checkReplicas refuses the read at a level that the replicas of the next partitions cannot reach, and waits for the
// slow ones.
func (r *reading) checkReplicas(o *Options) error {
	if r.plan.Table.Virtual {
		return nil
	}
	var last replicas.Wait
	err := r.eachReplicas(o, func(s replicas.Set) error {
		wait, err := s.Read(r.level, r.plan.Where.SinglePartition(), o.Timeout)
		last.Add(wait)
		return err
	})
	if err != nil {
		return err
	}
	return last.Sleep(o.Sleep)
}

// eachReplicas calls check with the replicas of each partition that is read next, or of each range of the ring.
func (r *reading) eachReplicas(o *Options, check func(replicas.Set) error) error {
	t, v := r.plan.Table, o.View
	if v == nil {
		return check(r.e.replicasOf(o, t, nil))
	}
	if r.read.Keys != nil {
		for _, key := range r.read.Keys {
			if err := check(r.e.replicasOf(o, t, key)); err != nil {
				return err
			}
		}
		return nil
	}
	k := r.e.store.Catalog().Keyspace(t.Keyspace)
	if k == nil {
		return nil
	}
	p := v.Placement(k)
	if p.Everywhere {
		return check(replicas.On(v, nil, []int{v.Self}))
	}
	first, last := int64(math.MinInt64), int64(math.MaxInt64)
	if tokens := r.read.Tokens; tokens.Bounded {
		if first, last = tokens.Start, tokens.End; !tokens.StartInclusive && first < math.MaxInt64 {
			first++
		}
		if first > last {
			return nil
		}
	}
	return p.Each(first, last, func(nodes []int) error { return check(replicas.On(v, k, nodes)) })
}

// errSerialPartitions refuses a serial read of several partitions at once. In pages they are read one after the other,
// which is allowed.
func errSerialPartitions() error {
	return cqlerr.Invalidf("SERIAL/LOCAL_SERIAL consistency may only be requested for one partition at a time")
}

// oneReplica is the level of one replica that replaces another level.
func oneReplica(cl cqlerr.Consistency) cqlerr.Consistency {
	switch cl {
	case cqlerr.One, cqlerr.LocalOne:
		return cl
	case cqlerr.LocalQuorum:
		return cqlerr.LocalOne
	}
	return cqlerr.One
}
