package types

import (
	"maps"
	"slices"
	"strings"
)

// partitioner orders the values of PartitionerDefinedOrder.
const partitioner = "org.apache.cassandra.dht.Murmur3Partitioner"

// custom reads the parameters of a class that CQL has no name for, and returns it with all of them spelled out.
func (p *classParser) custom(name string, depth int) (Type, error) {
	var params []string
	var err error
	switch open := p.take("("); {
	case name == "PartitionerDefinedOrder":
		params = []string{partitioner}
		if open && strings.TrimPrefix(p.word(), "org.apache.cassandra.dht.") != "Murmur3Partitioner" || open && !p.take(")") {
			return nil, invalidDefinition(name)
		}
	case open && name == "CompositeType":
		params, err = p.components(depth)
	case open:
		params, err = p.aliases(depth)
	}
	if err != nil {
		return nil, invalidDefinition(name)
	}
	return &Custom{Class: marshalPackage + name + "(" + strings.Join(params, ",") + ")"}, nil
}

// components reads classes up to the closing parenthesis; commas between them may be left out.
func (p *classParser) components(depth int) (classes []string, err error) {
	for !p.take(")") {
		class, err := p.component(depth)
		if err != nil {
			return nil, err
		}
		classes = append(classes, class)
		p.take(",")
	}
	return classes, nil
}

// aliases reads x=>class up to the closing parenthesis, where x is one ASCII character, and returns them in its order.
// Of several with the same one the last counts.
func (p *classParser) aliases(depth int) ([]string, error) {
	classes := map[string]string{}
	for !p.take(")") {
		alias, rest, found := strings.Cut(strings.TrimLeft(p.rest, " \t\n"), "=>")
		if alias = strings.TrimRight(alias, " \t\n"); !found || len(alias) != 1 || alias[0] >= 0x80 {
			return nil, invalidf("Syntax error parsing '%s'", p.rest)
		}
		p.rest = rest
		class, err := p.component(depth)
		if err != nil {
			return nil, err
		}
		classes[alias] = alias + "=>" + class
		p.take(",")
	}
	var sorted []string
	for _, alias := range slices.Sorted(maps.Keys(classes)) {
		sorted = append(sorted, classes[alias])
	}
	return sorted, nil
}

// component reads one class. Its order belongs to it here.
func (p *classParser) component(depth int) (string, error) {
	reversed := IsReversedClass(p.rest)
	t, err := p.parse(depth + 1)
	switch {
	case err != nil:
		return "", err
	case reversed:
		return marshalPackage + "ReversedType(" + t.ClassName() + ")", nil
	}
	return t.ClassName(), nil
}
