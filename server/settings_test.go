package server_test

import (
	"testing"
	"time"

	"github.com/cqld/cqld/cqltest"
	"github.com/cqld/cqld/internal/inside"
	"github.com/cqld/cqld/protocol"
)

// system_views.settings shows what the server was started with, and not Cassandra's defaults.
func TestSettingsShowOptions(t *testing.T) {
	s := cqltest.RunT(t, cqltest.WithAuth(), func(c *inside.Config) {
		c.Server.Masks, c.Server.ClusterName, c.Server.Shown = true, "c", map[string]string{"commitlog_sync": "batch"}
		c.Server.Limits.ReadTimeout, c.Server.Limits.Connections = 7*time.Second, 9
		c.Server.Limits.Frame, c.Server.Limits.RequestsPerSecond = 3<<20, 50
	})
	c := connect(t, s, asSuperuser(protocol.V5))
	shown := map[string]string{}
	for _, row := range run(t, c, "SELECT name, value FROM system_views.settings").Rows {
		shown[string(row[0])] = string(row[1])
	}
	for name, want := range map[string]string{
		"authenticator": "PasswordAuthenticator", "authorizer.class_name": "CassandraAuthorizer", "cluster_name": "c",
		"dynamic_data_masking_enabled": "true", "read_request_timeout": "7000ms", "read_request_timeout_in_ms": "7000",
		"native_transport_max_concurrent_connections": "9", "native_transport_max_concurrent_connections_per_ip": "-1",
		"native_transport_max_frame_size": "3MiB", "native_transport_max_frame_size_in_mb": "3",
		"native_transport_max_requests_per_second": "50", "native_transport_rate_limiting_enabled": "true",
		"commitlog_sync": "batch", "concurrent_reads": "32", "client_encryption_options.enabled": "false",
	} {
		if shown[name] != want {
			t.Errorf("%s is %q, want %q", name, shown[name], want)
		}
	}
}
