package functions

import (
	"time"

	"github.com/cqld/cqld/cql/types"
)

// timeFunctions read the clock and turn the kinds of time into each other.
var timeFunctions = withOldName([]Function{
	{
		Name: "current_timestamp", Returns: types.Timestamp, Volatile: true,
		Doc:      "The time in milliseconds.",
		Call:     environment(func(e *Env) []byte { return types.EncodeTimestamp(e.Now) }),
		Examples: []Example{{"current_timestamp()", "'2020-01-02T03:04:05.678Z'"}},
	},
	{
		Name: "current_date", Returns: types.Date, Volatile: true,
		Doc:      "The day, in UTC.",
		Call:     environment(func(e *Env) []byte { return types.EncodeDate(days(e.Now.UnixMilli())) }),
		Examples: []Example{{"current_date()", "'2020-01-02'"}},
	},
	{
		Name: "current_time", Returns: types.Time, Volatile: true,
		Doc: "The time of day, in UTC.",
		Call: environment(func(e *Env) []byte {
			now := e.Now.UTC()
			midnight := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, time.UTC)
			return types.EncodeBigInt(int64(now.Sub(midnight)))
		}),
		Examples: []Example{{"current_time()", "'03:04:05.678901234'"}},
	},
	{
		Name: "to_date", Args: []types.Type{types.Timestamp}, Returns: types.Date, Monotonic: true,
		Doc:  "The day of a timestamp, in UTC.",
		Call: strict(types.Timestamp, func(b []byte) []byte { return types.EncodeDate(days(types.DecodeBigInt(b))) }),
		Examples: []Example{
			{"to_date((timestamp)'2020-01-02 03:04')", "'2020-01-02'"},
			{"to_date((timestamp)-1)", "'1970-01-01'"},
			{"to_date((timestamp)-86400001)", "'1969-12-31'"},
			{"to_date((timestamp)'292278994-08-17 07:12')", "'-1701532-04-06'"},
		},
	},
	{
		Name: "to_date", Args: []types.Type{types.TimeUUID}, Returns: types.Date, Monotonic: true,
		Doc:      "The day of a timeuuid, in UTC.",
		Call:     strict(types.TimeUUID, func(b []byte) []byte { return types.EncodeDate(days(types.TimeUUIDMillis(b))) }),
		Examples: []Example{{"to_date(50554d6e-29bb-11e5-b345-feff819cdc9f)", "'2015-07-14'"}},
	},
	{
		Name: "to_timestamp", Args: []types.Type{types.TimeUUID}, Returns: types.Timestamp, Monotonic: true,
		Doc:      "The time of a timeuuid.",
		Call:     strict(types.TimeUUID, func(b []byte) []byte { return types.EncodeBigInt(types.TimeUUIDMillis(b)) }),
		Examples: []Example{{"to_timestamp(50554d6e-29bb-11e5-b345-feff819cdc9f)", "'2015-07-14T00:00:18.805Z'"}},
	},
	{
		Name: "to_timestamp", Args: []types.Type{types.Date}, Returns: types.Timestamp, Monotonic: true,
		Doc:      "The beginning of a day, in UTC.",
		Call:     strict(types.Date, dayMillis),
		Examples: []Example{{"to_timestamp((date)'2020-01-02')", "'2020-01-02T00:00:00.000Z'"}},
	},
	{
		Name: "to_unix_timestamp", Args: []types.Type{types.Timestamp}, Returns: types.BigInt, Monotonic: true,
		Doc:      "The milliseconds since 1970 of a timestamp.",
		Call:     strict(types.Timestamp, func(b []byte) []byte { return b }),
		Examples: []Example{{"to_unix_timestamp((timestamp)'2020-01-02')", "1577923200000"}},
	},
	{
		Name: "to_unix_timestamp", Args: []types.Type{types.TimeUUID}, Returns: types.BigInt, Monotonic: true,
		Doc:      "The milliseconds since 1970 of a timeuuid.",
		Call:     strict(types.TimeUUID, func(b []byte) []byte { return types.EncodeBigInt(types.TimeUUIDMillis(b)) }),
		Examples: []Example{{"to_unix_timestamp(50554d6e-29bb-11e5-b345-feff819cdc9f)", "1436832018805"}},
	},
	{
		Name: "to_unix_timestamp", Args: []types.Type{types.Date}, Returns: types.BigInt, Monotonic: true,
		Doc:  "The milliseconds from 1970 to the beginning of a day, in UTC.",
		Call: strict(types.Date, dayMillis),
		Examples: []Example{
			{"to_unix_timestamp((date)4294967295)", "185542587100800000"},
			{"to_unix_timestamp((date)0)", "-185542587187200000"},
		},
	},
})

// milliPerDay is a day in the unit of timestamps.
const milliPerDay = 24 * 60 * 60 * 1000

// days are whole days from 1970. Like Cassandra's they are rounded towards 1970, and wrap around at the
// ends of the type.
func days(millis int64) int64 { return int64(int32(millis / milliPerDay)) }

// dayMillis is the beginning of a day in milliseconds since 1970.
func dayMillis(b []byte) []byte { return types.EncodeBigInt(types.DecodeDate(b) * milliPerDay) }
