package schema

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/cqld/cqld/cql/cqlerr"
)

// locatorPackage is where Cassandra looks for a replication strategy that is named without a package.
const locatorPackage = "org.apache.cassandra.locator."

// Placement has the facts about the cluster that a replication strategy depends on.
type Placement struct {
	Datacenter string         // of the node
	Factor     int            // of a keyspace that names none; 0 is 1
	Nodes      map[string]int // how many there are in each datacenter; nil: one, in Datacenter
}

// nodes is how many nodes there are in each datacenter.
func (p *Placement) nodes() map[string]int {
	if p.Nodes == nil {
		return map[string]int{p.Datacenter: 1}
	}
	return p.Nodes
}

// CheckKeyspaceProperties refuses a WITH clause of CREATE KEYSPACE for the mistakes that Cassandra finds before it
// looks for the keyspace.
func CheckKeyspaceProperties(props []Property) error {
	if err := CheckKeyspaceChange(props); err != nil {
		return err
	}
	if !slices.ContainsFunc(props, func(p Property) bool { return p.Name == "replication" }) {
		return cqlerr.Invalidf("Missing mandatory option 'replication'")
	}
	return nil
}

// CheckKeyspaceChange is CheckKeyspaceProperties for ALTER KEYSPACE.
func CheckKeyspaceChange(props []Property) error {
	known := func(name string) bool { return name == "replication" || name == "durable_writes" }
	if err := checkKnown(props, known); err != nil {
		return err
	}
	var replication map[string]string
	for _, p := range props {
		if p.Name != "replication" {
			continue
		}
		var err error
		if replication, err = p.mapping(); err != nil {
			return err
		}
	}
	if _, ok := replication["class"]; !ok && len(replication) > 0 {
		return cqlerr.Configf("Missing replication strategy class")
	}
	return nil
}

// NewKeyspace makes the keyspace that CREATE KEYSPACE describes, without tables. props have passed
// CheckKeyspaceProperties. It also returns the warnings for the client.
func NewKeyspace(name string, props []Property, at Placement) (*Keyspace, []string, error) {
	return (&Keyspace{Name: name, DurableWrites: true, Tables: map[string]*Table{}}).with(props, at)
}

// Altered makes the keyspace that ALTER KEYSPACE leaves; props have passed CheckKeyspaceChange.
func (k *Keyspace) Altered(props []Property, at Placement) (*Keyspace, []string, error) {
	own := *k
	changed, warnings, err := own.with(props, at)
	if err == nil && changed.counted().replicas > k.counted().replicas {
		warnings = append(warnings, "When increasing replication factor you need to run a full (-full) repair to distribute "+
			"the data.")
	}
	return changed, warnings, err
}

// with changes the keyspace as a WITH clause says. Its present replication is the default.
func (k *Keyspace) with(props []Property, at Placement) (*Keyspace, []string, error) {
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
	if len(options) == 0 && k.Replication != nil {
		options = k.Replication
	}
	class, err := strategyClass(options)
	if err != nil {
		return nil, nil, err
	}
	options = maps.Clone(options)
	delete(options, "class")

	var warnings []string
	if class == "SimpleStrategy" {
		warnings, err = simpleReplication(k, options, at)
	} else {
		warnings, err = networkReplication(k, options, at)
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
func simpleReplication(k *Keyspace, options map[string]string, at Placement) ([]string, error) {
	setDefault(options, "replication_factor", k.defaultFactor(at))
	factor, err := parseFactor(options["replication_factor"])
	if err != nil {
		return nil, err
	}
	if unknown := unknownKeys(options, "replication_factor"); len(unknown) > 0 {
		return nil, unrecognized(unknown, "SimpleStrategy", k.Name)
	}
	all := 0
	for _, n := range at.nodes() {
		all += n
	}
	if factor > all {
		return []string{tooManyReplicas(factor, k.Name, all)}, nil
	}
	return nil, nil
}

// networkReplication gives each datacenter the factor that is meant for all, drops datacenters without replicas and
// checks the rest.
func networkReplication(k *Keyspace, options map[string]string, at Placement) ([]string, error) {
	nodes := at.nodes()
	k.expandFactor(options, at)
	names := hashOrder(unknownKeys(options))
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
	datacenters := slices.Sorted(maps.Keys(nodes))
	if unknown := unknownKeys(options, datacenters...); len(unknown) > 0 {
		return nil, unrecognized(unknown, "NetworkTopologyStrategy", k.Name)
	}
	var warnings []string
	for _, datacenter := range datacenters {
		if factor, _ := parseFactor(options[datacenter]); factor > nodes[datacenter] {
			warnings = append(warnings, tooManyReplicas(factor, k.Name, nodes[datacenter])+" for datacenter "+datacenter)
		}
	}
	return warnings, nil
}

// expandFactor turns replication_factor, or its absence beside no datacenter, into the factor of each datacenter.
// Factors that datacenters have stay. One that cannot be read is dropped without a word, as Cassandra does.
func (k *Keyspace) expandFactor(options map[string]string, at Placement) {
	if len(options) == 0 {
		options["replication_factor"] = k.defaultFactor(at)
	}
	if given, ok := options["replication_factor"]; ok {
		delete(options, "replication_factor")
		for dc, factor := range k.Replication {
			if dc != "class" && dc != "replication_factor" {
				setDefault(options, dc, factor)
			}
		}
		factor, err := parseFactor(given)
		if err != nil {
			return
		}
		for datacenter := range at.nodes() {
			setDefault(options, datacenter, strconv.Itoa(factor))
		}
	}
	maps.DeleteFunc(options, func(_, factor string) bool { return factor == "0" })
}

// defaultFactor is the factor of a strategy that is not given one: that of the keyspace so far, if it has one for all.
func (k *Keyspace) defaultFactor(at Placement) string {
	if factor, ok := k.Replication["replication_factor"]; ok {
		return factor
	}
	return strconv.Itoa(max(at.Factor, 1))
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
		hashOrder(options)[0], class, keyspace)
}

func tooManyReplicas(factor int, keyspace string, nodes int) string {
	return "Your replication factor " + strconv.Itoa(factor) + " for keyspace " + keyspace +
		" is higher than the number of nodes " + strconv.Itoa(nodes)
}
