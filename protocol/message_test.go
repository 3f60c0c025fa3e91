package protocol

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/cqld/cqld/cql/cqlerr"
	"github.com/cqld/cqld/cql/types"
)

// TestMalformedRequests has the errors that clients get for bodies that are no messages.
func TestMalformedRequests(t *testing.T) {
	const query = "00000001 78 0001"
	for _, c := range []struct {
		version Version
		flags   Flags
		op      Opcode
		body    string
		want    string
	}{
		{V4, 0, OpQuery, "", missingLongString},
		{V4, 0, OpQuery, "ffffffff", missingLongString},
		{V4, 0, OpQuery, "00000003 7879", missingLongString},
		{V4, 0, OpQuery, "00000001 78", "Not enough bytes in the message body to read a [short]"},
		{V4, 0, OpQuery, "00000001 78 000c 00", "Unknown code 12 for a consistency level"},
		{V4, 0, OpQuery, query + "01 0001", "Not enough bytes in the message body to read an [int]"},
		{
			V4, 0, OpQuery, query + "01 0001 00000005 00",
			"Not enough bytes in the message body to read a [value] of the announced length",
		},
		{V4, 0, OpQuery, query + "01 0001 fffffffd", "Invalid ByteBuf length -3"},
		{
			V4, 0, OpQuery, query + "20 8000000000000000",
			"Out of bound timestamp, must be in [-9223372036854775807, 9223372036854775807] (got -9223372036854775808)",
		},
		{V4, 0, OpQuery, query + "80 0002 61", missingString},
		{V5, 0, OpPrepare, "00000001 78", "Not enough bytes in the message body to read an [int]"},
		{V4, 0, OpExecute, "0002 61", missingBytes},
		{V4, 0, OpBatch, "03 0000 0001 00", "Invalid BATCH message type 3"},
		{V4, 0, OpBatch, "ff 0000 0001 00", "Invalid BATCH message type -1"},
		{V4, 0, OpBatch, "00 0001 02", "Invalid query kind in BATCH messages. Must be 0 or 1 but got 2"},
		{V4, 0, OpStartup, "0001 0001", missingString},
		{
			V4, 0, OpRegister, "0001 0002 c328",
			"Cannot decode string as UTF8: 'c328'; java.nio.charset.MalformedInputException: Input length = 1",
		},
		{
			V4, 0, OpRegister, "0001 0004 61e28228",
			"Cannot decode string as UTF8: 'e28228'; java.nio.charset.MalformedInputException: Input length = 2",
		},
		{
			V4, 0, OpRegister, "0001 0003 eda080",
			"Cannot decode string as UTF8: 'eda080'; java.nio.charset.MalformedInputException: Input length = 3",
		},
		{
			V4, 0, OpRegister, "0001 0003 f09f98",
			"Cannot decode string as UTF8: 'f09f98'; java.nio.charset.MalformedInputException: Input length = 3",
		},
		{
			V4, 0, OpRegister, "0001 0001 80",
			"Cannot decode string as UTF8: '80'; java.nio.charset.MalformedInputException: Input length = 1",
		},
		{V3, FlagCustomPayload, OpOptions, "0000", "Received frame with CUSTOM_PAYLOAD flag for native protocol version < 4"},
		{V4, FlagCustomPayload, OpOptions, "0001 0001", missingString},
		{V4, 0, OpCredentials, "0000", "Unsupported message"},
		{V4, 0, OpAuthResponse, "0000", "Not enough bytes in the message body to read an [int]"},
	} {
		var requests Requests
		_, err := requests.Decode(Header{Version: c.version, Flags: c.flags, Opcode: c.op}, unhex(t, c.body))
		e, ok := cqlerr.As(err)
		if !ok || e.Code != cqlerr.ProtocolError || e.Message != c.want {
			t.Errorf("%s %s %s:\n have %v\n want %s", c.version, c.op, c.body, err, c.want)
		}
	}
}

// TestUnset has values of negative length in the versions that differ.
func TestUnset(t *testing.T) {
	for v, want := range map[Version]types.Value{V3: {}, V4: {Unset: true}} {
		r := reader{b: unhex(t, "fffffffe")}
		if got := r.value(v); got.Unset != want.Unset || got.Bytes != nil || r.err != nil {
			t.Errorf("%s: %+v, %v", v, got, r.err)
		}
	}
}

// TestPageSize refuses pages of no rows.
func TestPageSize(t *testing.T) {
	p := QueryParameters{Flags: WithPageSize}
	if err := p.CheckPageSize(); err == nil || err.Error() != "The page size cannot be 0" {
		t.Error(err)
	}
	p.PageSize = -1
	if err := p.CheckPageSize(); err != nil {
		t.Error(err)
	}
}

// TestRegisteredTypes has names in any case and those a version does not have.
func TestRegisteredTypes(t *testing.T) {
	for _, c := range []struct {
		version Version
		names   string
		want    string
	}{
		{V4, "schema_change STATUS_CHANGE", "[SCHEMA_CHANGE STATUS_CHANGE] <nil>"},
		{V4, "SCHEMA_CHANGE FOO STATUS_CHANGE", "[] Invalid value 'FOO' for Type"},
		{V4, "TRACE_COMPLETE", "[TRACE_COMPLETE] <nil>"},
		{V3, "TRACE_COMPLETE", "[] Event TRACE_COMPLETE not valid for protocol version 3/v3"},
		{V3, "STATUS_CHANGE TRACE_COMPLETE", "[STATUS_CHANGE] Event TRACE_COMPLETE not valid for protocol version 3/v3"},
		{V3, "STATUS_CHANGE TRACE_COMPLETE FOO", "[] Invalid value 'FOO' for Type"},
	} {
		list, err := (&Register{Names: strings.Fields(c.names)}).EventTypes(c.version)
		if got := fmt.Sprint(list, " ", err); got != c.want {
			t.Errorf("%s: %s", c.names, got)
		}
	}
}

// TestStartupOptions finds keys in any case, and the last of several.
func TestStartupOptions(t *testing.T) {
	m := Startup{Options: []Option{{"cql_version", "1"}, {"CQL_VERSION", "2"}, {"x", ""}}}
	if got, ok := m.Get(OptionCQLVersion); got != "2" || !ok {
		t.Error(got)
	}
	if _, ok := m.Get(OptionCompression); ok {
		t.Error("there is no compression")
	}
	if got := fmt.Sprint(m.Map()); got != "map[CQL_VERSION:2 X:]" {
		t.Error(got)
	}
}

// TestOldVersionsOfErrors has the errors that versions do not know.
func TestOldVersionsOfErrors(t *testing.T) {
	const plain = "Operation timed out - received only 0 responses."
	failure := cqlerr.FailureDetail{Consistency: cqlerr.One, BlockFor: 1, WriteType: "SIMPLE"}
	cas := cqlerr.TimeoutDetail{Consistency: cqlerr.Serial, BlockFor: 1, WriteType: "CAS", Contentions: 4}
	for _, c := range []struct {
		version Version
		code    cqlerr.Code
		detail  cqlerr.Detail
		want    cqlerr.Code
		text    string
	}{
		{V3, cqlerr.ReadFailure, failure, cqlerr.ReadTimeout, plain},
		{V3, cqlerr.WriteFailure, failure, cqlerr.WriteTimeout, plain},
		{V3, cqlerr.FunctionFailure, cqlerr.FunctionDetail{}, cqlerr.Invalid, "ERROR FUNCTION_FAILURE: text"},
		{V4, cqlerr.WriteTimeout, cas, cqlerr.WriteTimeout, plain},
		{V4, cqlerr.CASWriteUnknown, cas, cqlerr.WriteTimeout, plain},
		{V4, cqlerr.ReadFailure, failure, cqlerr.ReadFailure, "text"},
		{V5, cqlerr.CASWriteUnknown, cas, cqlerr.CASWriteUnknown, "text"},
		{V5, cqlerr.WriteTimeout, cas, cqlerr.WriteTimeout, "text"},
	} {
		m := &Error{&cqlerr.Error{Code: c.code, Message: "text", Detail: c.detail}}
		var got Error
		if err := Decode(&got, c.version, AppendBody(nil, c.version, m)); err != nil {
			t.Errorf("%s %v: %v", c.version, m, err)
		}
		if got.Err.Code != c.want || got.Err.Message != c.text {
			t.Errorf("%s %s: %s", c.version, m, &got)
		}
		if d, ok := got.Err.Detail.(cqlerr.TimeoutDetail); ok && c.code == cqlerr.CASWriteUnknown && c.version < V5 {
			if d.WriteType != "CAS" {
				t.Errorf("%s: write type %q", c.version, d.WriteType)
			}
		}
	}
	var got Error
	long := &Error{cqlerr.Invalidf("%s", strings.Repeat("é", math.MaxUint16))}
	if err := Decode(&got, V4, AppendBody(nil, V4, long)); err != nil || len(got.Err.Message) != 65534 {
		t.Errorf("%d bytes, %v", len(got.Err.Message), err)
	}
}

// TestOldVersionOfFunctions has what v3 makes of a change of a function.
func TestOldVersionOfFunctions(t *testing.T) {
	m := &SchemaChange{Change: "DROPPED", Target: "AGGREGATE", Keyspace: "ev3", Name: "su", Args: []string{"int"}}
	want := unhex(t, "00000005 0007 55504441544544 0008 4b45595350414345 0003 657633 0000")
	if got := AppendBody(nil, V3, m); string(got) != string(want) {
		t.Errorf("\n have %x\n want %x", got, want)
	}
}

// TestTypeOptions has types that versions encode differently.
func TestTypeOptions(t *testing.T) {
	custom := func(class string) string {
		class = "org.apache.cassandra.db.marshal." + class
		return fmt.Sprintf("0000%04x%x", len(class), class)
	}
	for _, c := range []struct {
		typ     types.Type
		version Version
		want    string
	}{
		{types.Duration, V5, "0015"},
		{types.Duration, V4, custom("DurationType")},
		{&types.List{Elem: types.Duration}, V4, "0020" + custom("DurationType")},
		{types.Date, V4, "0011"},
		{types.Date, V3, custom("SimpleDateType")},
		{types.TinyInt, V3, custom("ByteType")},
		{types.Empty, V5, custom("EmptyType")},
		{
			&types.Vector{Elem: types.Float, Dim: 3}, V5,
			custom("VectorType(org.apache.cassandra.db.marshal.FloatType , 3)"),
		},
		{&types.Map{Key: types.Text, Value: types.Int, Frozen: true}, V3, "0021000d0009"},
	} {
		if got := fmt.Sprintf("%x", appendType(nil, c.typ, c.version)); got != c.want {
			t.Errorf("%s %s:\n have %s\n want %s", c.typ, c.version, got, c.want)
		}
		r := reader{b: unhex(t, c.want)}
		if got := r.columnType(0); r.err != nil || got.ClassName() != types.Type.ClassName(unfrozen(c.typ)) {
			t.Errorf("%s %s: decoded as %v, %v", c.typ, c.version, got, r.err)
		}
	}
}

// unfrozen is a map as the wire shows it.
func unfrozen(t types.Type) types.Type {
	if m, ok := t.(*types.Map); ok {
		return &types.Map{Key: m.Key, Value: m.Value}
	}
	return t
}

// TestResultMetadataID has ids of Cassandra.
func TestResultMetadataID(t *testing.T) {
	for _, c := range []struct {
		columns []ColumnSpec
		want    string
	}{
		{nil, "d41d8cd98f00b204e9800998ecf8427e"},
		{[]ColumnSpec{{Name: "k", Type: types.Int}, {Name: "v", Type: types.Text}}, "20b7fe8510d99228eec24d9ecd5a2ff1"},
	} {
		if got := fmt.Sprintf("%x", ResultMetadataID(c.columns)); got != c.want {
			t.Errorf("%v: %s, want %s", c.columns, got, c.want)
		}
	}
	columns := []ColumnSpec{{Name: "c", Type: types.Text}}
	plain := ResultMetadataID(columns)
	columns[0].Desc = true
	if ResultMetadataID(columns) == plain {
		t.Error("a descending column has the id of an ascending one")
	}
}

// TestRowsMetadata leaves columns out only if they have not changed.
func TestRowsMetadata(t *testing.T) {
	columns := NewColumnSpecs([]ColumnSpec{{Keyspace: "ks", Table: "t", Name: "k", Type: types.Int}})
	for _, c := range []struct {
		version Version
		m       RowsMetadata
		want    string
	}{
		{V5, RowsMetadata{Columns: columns, Skip: true}, "00000005 00000001"},
		{V5, RowsMetadata{}, "00000000 00000000"},
		{V5, RowsMetadata{Skip: true}, "00000004 00000000"},
		{
			V5,
			RowsMetadata{Columns: columns, Skip: true, NewMetadataID: []byte{7}, PagingState: []byte{8}},
			"0000000b 00000001 00000001 08 0001 07 0002 6b73 0001 74 0001 6b 0009",
		},
		{V4, RowsMetadata{Columns: columns, Skip: true, NewMetadataID: []byte{7}}, "00000005 00000001"},
	} {
		if got := c.m.append(nil, c.version); string(got) != string(unhex(t, c.want)) {
			t.Errorf("%+v\n have %x\n want %s", c.m, got, c.want)
		}
	}
}

// TestRowsThatDoNotFit has counts that the cells cannot hold.
func TestRowsThatDoNotFit(t *testing.T) {
	columns := NewColumnSpecs([]ColumnSpec{{Name: "k", Type: types.Int}})
	for _, m := range []*Rows{
		{Count: 1},
		{Metadata: RowsMetadata{Columns: columns}, Count: math.MaxInt32},
		{Metadata: RowsMetadata{Columns: columns}, Count: 1, Cells: []byte{0, 0, 0, 5, 1}},
		{Metadata: RowsMetadata{Columns: columns}, Count: 2, Cells: []byte{0, 0, 0, 4, 1, 2, 3, 4}},
	} {
		if rows, err := m.Split(); err == nil {
			t.Errorf("%s became %v", m, rows)
		}
	}
}
