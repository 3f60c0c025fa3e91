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

// errSerialPartitions refuses a serial read of several partitions at once. In pages they are read one after the other,
// which is allowed.
func errSerialPartitions() error {
	return cqlerr.Invalidf("SERIAL/LOCAL_SERIAL consistency may only be requested for one partition at a time")
}

// checkReplicas refuses a consistency level that one node cannot reach: it is one replica, however many the keyspace
// asks for.
func checkReplicas(c *schema.Catalog, t *schema.Table, cl cqlerr.Consistency) error {
	if t.Virtual {
		return nil
	}
	factor := 1
	k := c.Keyspace(t.Keyspace)
	if k != nil {
		factor = k.Replicas()
	}
	alive := min(factor, 1)
	required := requiredReplicas(cl, factor)
	if required <= alive {
		return nil
	}
	if k != nil && cl == cqlerr.EachQuorum && k.Datacenter() != "" {
		return cqlerr.NotEnoughIn(k.Datacenter(), cl, required)
	}
	return cqlerr.NotEnoughReplicas(cl, required, alive)
}

// requiredReplicas is how many replicas have to answer.
func requiredReplicas(cl cqlerr.Consistency, factor int) int {
	switch cl {
	case cqlerr.Any:
		return 0
	case cqlerr.Two:
		return 2
	case cqlerr.Three:
		return 3
	case cqlerr.All:
		return factor
	case cqlerr.Quorum, cqlerr.LocalQuorum, cqlerr.EachQuorum, cqlerr.Serial, cqlerr.LocalSerial:
		return factor/2 + 1
	}
	return 1
}

// readLevel is the level that decides how many replicas a read needs: a serial read of one partition needs a quorum.
func readLevel(cl cqlerr.Consistency, scan bool) cqlerr.Consistency {
	if !scan && cl == cqlerr.Serial {
		return cqlerr.Quorum
	}
	if !scan && cl == cqlerr.LocalSerial {
		return cqlerr.LocalQuorum
	}
	return cl
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
