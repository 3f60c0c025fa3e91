package command

import (
	"fmt"
	"net"
	"strings"

	"github.com/spf13/pflag"
)

// cassandraPrefix is that of the environment's names in Cassandra's own image.
const cassandraPrefix = "CASSANDRA_"

// cassandraFlags are flags whose values may come from the environment of Cassandra's image, by the names behind
// CASSANDRA_. Of several names for a flag, the first one that is set counts.
var cassandraFlags = []struct{ flag, name string }{
	{"cluster-name", "CLUSTER_NAME"},
	{"datacenter", "DC"},
	{"rack", "RACK"},
	{"listen", "RPC_ADDRESS"},
	{"advertise", "BROADCAST_RPC_ADDRESS"},
	{"advertise", "BROADCAST_ADDRESS"},
}

// cassandraIgnored are names of Cassandra's image, and of what is made for it, that mean nothing to one node, with what
// to tell somebody who sets them.
var cassandraIgnored = []struct{ name, reason string }{
	{"SEEDS", "there are no other nodes"},
	{"LISTEN_ADDRESS", "there are no other nodes to listen to; CASSANDRA_RPC_ADDRESS is the address for clients"},
	{"NUM_TOKENS", "the number of tokens is always 16"},
	{"START_RPC", "there is no Thrift"},
	{"NAME", "there are no other nodes"},
	{"AUTHENTICATOR", "--auth password makes clients log in"},
	{"AUTHORIZER", "--auth password checks permissions"},
	{"USER", "--auth password makes clients log in, at first as cassandra with the password cassandra"},
	{"USERNAME", "--auth password makes clients log in, at first as cassandra with the password cassandra"},
	{"PASSWORD", "--auth password makes clients log in, at first as cassandra with the password cassandra"},
	{"PASSWORD_SEEDER", "--auth password makes clients log in, at first as cassandra with the password cassandra"},
}

// propertySnitch is the snitch that takes the names of datacenter and rack from the environment.
const propertySnitch = "GossipingPropertyFileSnitch"

// snitchNames are the names that this snitch has in the files of Cassandra's image.
var snitchNames = map[string]string{"datacenter": "dc1", "rack": "rack1"}

// cassandraEnv gives flags that neither the command line nor the environment's CQLD_ names have set the values that the
// environment has for Cassandra's image. told are warnings about what has no effect.
func cassandraEnv(f *pflag.FlagSet, getenv func(string) string) (told []string, err error) {
	get := func(name string) string { return getenv(cassandraPrefix + name) }
	tell := func(name, reason string) {
		told = append(told, fmt.Sprintf("%s%s has no effect: %s", cassandraPrefix, name, reason))
	}
	given := map[string]bool{}
	f.Visit(func(one *pflag.Flag) { given[one.Name] = true })

	snitch := get("ENDPOINT_SNITCH")
	snitched := snitch == propertySnitch || strings.HasSuffix(snitch, "."+propertySnitch)
	if snitch != "" && !snitched && !strings.HasSuffix(snitch, "SimpleSnitch") {
		tell("ENDPOINT_SNITCH", "of the snitches only "+propertySnitch+" means something to one node")
	}
	for _, from := range cassandraFlags {
		value := get(from.name)
		if default_ := snitchNames[from.flag]; default_ != "" {
			if value != "" && !snitched {
				tell(from.name, "as in Cassandra's image, it needs CASSANDRA_ENDPOINT_SNITCH="+propertySnitch)
				continue
			}
			if value == "" && snitched {
				value = default_
			}
		}
		if from.flag == "advertise" && value == "auto" {
			continue // what each client dialled, which is better
		}
		if value == "" || given[from.flag] {
			continue
		}
		given[from.flag] = true
		if from.flag == "listen" {
			value = net.JoinHostPort(strings.Trim(value, "[]"), defaultPort)
		}
		if err := f.Set(from.flag, value); err != nil {
			return nil, usagef("%s%s=%q: %w", cassandraPrefix, from.name, value, err)
		}
	}
	for _, ignored := range cassandraIgnored {
		if get(ignored.name) != "" {
			tell(ignored.name, ignored.reason)
		}
	}
	return told, nil
}
