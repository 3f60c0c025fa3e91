package guardrail

import (
	"strconv"

	"github.com/cqld/cqld/cql/cqlerr"
)

// Off is the value of a threshold that is not set.
const Off = -1

// Settings are the values of all settings, names.go has their names. They never change while a server runs.
type Settings struct {
	ApplyToAll bool // every client is subject to guardrails, not only ordinary users

	// Definitions of keyspaces.

	Keyspaces                Threshold
	MinimumReplicationFactor Threshold
	MaximumReplicationFactor Threshold
	SimpleStrategyEnabled    bool
	DropKeyspaceEnabled      bool

	// Definitions of tables and types.

	Tables                    Threshold
	ColumnsPerTable           Threshold
	SecondaryIndexesPerTable  Threshold
	MaterializedViewsPerTable Threshold
	FieldsPerUDT              Threshold
	VectorDimensions          Threshold
	TableProperties           Values[string]
	VectorTypeEnabled         bool
	AlterTableEnabled         bool
	DropTruncateTableEnabled  bool
	SecondaryIndexesEnabled   bool
	UncompressedTablesEnabled bool
	CompactTablesEnabled      bool
	ZeroTTLOnTWCSWarned       bool
	ZeroTTLOnTWCSEnabled      bool

	// SELECT.

	PageSize                       Threshold
	PartitionKeysInSelect          Threshold
	InSelectCartesianProduct       Threshold // writes too
	ReadLevels                     Values[cqlerr.Consistency]
	GroupByEnabled                 bool
	AllowFilteringEnabled          bool
	IndexWithoutPartition          bool
	IntersectFilteringQueryWarned  bool
	IntersectFilteringQueryEnabled bool

	// INSERT, UPDATE, DELETE and BATCH.

	ItemsPerCollection            Threshold
	CollectionSize                Threshold // bytes
	ColumnValueSize               Threshold // bytes
	SAIStringTermSize             Threshold // bytes
	SAIFrozenTermSize             Threshold // bytes
	SAIVectorTermSize             Threshold // bytes
	MaximumTimestamp              Threshold // microseconds after the current time
	MinimumTimestamp              Threshold // microseconds before the current time
	WriteLevels                   Values[cqlerr.Consistency]
	UserTimestampsEnabled         bool
	ReadBeforeWriteListOperations bool

	// These hold for all clients.

	BatchSizeWarn, BatchSizeFail int64 // bytes
	UnloggedPartitionsWarn       int64
	TombstoneWarn, TombstoneFail int64
	DefaultKeyspaceRF            int64

	UserFunctionsEnabled                 bool
	UserFunctionsWarn, UserFunctionsFail int64 // milliseconds

	reads, writes, values bool // some guardrail of SELECT, of modifications, and of the values they write is on

	shown map[string]string // the given values by name, as system_views.settings shows them
}

// Threshold has the values above which, or below which, something is warned of and refused. Off: it is not.
type Threshold struct{ Warn, Fail int64 }

// isOn reports whether the threshold does anything.
func (t Threshold) isOn() bool { return t != Threshold{Off, Off} }

// Values are lists of names to warn of, to ignore and to refuse.
type Values[T comparable] struct{ Warned, Ignored, Disallowed []T }

// isOn reports whether there are such values.
func (v Values[T]) isOn() bool { return len(v.Warned)+len(v.Ignored)+len(v.Disallowed) > 0 }

// Default returns Cassandra's defaults.
func Default() *Settings {
	s := &Settings{
		SAIStringTermSize: Threshold{1 << 10, 8 << 10},
		SAIFrozenTermSize: Threshold{1 << 10, 8 << 10},
		SAIVectorTermSize: Threshold{16 << 10, 32 << 10},

		BatchSizeWarn: 5 << 10, BatchSizeFail: 50 << 10,
		UnloggedPartitionsWarn: 10,
		TombstoneWarn:          1000, TombstoneFail: 100_000,
		DefaultKeyspaceRF: 1,
		UserFunctionsWarn: 500, UserFunctionsFail: 1500,

		shown: map[string]string{
			"sai_string_term_size_warn_threshold": "1KiB", "sai_string_term_size_fail_threshold": "8KiB",
			"sai_frozen_term_size_warn_threshold": "1KiB", "sai_frozen_term_size_fail_threshold": "8KiB",
			"sai_vector_term_size_warn_threshold": "16KiB", "sai_vector_term_size_fail_threshold": "32KiB",
			"batch_size_warn_threshold": "5KiB", "batch_size_fail_threshold": "50KiB",
			"user_defined_functions_warn_timeout": "500ms", "user_defined_functions_fail_timeout": "1500ms",
		},
	}
	for _, t := range thresholds {
		if field := t.field(s); *field == (Threshold{}) {
			*field = Threshold{Off, Off}
		}
	}
	for _, f := range flags {
		*f.field(s) = f.name != applyToAll && f.name != userFunctions
	}
	s.settle()
	return s
}

// settle computes which groups of guardrails are on, so that requests need not look at each setting.
func (s *Settings) settle() {
	s.reads = s.PageSize.isOn() || s.PartitionKeysInSelect.isOn() || s.InSelectCartesianProduct.isOn() ||
		s.ReadLevels.isOn() || !s.AllowFilteringEnabled || !s.IndexWithoutPartition
	s.values = s.ItemsPerCollection.isOn() || s.ColumnValueSize.isOn() || s.CollectionSize.isOn() ||
		!s.ReadBeforeWriteListOperations
	s.writes = s.values || s.InSelectCartesianProduct.isOn() || s.MaximumTimestamp.isOn() || s.MinimumTimestamp.isOn() ||
		s.WriteLevels.isOn() || !s.UserTimestampsEnabled
}

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
	case s.UserFunctionsFail < s.UserFunctionsWarn:
		return cqlerr.Configf("user_defined_functions_warn_timeout must less than user_defined_function_fail_timeout")
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
	case t.minimum && values.Fail > values.Warn:
		return cqlerr.Configf("The warn threshold %s for %s_warn_threshold should be greater than the fail threshold %s", warn,
			t.name, fail)
	case !t.minimum && values.Fail < values.Warn:
		return cqlerr.Configf("The warn threshold %s for %s_warn_threshold should be lower than the fail threshold %s", warn,
			t.name, fail)
	}
	return nil
}
