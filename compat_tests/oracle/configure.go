package main

import (
	"context"
	_ "embed"
	"encoding/xml"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

var (
	//go:embed pom.xml
	pomXML []byte
	//go:embed cassandra.yaml
	cassandraYAML string
	//go:embed jvm.options
	jvmOptions []byte
	//go:embed logback.xml
	logbackXML []byte
)

// release is the version of Cassandra that pom.xml names.
func release() (string, error) {
	var pom struct {
		Version string `xml:"dependencies>dependency>version"`
	}
	if err := xml.Unmarshal(pomXML, &pom); err != nil || pom.Version == "" {
		return "", fmt.Errorf("pom.xml names no version: %w", err)
	}
	return pom.Version, nil
}

// jars returns the folder with Cassandra and its dependencies. It downloads them from Maven Central the first time.
func jars(ctx context.Context, folder string) (string, error) {
	version, err := release()
	if err != nil {
		return "", err
	}
	lib := filepath.Join(folder, "lib-"+version)
	if _, err := os.Stat(lib); err == nil {
		return lib, nil
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", err
	}
	work, err := os.MkdirTemp(folder, "lib-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(work)
	pom := filepath.Join(work, "pom.xml")
	if err := os.WriteFile(pom, pomXML, 0o644); err != nil {
		return "", err
	}
	mvn := exec.CommandContext(ctx, "mvn", "-q", "-B", "-f", pom, "dependency:copy-dependencies",
		"-DincludeScope=runtime", "-DoutputDirectory="+filepath.Join(work, "lib"))
	if out, err := mvn.CombinedOutput(); err != nil {
		return "", fmt.Errorf("bring Cassandra's jars: %w\n%s", err, out)
	}
	return lib, os.Rename(filepath.Join(work, "lib"), lib) // all or nothing
}

// configure writes the node's configuration.
func (n *node) configure() error {
	if err := os.MkdirAll(filepath.Join(n.home(), "triggers"), 0o755); err != nil {
		return err
	}
	authenticator, authorizer := "AllowAllAuthenticator", "AllowAllAuthorizer"
	if n.auth {
		authenticator, authorizer = "PasswordAuthenticator", "CassandraAuthorizer"
	}
	yaml := strings.NewReplacer(
		"{address}", n.address,
		"{port}", strconv.Itoa(n.port),
		"{storage_port}", strconv.Itoa(n.port+1),
		"{ssl_storage_port}", strconv.Itoa(n.port+2),
		"{node}", n.home(),
		"{authenticator}", authenticator,
		"{authorizer}", authorizer,
		"{auth}", strconv.FormatBool(n.auth),
	).Replace(cassandraYAML)
	for _, setting := range strings.Split(n.settings, ";") {
		if name, value, ok := strings.Cut(setting, "="); ok {
			yaml += strings.TrimSpace(name) + ": " + strings.TrimSpace(value) + "\n"
		} else if strings.TrimSpace(setting) != "" {
			return fmt.Errorf("-settings %q: want NAME=VALUE", setting)
		}
	}
	for name, content := range map[string][]byte{
		"cassandra.yaml": []byte(yaml),
		"jvm.options":    jvmOptions,
		"logback.xml":    logbackXML,
	} {
		if err := os.WriteFile(filepath.Join(n.home(), name), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// arguments are the arguments of java.
func (n *node) arguments(lib string) ([]string, error) {
	agents, err := filepath.Glob(filepath.Join(lib, "jamm-*.jar"))
	if err != nil || len(agents) != 1 {
		return nil, fmt.Errorf("%d jars of jamm in %s: %w", len(agents), lib, err)
	}
	home := n.home()
	return []string{
		"@" + filepath.Join(home, "jvm.options"),
		"-javaagent:" + agents[0],
		"-Xms" + n.heap, "-Xmx" + n.heap,
		"-Dcassandra.config=file://" + filepath.Join(home, "cassandra.yaml"),
		"-Dcassandra.storagedir=" + home,
		"-Dcassandra.logdir=" + home,
		"-Dcassandra.triggers_dir=" + filepath.Join(home, "triggers"),
		"-Dcassandra.jmx.local.port=" + strconv.Itoa(n.port+3),
		"-Dlogback.configurationFile=" + filepath.Join(home, "logback.xml"),
		"-cp", filepath.Join(lib, "*"),
		"org.apache.cassandra.service.CassandraDaemon",
	}, nil
}
