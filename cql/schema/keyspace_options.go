package schema

import (
	"maps"
	"strconv"
	"strings"

	"github.com/cqld/cqld/cql/cqlerr"
)

// locatorPackage is where Cassandra looks for a replication strategy that is named without a package.
const locatorPackage = "org.apache.cassandra.locator."

// defaultReplicationFactor is the factor of a keyspace that names none.
const defaultReplicationFactor = "1"

// CheckKeyspaceProperties refuses a WITH clause of CREATE KEYSPACE for what Cassandra finds before it
// knows whether the keyspace exists.
func CheckKeyspaceProperties(props []Property) error {
	var replication map[string]string
	for _, p := range props {
		switch p.Name {
		case "replication":
			m, err := p.mapping()
			if err != nil {
				return err
			}
			replication = m
		case "durable_writes":
		default:
			return cqlerr.Syntaxf("Unknown property '%s'", p.Name)
		}
	}
	if _, ok := replication["class"]; !ok && len(replication) > 0 {
		return cqlerr.Configf("Missing replication strategy class")
	}
	if replication == nil {
		return cqlerr.Invalidf("Missing mandatory option 'replication'")
	}
	return nil
}

// NewKeyspace makes the keyspace that CREATE KEYSPACE describes, without tables, on a cluster of one node
// in that datacenter. props have passed CheckKeyspaceProperties. It also returns the warnings for the
// client.
func NewKeyspace(name string, props []Property, datacenter string) (*Keyspace, []string, error) {
	k := &Keyspace{Name: name, DurableWrites: true, Tables: map[string]*Table{}}
	var options map[string]string
	for _, p := range props {
		var err error
		switch p.Name {
		case "durable_writes":
			k.DurableWrites, err = p.boolean()
		case "replication":
			options, err = p.mapping()
		}
		if err != nil {
			return nil, nil, err
		}
	}
	class, err := strategyClass(options)
	if err != nil {
		return nil, nil, err
	}
	options = maps.Clone(options)
	delete(options, "class")

	var warnings []string
	if class == "SimpleStrategy" {
		warnings, err = simpleReplication(name, options)
	} else {
		warnings, err = networkReplication(name, options, datacenter)
	}
	if err != nil {
		return nil, nil, err
	}
	options["class"] = locatorPackage + class
	k.Replication = options
	return k, warnings, nil
}

// strategyClass returns the short name of the strategy: SimpleStrategy or NetworkTopologyStrategy.
func strategyClass(options map[string]string) (string, error) {
	class, ok := options["class"]
	if !ok {
		return "", cqlerr.Configf("Missing replication strategy class")
	}
	full := class
	if !strings.Contains(class, ".") {
		full = locatorPackage + class
	}
	short, ours := strings.CutPrefix(full, locatorPackage)
	if !ours {
		if strings.HasPrefix(full, "java.lang.") {
			return "", cqlerr.Configf("Specified replication strategy class (%s) is not derived from "+
				"AbstractReplicationStrategy", full)
		}
		return "", cqlerr.Configf("Unable to find replication strategy class '%s'", full)
	}
	switch short {
	case "SimpleStrategy", "NetworkTopologyStrategy":
		return short, nil
	case "LocalStrategy":
		return "", cqlerr.Invalidf("Unable to use given strategy class: LocalStrategy is reserved for internal use.")
	case "OldNetworkTopologyStrategy":
		return "", cqlerr.Configf("The support for the OldNetworkTopologyStrategy has been removed in C* version 4.0. " +
			"The keyspace strategy should be switch to NetworkTopologyStrategy")
	case "AbstractReplicationStrategy":
		return "", cqlerr.Configf("Error constructing replication strategy class")
	}
	return "", cqlerr.Configf("Unable to find replication strategy class '%s'", full)
}

// simpleReplication fills in and checks the options of SimpleStrategy.
func simpleReplication(keyspace string, options map[string]string) ([]string, error) {
	setDefault(options, "replication_factor", defaultReplicationFactor)
	factor, err := parseFactor(options["replication_factor"])
	if err != nil {
		return nil, err
	}
	if unknown := unknownKeys(options, "replication_factor"); len(unknown) > 0 {
		return nil, unrecognized(unknown, "SimpleStrategy", keyspace)
	}
	if factor > 1 {
		return []string{tooManyReplicas(factor, keyspace)}, nil
	}
	return nil, nil
}

// networkReplication gives the datacenter the factor that is meant for all, drops datacenters without
// replicas and checks the rest.
func networkReplication(keyspace string, options map[string]string, datacenter string) ([]string, error) {
	expandFactor(options, datacenter)
	names := javaOrder(unknownKeys(options))
	for _, dc := range names {
		if strings.EqualFold(dc, "replication_factor") {
			return nil, cqlerr.Configf("%s should not appear as an option at construction time for "+
				"NetworkTopologyStrategy", strings.ToLower(dc))
		}
		if _, err := parseFactor(options[dc]); err != nil {
			return nil, err
		}
	}
	if len(names) == 0 {
		return nil, cqlerr.Configf("Configuration for at least one datacenter must be present")
	}
	if unknown := unknownKeys(options, datacenter); len(unknown) > 0 {
		return nil, unrecognized(unknown, "NetworkTopologyStrategy", keyspace)
	}
	if factor, _ := parseFactor(options[datacenter]); factor > 1 {
		return []string{tooManyReplicas(factor, keyspace) + " for datacenter " + datacenter}, nil
	}
	return nil, nil
}

// expandFactor turns replication_factor, or its absence beside no datacenter, into the datacenter's
// factor. One that cannot be read is dropped without a word, as Cassandra does.
func expandFactor(options map[string]string, datacenter string) {
	if len(options) == 0 {
		options["replication_factor"] = defaultReplicationFactor
	}
	if given, ok := options["replication_factor"]; ok {
		delete(options, "replication_factor")
		factor, err := parseFactor(given)
		if err != nil {
			return
		}
		setDefault(options, datacenter, strconv.Itoa(factor))
	}
	maps.DeleteFunc(options, func(_, factor string) bool { return factor == "0" })
}

// parseFactor reads a replication factor, <replicas> or <replicas>/<transient>.
func parseFactor(s string) (int, error) {
	replicas, transient, split := strings.Cut(s, "/")
	if split && (transient == "" || strings.Contains(transient, "/")) {
		return 0, cqlerr.Configf("Replication factor format is <replicas> or <replicas>/<transient>")
	}
	if !split {
		transient = "0"
	}
	var counts [2]int
	for i, text := range []string{replicas, transient} {
		n, ok := parseJavaInt(text)
		if !ok {
			return 0, cqlerr.Configf(`For input string: "%s"`, text)
		}
		counts[i] = n
	}
	if counts[0] < 0 {
		return 0, cqlerr.Configf("Replication factor must be non-negative, found %d", counts[0])
	}
	if counts[1] > 0 {
		return 0, cqlerr.Configf("Transient replication is not enabled on this node")
	}
	return counts[0], nil
}

func unrecognized(options []string, class, keyspace string) error {
	return cqlerr.Configf("Unrecognized strategy option {%s} passed to %s for keyspace %s",
		javaOrder(options)[0], class, keyspace)
}

func tooManyReplicas(factor int, keyspace string) string {
	return "Your replication factor " + strconv.Itoa(factor) + " for keyspace " + keyspace +
		" is higher than the number of nodes 1"
}
