package schema

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/cqld/cqld/cql/cqlerr"
)

var (
	percentilePolicy = regexp.MustCompile(`^(?i)(\d+|\d+\.\d*|\.\d+)p(?:ercentile)?$`)
	fixedPolicy      = regexp.MustCompile(`^(?i)(\d+|\d+\.\d*|\.\d+)ms$`)
	hybridPolicy     = regexp.MustCompile(`^(?i)(min|max)\(([^,\s()]+),\s*([^,\s()]+)\)$`)
)

// policy is one speculative retry policy as text, with its kind as error texts name it.
type policy struct{ text, kind string }

// readSpeculativeRetry reads speculative_retry or additional_write_policy and returns it as Cassandra
// shows it: MAX(50ms, 99.0P) is MAX(99p,50ms).
func readSpeculativeRetry(p Property) (string, error) {
	s, err := p.text()
	if err != nil {
		return "", err
	}
	if m := hybridPolicy.FindStringSubmatch(s); m != nil {
		return hybrid(s, strings.ToUpper(m[1]), m[2], m[3])
	}
	simple, err := simplePolicy(s)
	return simple.text, err
}

// simplePolicy reads a policy that is not a MIN or MAX of two. Errors name speculative_retry for both
// options.
func simplePolicy(s string) (policy, error) {
	switch strings.ToUpper(s) {
	case "ALWAYS":
		return policy{"ALWAYS", "ALWAYS"}, nil
	case "NEVER", "NONE":
		return policy{"NEVER", "NEVER"}, nil
	}
	if m := percentilePolicy.FindStringSubmatch(s); m != nil {
		f, _ := strconv.ParseFloat(m[1], 64)
		if f <= 0 || f >= 100 {
			return policy{}, cqlerr.Configf("Invalid value %s for PERCENTILE option 'speculative_retry': must be "+
				"between (0.0 and 100.0)", s)
		}
		return policy{strconv.FormatFloat(f, 'f', -1, 64) + "p", "PERCENTILE"}, nil
	}
	if m := fixedPolicy.FindStringSubmatch(s); m != nil {
		f, _ := strconv.ParseFloat(m[1], 64)
		return policy{strconv.Itoa(int(min(f, 1<<31-1))) + "ms", "FIXED"}, nil
	}
	return policy{}, cqlerr.Configf("Invalid value %s for option 'speculative_retry'", s)
}

// hybrid combines a percentile and a fixed policy.
func hybrid(s, function, left, right string) (string, error) {
	a, errA := simplePolicy(left)
	b, errB := simplePolicy(right)
	ok := errA == nil && errB == nil && isHybridPart(a) && isHybridPart(b)
	if !ok {
		return "", cqlerr.Configf("Invalid value %s for option 'speculative_retry'", s)
	}
	if a.kind == b.kind {
		return "", cqlerr.Configf("Invalid value %s for option 'speculative_retry': MIN()/MAX() arguments should "+
			"be of different types, but both are of type %s", s, a.kind)
	}
	if a.kind == "FIXED" {
		a, b = b, a
	}
	return function + "(" + a.text + "," + b.text + ")", nil
}

func isHybridPart(p policy) bool { return p.kind == "PERCENTILE" || p.kind == "FIXED" }
