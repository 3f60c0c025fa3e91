package guardrail

import (
	"strconv"

	"github.com/cqld/cqld/cql/cqlerr"
)

// validate refuses values that do not fit together, in Cassandra's words.
func (s *Settings) validate() error {
	for _, t := range thresholds {
		if err := s.validateThreshold(t); err != nil {
			return err
		}
	}
	rf := s.DefaultKeyspaceRF
	switch fail := s.MaximumReplicationFactor.Fail; {
	case rf < 1:
		return cqlerr.Configf("default_keyspace_rf cannot be less than 1")
	case s.MinimumReplicationFactor.Fail > rf:
		return cqlerr.Configf("minimum_replication_factor_fail_threshold to be set (%d) cannot be greater than "+
			"default_keyspace_rf (%d)", s.MinimumReplicationFactor.Fail, rf)
	case fail != Off && fail < rf:
		return cqlerr.Configf("maximum_replication_factor_fail_threshold to be set (%d) cannot be lesser than "+
			"default_keyspace_rf (%d)", fail, rf)
	}
	return nil
}

// validateThreshold refuses a pair of values.
func (s *Settings) validateThreshold(t threshold) error {
	values := *t.field(s)
	for i, n := range []int64{values.Warn, values.Fail} {
		name := t.name + []string{"_warn_threshold", "_fail_threshold"}[i]
		switch {
		case n == 0 && t.unit == count:
			return cqlerr.Configf("Invalid value for %s: 0 is not allowed; if attempting to disable use -1", name)
		case n == 0 && t.unit == bytes:
			return cqlerr.Configf("Invalid value for %s: 0 is not allowed; if attempting to disable use an empty value", name)
		case n < Off:
			return cqlerr.Configf("Invalid value %d for %s: negative values are not allowed, outside of -1 which disables the "+
				"guardrail", n, name)
		}
	}
	if values.Warn == Off || values.Fail == Off {
		return nil
	}
	warn, fail := strconv.FormatInt(values.Warn, 10), strconv.FormatInt(values.Fail, 10)
	if t.unit == bytes {
		warn, fail = s.shown[t.name+"_warn_threshold"], s.shown[t.name+"_fail_threshold"]
	}
	switch {
	case t.least && values.Fail > values.Warn:
		return cqlerr.Configf("The warn threshold %s for %s_warn_threshold should be greater than the fail threshold %s", warn,
			t.name, fail)
	case !t.least && values.Fail < values.Warn:
		return cqlerr.Configf("The warn threshold %s for %s_warn_threshold should be lower than the fail threshold %s", warn,
			t.name, fail)
	}
	return nil
}
