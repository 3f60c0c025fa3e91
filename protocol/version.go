package protocol

import "fmt"

// Version is a version of the protocol. Its methods are the differences between versions.
type Version byte

// The versions that are served. V6 is in development at Cassandra: a client has to set FlagUseBeta, and
// nothing else distinguishes it from V5.
const (
	V3 Version = 3
	V4 Version = 4
	V5 Version = 5
	V6 Version = 6
)

// SupportedVersions names the versions as SUPPORTED lists them and errors print them.
func SupportedVersions() []string {
	return []string{V3.String(), V4.String(), V5.String(), V6.String()}
}

// String is the version as Cassandra prints it: 4/v4, 6/v6-beta.
func (v Version) String() string {
	if v.IsBeta() {
		return fmt.Sprintf("%d/v%d-beta", byte(v), byte(v))
	}
	return fmt.Sprintf("%d/v%d", byte(v), byte(v))
}

// Supported reports whether the package can encode and decode v.
func (v Version) Supported() bool { return v >= V3 && v <= V6 }

// IsBeta reports whether envelopes of the version carry FlagUseBeta.
func (v Version) IsBeta() bool { return v == V6 }

// HasLongHeader reports whether headers have 9 bytes, with 2 for the stream. Older versions have one byte
// for it; they are not served, but told so in their own form.
func (v Version) HasLongHeader() bool { return v >= V3 }

// HasSegments reports whether envelopes travel in segments once STARTUP is answered.
func (v Version) HasSegments() bool { return v >= V5 }

// HasBodyCompression reports whether bodies are compressed one by one, and the header says so.
func (v Version) HasBodyCompression() bool { return v < V5 }

// HasSnappy reports whether snappy may be negotiated.
func (v Version) HasSnappy() bool { return v < V5 }

// HasUnset reports whether a value of length -2 means "not set"; before, any negative length is null.
func (v Version) HasUnset() bool { return v >= V4 }

// HasWarnings reports whether responses may carry warnings.
func (v Version) HasWarnings() bool { return v >= V4 }

// HasPayload reports whether bodies may carry a custom payload.
func (v Version) HasPayload() bool { return v >= V4 }

// HasPKIndexes reports whether PREPARE's answer says which markers are the partition key.
func (v Version) HasPKIndexes() bool { return v >= V4 }

// HasFunctionChanges reports whether schema changes name functions and aggregates.
func (v Version) HasFunctionChanges() bool { return v >= V4 }

// HasTraceEvents reports whether TRACE_COMPLETE may be registered for.
func (v Version) HasTraceEvents() bool { return v >= V4 }

// HasFailures reports whether the errors READ_FAILURE, WRITE_FAILURE and FUNCTION_FAILURE exist.
func (v Version) HasFailures() bool { return v >= V4 }

// HasFailureReasons reports whether those errors list the replicas and their reasons.
func (v Version) HasFailureReasons() bool { return v >= V5 }

// HasCASErrors reports whether CAS_WRITE_UNKNOWN exists and CAS timeouts count contentions.
func (v Version) HasCASErrors() bool { return v >= V5 }

// HasPrepareFlags reports whether PREPARE has flags behind its text.
func (v Version) HasPrepareFlags() bool { return v >= V5 }

// HasResultMetadataID reports whether result columns of prepared statements have an id.
func (v Version) HasResultMetadataID() bool { return v >= V5 }

// WideFlags reports whether the flags of QUERY, EXECUTE and BATCH are 4 bytes instead of one.
func (v Version) WideFlags() bool { return v >= V5 }

// HasSmallTypes reports whether date, time, smallint and tinyint have a code of their own.
func (v Version) HasSmallTypes() bool { return v >= V4 }

// HasDuration reports whether duration has a code of its own.
func (v Version) HasDuration() bool { return v >= V5 }
