package guardrail

import "github.com/cqld/cqld/cql/cqlerr"

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

	// What holds for everybody.

	BatchSizeWarn, BatchSizeFail int64 // bytes
	UnloggedPartitionsWarn       int64
	TombstoneWarn, TombstoneFail int64
	DefaultKeyspaceRF            int64

	reads, writes, values bool // some guardrail of SELECT, of modifications, and of the values they write is on

	shown map[string]string // by name, what was given, as system_views.settings shows it
}

// Threshold has the values above which, or below which, something is warned of and refused. Off: it is not.
type Threshold struct{ Warn, Fail int64 }

// isOn reports whether the threshold does anything.
func (t Threshold) isOn() bool { return t != Threshold{Off, Off} }

// Values are what is warned of, ignored and refused.
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

		shown: map[string]string{
			"sai_string_term_size_warn_threshold": "1KiB", "sai_string_term_size_fail_threshold": "8KiB",
			"sai_frozen_term_size_warn_threshold": "1KiB", "sai_frozen_term_size_fail_threshold": "8KiB",
			"sai_vector_term_size_warn_threshold": "16KiB", "sai_vector_term_size_fail_threshold": "32KiB",
			"batch_size_warn_threshold": "5KiB", "batch_size_fail_threshold": "50KiB",
		},
	}
	for _, t := range thresholds {
		if field := t.field(s); *field == (Threshold{}) {
			*field = Threshold{Off, Off}
		}
	}
	for _, f := range flags {
		*f.field(s) = f.name != applyToAll
	}
	s.settle()
	return s
}

// settle finds out what is on, so that requests need not look at each setting.
func (s *Settings) settle() {
	s.reads = s.PageSize.isOn() || s.PartitionKeysInSelect.isOn() || s.InSelectCartesianProduct.isOn() ||
		s.ReadLevels.isOn() || !s.AllowFilteringEnabled || !s.IndexWithoutPartition
	s.values = s.ItemsPerCollection.isOn() || s.ColumnValueSize.isOn() || s.CollectionSize.isOn() ||
		!s.ReadBeforeWriteListOperations
	s.writes = s.values || s.InSelectCartesianProduct.isOn() || s.MaximumTimestamp.isOn() || s.MinimumTimestamp.isOn() ||
		s.WriteLevels.isOn() || !s.UserTimestampsEnabled
}
