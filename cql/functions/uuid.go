package functions

import "github.com/cqld/cqld/cql/types"

// uuidFunctions make UUIDs: fresh ones, and the bounds of a time.
var uuidFunctions = append(withOldName([]Function{
	{
		Name: "current_timeuuid", Returns: types.TimeUUID, Volatile: true,
		Doc:  "A fresh timeuuid, as now gives.",
		Call: environment(func(e *Env) []byte { u := e.TimeUUID(); return u[:] }),
		Examples: []Example{
			{"current_timeuuid()", "896e34e0-2d0c-11ea-8080-808080808080"},
		},
	},
	{
		Name: "min_timeuuid", Args: []types.Type{types.Timestamp}, Returns: types.TimeUUID,
		Doc: "The least timeuuid of a millisecond, to compare with.",
		Call: strict(types.Timestamp, func(b []byte) []byte {
			u := types.MinTimeUUID(types.DecodeBigInt(b))
			return u[:]
		}),
		Examples: []Example{
			{"min_timeuuid('2020-01-01')", "a747c000-2c29-11ea-8080-808080808080"},
			{"min_timeuuid(0)", "13814000-1dd2-11b2-8080-808080808080"},
			{"min_timeuuid(-12219292800001)", "ffffd8f0-ffff-ffff-8080-808080808080"},
			{"min_timeuuid(null)", "null"},
		},
	},
	{
		Name: "max_timeuuid", Args: []types.Type{types.Timestamp}, Returns: types.TimeUUID,
		Doc: "The greatest timeuuid of a millisecond, to compare with.",
		Call: strict(types.Timestamp, func(b []byte) []byte {
			u := types.MaxTimeUUID(types.DecodeBigInt(b))
			return u[:]
		}),
		Examples: []Example{
			{"max_timeuuid('2020-01-01')", "a747e70f-2c29-11ea-7f7f-7f7f7f7f7f7f"},
			{"max_timeuuid(0)", "1381670f-1dd2-11b2-7f7f-7f7f7f7f7f7f"},
		},
	},
}), []Function{
	{
		Name: "now", Returns: types.TimeUUID, Volatile: true,
		Doc:      "A fresh timeuuid, later than any before.",
		Call:     environment(func(e *Env) []byte { u := e.TimeUUID(); return u[:] }),
		Examples: []Example{{"now()", "896e34e0-2d0c-11ea-8080-808080808080"}},
	},
	{
		Name: "uuid", Returns: types.UUID, Volatile: true,
		Doc:      "A random UUID.",
		Call:     environment(func(e *Env) []byte { u := e.UUID(); return u[:] }),
		Examples: []Example{{"uuid()", "01010101-0101-4101-8101-010101010101"}},
	},
}...)
