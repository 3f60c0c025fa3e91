package server

import (
	"crypto/tls"
	"maps"
	"strconv"
	"time"

	"github.com/cqld/cqld/store/system"
)

// shownSettings are the rows of system_views.settings. Its map has the settings of Cassandra that are options here.
func (s *Server) shownSettings(o Options) (rows []system.Setting) {
	authenticator, authorizer := "AllowAllAuthenticator", "AllowAllAuthorizer"
	if o.Logins {
		authenticator, authorizer = "PasswordAuthenticator", "CassandraAuthorizer"
	}
	l := &s.limits
	shown := map[string]string{
		"authenticator":                                      authenticator,
		"authorizer":                                         authorizer,
		"cas_contention_timeout":                             shownTime(l.CASTimeout),
		"counter_write_request_timeout":                      shownTime(l.CounterTimeout),
		"dynamic_data_masking_enabled":                       strconv.FormatBool(o.Masks),
		"native_transport_max_concurrent_connections":        shownLimit(l.Connections),
		"native_transport_max_concurrent_connections_per_ip": shownLimit(l.ConnectionsPerIP),
		"native_transport_max_frame_size":                    shownSize(int64(l.Frame)),
		"native_transport_max_message_size":                  strconv.Itoa(l.Frame) + "B",
		"native_transport_max_request_data_in_flight":        strconv.FormatInt(l.BytesInFlight, 10) + "B",
		"native_transport_rate_limiting_enabled":             strconv.FormatBool(l.RequestsPerSecond > 0),
		"prepared_statements_cache_size":                     shownSize(l.PreparedBytes),
		"range_request_timeout":                              shownTime(l.RangeTimeout),
		"read_request_timeout":                               shownTime(l.ReadTimeout),
		"truncate_request_timeout":                           shownTime(l.TruncateTimeout),
		"write_request_timeout":                              shownTime(l.WriteTimeout),
	}
	if l.RequestsPerSecond > 0 {
		shown["native_transport_max_requests_per_second"] = strconv.Itoa(l.RequestsPerSecond)
	}
	if o.TLS != nil {
		required := o.TLS.Config.ClientAuth == tls.RequireAndVerifyClientCert
		shown["client_encryption_options.enabled"] = "true"
		shown["client_encryption_options.optional"] = strconv.FormatBool(o.TLS.Optional)
		shown["client_encryption_options.require_client_auth"] = strconv.FormatBool(required)
	}
	maps.Copy(shown, o.Shown)
	for _, row := range o.Settings.ShownWithCassandras(shown) {
		rows = append(rows, system.Setting(row))
	}
	return rows
}

// shownTime is a duration as Cassandra shows timeouts.
func shownTime(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) + "ms" }

// shownLimit is a limit as Cassandra shows it, where -1 is none.
func shownLimit(n int) string {
	if n <= 0 {
		n = -1
	}
	return strconv.Itoa(n)
}

// shownSize is a size in the largest unit without a fraction.
func shownSize(n int64) string {
	units := []string{"B", "KiB", "MiB"}
	for len(units) > 1 && n%1024 == 0 {
		n, units = n/1024, units[1:]
	}
	return strconv.FormatInt(n, 10) + units[0]
}
