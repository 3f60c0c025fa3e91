package exec

import (
	"math"
	"slices"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
	"github.com/cqld/cqld/cql/types"
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

// replicasFor returns the replicas of a partition as the coordinator of a request sees them.
func (e *Executor) replicasFor(o *Options, t *schema.Table, key []byte) replicas {
	if o.View == nil {
		return e.replicasOf(t)
	}
	k := e.store.Catalog().Keyspace(t.Keyspace)
	if k == nil {
		return replicasIn(o.View, nil, []int{o.View.Self})
	}
	p := o.View.Placement(k)
	if p.Everywhere {
		return replicasIn(o.View, nil, []int{o.View.Self})
	}
	return replicasIn(o.View, k, p.Replicas(types.Token(key)))
}

// checkWrite refuses a write to a partition at a level that its replicas cannot reach, and returns how long it waits
// for them.
func (e *Executor) checkWrite(o *Options, t *schema.Table, key []byte, kind string) (awaited, error) {
	if t.Virtual {
		return awaited{}, nil
	}
	r := e.replicasFor(o, t, key)
	check := r.checkWrite
	if t.Counter {
		check = r.checkCounter
	}
	if err := check(o.Consistency); err != nil {
		return awaited{}, err
	}
	a := r.await(o, o.Consistency, writeLate(o.Consistency, kind))
	if t.Counter && a.late != nil && !slices.Contains(r.nodes, r.view.Self) {
		a.late = cqlerr.WriteLate(cqlerr.One, 0, 1, kind) // the coordinator waits for the replica that leads the others
	}
	if o.Consistency == cqlerr.Any && kind != Logged.WriteType() {
		a.late = nil // the coordinator keeps the write when its time is over
	}
	return a, nil
}

// checkReplicas refuses the write at a level that replicas cannot reach: those of the tables, or in a ring those of
// each partition.
func (w *writing) checkReplicas(tables ...*schema.Table) error {
	if w.options.View == nil {
		for _, t := range tables {
			if _, err := w.e.checkWrite(w.options, t, nil, w.kind); err != nil {
				return err
			}
		}
		return nil
	}
	for _, m := range w.mutations {
		t, key := m.Partition()
		a, err := w.e.checkWrite(w.options, t, key, w.kind)
		if err != nil {
			return err
		}
		w.awaited.add(a)
	}
	return nil
}

// checkReadAt refuses a read at a level that the replicas cannot reach, and returns how long it waits for them. serial
// says that it is a read of one partition, which serial levels are meant for.
func (r *replicas) checkReadAt(o *Options, cl cqlerr.Consistency, serial bool) (awaited, error) {
	if serial && cl.IsSerial() {
		late := func(_, blockFor int) *cqlerr.Error { return cqlerr.ReadLate(cl, 0, blockFor) }
		return r.awaitAgreement(o, cl, late), r.checkSerial(cl)
	}
	return r.await(o, cl, readLate(cl)), r.checkRead(cl)
}

// checkReplicas refuses the read at a level that the replicas of what it is about to read cannot reach, and waits for
// those that are slow.
func (r *reading) checkReplicas(o *Options) error {
	t, serial := r.plan.Table, r.plan.Where.SinglePartition()
	if t.Virtual {
		return nil
	}
	if o.View == nil {
		replicas := r.e.replicasOf(t)
		_, err := replicas.checkReadAt(o, r.level, serial)
		return err
	}
	var last awaited
	check := func(replicas replicas) error {
		a, err := replicas.checkReadAt(o, r.level, serial)
		last.add(a)
		return err
	}
	if err := r.eachReplicas(o, check); err != nil {
		return err
	}
	return last.wait(o)
}

// eachReplicas calls check with the replicas of each partition that is read next, or of each range of the ring.
func (r *reading) eachReplicas(o *Options, check func(replicas) error) error {
	if r.read.Keys != nil {
		for _, key := range r.read.Keys {
			if err := check(r.e.replicasFor(o, r.plan.Table, key)); err != nil {
				return err
			}
		}
		return nil
	}
	k := r.e.store.Catalog().Keyspace(r.plan.Table.Keyspace)
	if k == nil {
		return nil
	}
	p := o.View.Placement(k)
	if p.Everywhere {
		return check(replicasIn(o.View, nil, []int{o.View.Self}))
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
	return p.Each(first, last, func(nodes []int) error { return check(replicasIn(o.View, k, nodes)) })
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
