package protocol

import (
	"net/netip"
	"strings"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
)

// sampleRequests has every kind of request with every optional part that a version has.
func sampleRequests(v Version) []Request {
	value := func(s string) types.Value { return types.Value{Bytes: []byte(s)} }
	values := []types.Value{value("a"), {}, value("")}
	if v.HasUnset() {
		values = append(values, types.Value{Unset: true})
	}
	full := QueryParameters{
		Consistency: cqlerr.LocalQuorum,
		Flags: WithValues | SkipMetadata | WithPageSize | WithPagingState | WithSerialConsistency |
			WithTimestamp,
		Values: values, PageSize: 5000, PagingState: []byte{1, 2, 3}, SerialConsistency: cqlerr.LocalSerial,
		Timestamp: -5,
	}
	batch := QueryParameters{
		Consistency: cqlerr.One, Flags: WithSerialConsistency | WithTimestamp,
		SerialConsistency: cqlerr.Serial, Timestamp: 1 << 60,
	}
	named := QueryParameters{
		Consistency: cqlerr.All, Flags: WithValues | WithNames, Values: values[:1], Names: []string{"aB"},
		SerialConsistency: cqlerr.Serial,
	}
	plain := QueryParameters{Consistency: cqlerr.One, SerialConsistency: cqlerr.Serial}
	prepare := &Prepare{Query: "SELECT é FROM t"}
	execute := &Execute{ID: []byte("0123456789abcdef"), Parameters: full}
	if v.WideFlags() {
		for _, p := range []*QueryParameters{&full, &batch} {
			p.Flags |= WithKeyspace | WithNow
			p.Keyspace, p.NowInSeconds = "ks", 77
		}
		prepare.Flags, prepare.Keyspace = PrepareWithKeyspace, "ks"
		execute.ResultMetadataID = []byte("fedcba9876543210")
	}
	return []Request{
		&Startup{Options: []Option{{"CQL_VERSION", "3.0.0"}}},
		&Options{},
		&AuthResponse{Token: []byte("\x00u\x00p")},
		&AuthResponse{},
		&Query{Query: "SELECT * FROM t", Parameters: plain},
		&Query{Query: "INSERT", Parameters: full},
		&Query{Query: "UPDATE", Parameters: named},
		prepare,
		execute,
		&Batch{
			Type: UnloggedBatch,
			Children: []BatchChild{
				{Query: "DELETE", Values: []types.Value{}},
				{Prepared: true, ID: []byte("id"), Values: values},
				{Query: "INSERT", Values: values[:2]},
			},
			Parameters: batch,
		},
		&Register{Names: []string{"SCHEMA_CHANGE", "STATUS_CHANGE", "TOPOLOGY_CHANGE"}},
	}
}

// sampleType has every kind of type that a version has a code for.
func sampleTypes(v Version) []types.Type {
	all := []types.Type{
		types.ASCII, types.BigInt, types.Blob, types.Boolean, types.Counter, types.Decimal, types.Double,
		types.Float, types.Inet, types.Int, types.Text, types.Timestamp, types.TimeUUID, types.UUID,
		types.VarInt,
		&types.List{Elem: types.Int},
		&types.Set{Elem: &types.Map{Key: types.Text, Value: types.UUID}},
		&types.Tuple{Elems: []types.Type{types.Int, &types.List{Elem: types.Blob}}},
		&types.UserType{Keyspace: "ks", Name: "addr", Fields: []types.Field{
			{Name: "street", Type: types.Text}, {Name: "zip", Type: types.Int},
		}},
		&types.Custom{Class: "org.example.Type"},
	}
	if v >= V4 {
		all = append(all, types.Date, types.Time, types.SmallInt, types.TinyInt)
	}
	if v >= V5 {
		all = append(all, types.Duration)
	}
	return all
}

func sampleColumns(v Version, global bool) *ColumnSpecs {
	var cols []ColumnSpec
	for _, t := range sampleTypes(v) {
		c := ColumnSpec{Keyspace: "ks", Table: "t", Name: "c", Type: t}
		if !global {
			c.Table += strings.Repeat("x", len(cols))
		}
		cols = append(cols, c)
	}
	return NewColumnSpecs(cols)
}

// sampleResponses has every kind of response with every optional part that a version has.
func sampleResponses(v Version) []Response {
	two := NewColumnSpecs([]ColumnSpec{
		{Keyspace: "ks", Table: "t", Name: "k", Type: types.Int},
		{Keyspace: "ks", Table: "t", Name: "v", Type: types.Text},
	})
	cells := []byte("\x00\x00\x00\x04\x00\x00\x00\x01\xff\xff\xff\xff\x00\x00\x00\x00\x00\x00\x00\x01x")
	prepared := &Prepared{ID: []byte("0123456789abcdef"), Bind: two, Result: sampleColumns(v, true)}
	if v.HasPKIndexes() {
		prepared.PKIndexes = []uint16{1, 0}
	}
	insert := &Prepared{ID: []byte("0123456789abcdef"), Bind: sampleColumns(v, false)}
	rows := RowsMetadata{Columns: two, PagingState: []byte{9}}
	if v.HasResultMetadataID() {
		prepared.ResultMetadataID = []byte("fedcba9876543210")
		insert.ResultMetadataID = []byte("fedcba9876543210")
		rows.NewMetadataID = []byte("fedcba9876543210")
	}
	list := []Response{
		&Ready{},
		&Authenticate{Authenticator: PasswordAuthenticator},
		&AuthChallenge{Token: []byte("more")},
		&AuthSuccess{},
		&Supported{Options: []SupportedOption{{"COMPRESSION", Compressions()}}},
		&Void{},
		&SetKeyspace{Keyspace: "Ks"},
		&Rows{Metadata: rows, Count: 2, Cells: cells},
		&Rows{Metadata: RowsMetadata{Columns: two}, Cells: []byte{}},
		prepared,
		insert,
		&SchemaChange{Change: "CREATED", Target: "KEYSPACE", Keyspace: "ks"},
		&SchemaChange{Change: "DROPPED", Target: "TABLE", Keyspace: "ks", Name: "t"},
		&Event{Type: StatusChange, Change: "UP", Node: netip.MustParseAddrPort("127.0.0.1:9042")},
		&Event{Type: TopologyChange, Change: "NEW_NODE", Node: netip.MustParseAddrPort("[::1]:9042")},
		&Event{Type: SchemaChanges, Schema: SchemaChange{
			Change: "UPDATED", Target: "TYPE", Keyspace: "ks", Name: "addr",
		}},
	}
	if v.HasFunctionChanges() {
		list = append(list, &SchemaChange{
			Change: "CREATED", Target: "FUNCTION", Keyspace: "ks", Name: "f", Args: []string{"int", "text"},
		})
	}
	for _, e := range sampleErrors(v) {
		list = append(list, &Error{Err: e})
	}
	return list
}

// sampleErrors has every kind of error that a version has.
func sampleErrors(v Version) []*cqlerr.Error {
	failed := []cqlerr.FailureReason{{Replica: netip.MustParseAddr("127.0.0.1"), Reason: 1}}
	if !v.HasFailureReasons() {
		failed = []cqlerr.FailureReason{{}}
	}
	timeout := cqlerr.TimeoutDetail{Consistency: cqlerr.Quorum, Received: 1, BlockFor: 2}
	write, read := timeout, timeout
	write.WriteType, read.DataPresent = "SIMPLE", true
	failure := cqlerr.FailureDetail{Consistency: cqlerr.One, Received: 1, BlockFor: 2, Reasons: failed}
	writeFailure := failure
	writeFailure.WriteType = "BATCH"
	list := []*cqlerr.Error{
		cqlerr.Serverf("s"), cqlerr.Protocolf("p"),
		{Code: cqlerr.BadCredentials, Message: "b"},
		cqlerr.NotEnoughReplicas(cqlerr.Two, 2, 1), cqlerr.Overloadedf("o"),
		{Code: cqlerr.IsBootstrapping, Message: "i"},
		{Code: cqlerr.TruncateError, Message: "t"},
		{Code: cqlerr.WriteTimeout, Message: "w", Detail: write},
		{Code: cqlerr.ReadTimeout, Message: "r", Detail: read},
		cqlerr.Syntaxf("s"), cqlerr.Unauthorizedf("u"), cqlerr.Invalidf("i"), cqlerr.Configf("c"),
		cqlerr.KeyspaceExists("ks"), cqlerr.TableExists("ks", "t"), cqlerr.UnpreparedID([]byte("id")),
	}
	if v.HasFailures() {
		list = append(list, &cqlerr.Error{Code: cqlerr.ReadFailure, Message: "r", Detail: failure},
			&cqlerr.Error{Code: cqlerr.WriteFailure, Message: "w", Detail: writeFailure},
			&cqlerr.Error{Code: cqlerr.FunctionFailure, Message: "f", Detail: cqlerr.FunctionDetail{
				Keyspace: "ks", Function: "f", ArgTypes: []string{"int"},
			}})
	}
	if v.HasCASErrors() {
		cas := timeout
		cas.WriteType, cas.Contentions = writeTypeCAS, 3
		list = append(list, &cqlerr.Error{Code: cqlerr.WriteTimeout, Message: "c", Detail: cas})
	}
	return list
}
