package exec

import (
	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/schema"
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

// checkReplicas refuses a write at a level that the replicas of a table cannot reach.
func (e *Executor) checkReplicas(t *schema.Table, cl cqlerr.Consistency) error {
	if t.Virtual {
		return nil
	}
	r := e.replicasOf(t)
	if t.Counter {
		return r.checkRead(cl) // a counter is read before it is written
	}
	return r.checkWrite(cl)
}

// checkReadReplicas refuses a read at a level that the replicas of a table cannot reach. serial says that it is a read
// of one partition, which serial levels are meant for.
func (e *Executor) checkReadReplicas(t *schema.Table, cl cqlerr.Consistency, serial bool) error {
	if t.Virtual {
		return nil
	}
	r := e.replicasOf(t)
	if serial && cl.IsSerial() {
		return r.checkSerial(cl)
	}
	return r.checkRead(cl)
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
