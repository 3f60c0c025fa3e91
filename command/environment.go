package command

import (
	"errors"
	"fmt"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/cqld/cqld/internal/suggest"
)

const envPrefix = "CQLD_"

// envName returns the environment variable of a flag: CQLD_LOG_LEVEL for --log-level.
func envName(name string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

// readEnvironment sets flags from the environment, unless the command line has them. It refuses a CQLD_ name that no
// flag of any command has. Flags of other commands are fine: a container's health check has the server's environment.
func (c *console) readEnvironment(cmd *cobra.Command) error {
	if err := c.checkEnvironment(cmd.Root()); err != nil {
		return err
	}
	return setFromEnvironment(cmd.Flags(), c.getenv)
}

// environmentKey annotates a flag that is set by the environment.
const environmentKey = "environment"

// isOnCommandLine reports whether a flag is set by the command line.
func isOnCommandLine(f *pflag.Flag) bool {
	_, fromEnvironment := f.Annotations[environmentKey]
	return f.Changed && !fromEnvironment
}

// setFromEnvironment sets flags from the environment, unless they are set.
func setFromEnvironment(f *pflag.FlagSet, getenv func(string) string) (err error) {
	f.VisitAll(func(one *pflag.Flag) {
		text := getenv(envName(one.Name))
		if text == "" || err != nil || one.Annotations[topicKey][0] == generalTopic {
			return
		}
		if a, ok := one.Value.(*assignments); ok {
			err = a.setDefaults(text)
		} else if !one.Changed {
			err = f.Set(one.Name, text)
			one.Annotations[environmentKey] = nil
		}
		if err != nil {
			err = usagef("%s=%q: %s", envName(one.Name), text, valueReason(one, text, err))
		}
	})
	return err
}

// serviceVariables matches the variables that Kubernetes sets in every container of a namespace for a service whose
// name begins with cqld.
var serviceVariables = regexp.MustCompile(`^CQLD(_\w+)?(` +
	`_SERVICE_(HOST|PORT(_\w+)?)=|` +
	`_PORT(_\d+_(TCP|UDP|SCTP))?=(tcp|udp|sctp)://|` +
	`_PORT_\d+_(TCP|UDP|SCTP)_(PROTO|PORT|ADDR)=)`)

// checkEnvironment refuses CQLD_ names that no flag has.
func (c *console) checkEnvironment(root *cobra.Command) error {
	var known []string
	for _, cmd := range root.Commands() {
		if cmd.Name() == "shell" {
			continue // its flags are not read from the environment
		}
		cmd.Flags().VisitAll(func(one *pflag.Flag) {
			if one.Annotations[topicKey][0] != generalTopic {
				known = append(known, strings.TrimPrefix(envName(one.Name), envPrefix))
			}
		})
	}
	for _, variable := range c.environ {
		name, value, _ := strings.Cut(variable, "=")
		flag, ours := strings.CutPrefix(name, envPrefix)
		if !ours || value == "" || slices.Contains(known, flag) || serviceVariables.MatchString(variable) {
			continue
		}
		if near := suggest.Nearest(flag, known); near != "" {
			return usagef("the environment has %s, but no flag has this name: did you mean %s?", name, envPrefix+near)
		}
		return usagef("the environment has %s, but no flag has this name", name)
	}
	return nil
}

// flagError turns an error of the flag parser into ours, which suggests a fix.
func flagError(f *pflag.FlagSet, err error) error {
	var unknown *pflag.NotExistError
	var bad *pflag.InvalidValueError
	var lacking *pflag.ValueRequiredError
	switch {
	case errors.As(err, &bad):
		one := bad.GetFlag()
		return badFlag(one.Name, bad.GetValue(), valueReason(one, bad.GetValue(), err))
	case errors.As(err, &lacking):
		return usagef("--%s needs a value: --%[1]s %s", lacking.GetFlag().Name, placeholder(lacking.GetFlag()))
	case errors.As(err, &unknown):
		given, name := "--"+unknown.GetSpecifiedName(), unknown.GetSpecifiedName()
		if letters := unknown.GetSpecifiedShortnames(); letters != "" { // -memory is parsed as -m -e -m ...
			given, name = "-"+letters, letters
		}
		var names []string
		f.VisitAll(func(one *pflag.Flag) { names = append(names, one.Name) })
		if len(name) == 1 && f.ShorthandLookup(name) != nil {
			return usagef("there is no flag %s: did you mean -%s?", given, name)
		}
		if len(name) > 1 {
			name, _, _ = strings.Cut(name, "=")
			if near := suggest.Nearest(name, names); near != "" {
				return usagef("there is no flag %s: did you mean --%s?", given, near)
			}
		}
		return usagef("there is no flag %s; --help lists the flags", given)
	}
	return usagef("%w", err)
}

// valueReason explains why a flag refuses a value. err is the error of setting it.
func valueReason(f *pflag.Flag, text string, err error) string {
	switch f.Value.Type() {
	case "duration":
		if _, err := strconv.ParseFloat(text, 64); err == nil {
			return "a duration needs a unit, such as " + text + "s for seconds"
		}
		return "want a duration, such as 5s or 1m30s"
	case "int":
		return "want a whole number"
	case "bool":
		return "want true or false"
	}
	var bad *pflag.InvalidValueError
	if errors.As(err, &bad) {
		err = bad.Unwrap()
	}
	return err.Error()
}

// badFlag returns the error for a refused value of a flag.
func badFlag(name, value, reason string) error { return usagef("--%s %q: %s", name, value, reason) }

// cassandraPrefix begins the environment variables of Cassandra's image.
const cassandraPrefix = "CASSANDRA_"

// cassandraFlags maps variables of Cassandra's image, without CASSANDRA_, to flags. If several are set for a flag, the
// first one counts.
var cassandraFlags = []struct{ flag, name string }{
	{"cluster-name", "CLUSTER_NAME"},
	{"datacenter", "DC"},
	{"rack", "RACK"},
	{"listen", "RPC_ADDRESS"},
	{"advertise", "BROADCAST_RPC_ADDRESS"},
	{"advertise", "BROADCAST_ADDRESS"},
}

// cassandraIgnored lists variables of Cassandra's image, and of images derived from it, that have no effect here, with
// the warning for each.
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

// propertySnitch is the snitch that reads the datacenter and the rack from the environment.
const propertySnitch = "GossipingPropertyFileSnitch"

// snitchNames are the defaults of this snitch in Cassandra's image.
var snitchNames = map[string]string{"datacenter": "dc1", "rack": "rack1"}

// cassandraEnv sets flags from variables of Cassandra's image, unless the command line or a CQLD_ name has set them.
// The warnings are about variables without effect.
func cassandraEnv(f *pflag.FlagSet, getenv func(string) string) (warnings []string, err error) {
	get := func(name string) string { return getenv(cassandraPrefix + name) }
	warn := func(name, reason string) {
		warnings = append(warnings, fmt.Sprintf("%s%s has no effect: %s", cassandraPrefix, name, reason))
	}
	given := map[string]bool{}
	f.Visit(func(one *pflag.Flag) { given[one.Name] = true })

	snitch := get("ENDPOINT_SNITCH")
	snitched := snitch == propertySnitch || strings.HasSuffix(snitch, "."+propertySnitch)
	if snitch != "" && !snitched && !strings.HasSuffix(snitch, "SimpleSnitch") {
		warn("ENDPOINT_SNITCH", "the only snitch that matters to a single node is "+propertySnitch)
	}
	for _, from := range cassandraFlags {
		value := get(from.name)
		if default_ := snitchNames[from.flag]; default_ != "" {
			if value != "" && !snitched {
				warn(from.name, "as in Cassandra's image, it needs CASSANDRA_ENDPOINT_SNITCH="+propertySnitch)
				continue
			}
			if value == "" && snitched {
				value = default_
			}
		}
		if from.flag == "advertise" && value == "auto" {
			continue // the default, the address that each client dialled, is better
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
			warn(ignored.name, ignored.reason)
		}
	}
	return warnings, nil
}
