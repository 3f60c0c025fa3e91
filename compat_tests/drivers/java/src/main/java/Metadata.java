import com.datastax.oss.driver.api.core.CqlIdentifier;
import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.config.DefaultDriverOption;
import com.datastax.oss.driver.api.core.config.DriverConfigLoader;
import com.datastax.oss.driver.api.core.metadata.schema.KeyspaceMetadata;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Compares what the Java driver makes of the definitions of the server at the system property addr with what it makes of those of
 * the Cassandra at the property cassandra: every schema in the folder of the property schemas is made on both, and the driver's
 * own description must be the same. Schemas that cqld does not support yet are counted.
 */
public final class Metadata {
  private static final class Schema {
    String keyspace; // as CQL writes it
    List<String> statements = new ArrayList<>();
  }

  public static void main(String[] args) throws Exception {
    int alike = 0;
    int different = 0;
    int waiting = 0;
    try (CqlSession ours = connect("addr"); CqlSession theirs = connect("cassandra")) {
      for (Schema schema : schemas()) {
        try {
          make(ours, schema);
        } catch (RuntimeException e) {
          if (!String.valueOf(e.getMessage()).contains("is not supported by cqld yet")) {
            throw e;
          }
          waiting++;
          continue;
        }
        try {
          make(theirs, schema);
          String got = describe(ours, schema);
          String want = describe(theirs, schema);
          if (got.equals(want)) {
            alike++;
          } else {
            different++;
            System.out.println(schema.keyspace + "\n" + got + "\nwant\n" + want);
          }
        } finally {
          theirs.execute("DROP KEYSPACE IF EXISTS " + schema.keyspace);
        }
      }
    }
    System.out.printf("java: %d schemas alike, %d differ, %d are not supported yet%n", alike, different, waiting);
    System.exit(different == 0 ? 0 : 1);
  }

  private static CqlSession connect(String property) {
    String[] addr = System.getProperty(property).split(":");
    return CqlSession.builder()
        .addContactPoint(new InetSocketAddress(addr[0], Integer.parseInt(addr[1])))
        .withLocalDatacenter("datacenter1")
        .withConfigLoader(DriverConfigLoader.programmaticBuilder()
            .withDuration(DefaultDriverOption.REQUEST_TIMEOUT, Duration.ofMinutes(2))
            .withDuration(DefaultDriverOption.METADATA_SCHEMA_REQUEST_TIMEOUT, Duration.ofMinutes(2))
            .withBoolean(DefaultDriverOption.METADATA_SCHEMA_ENABLED, true)
            .build())
        .build();
  }

  private static List<Schema> schemas() throws Exception {
    List<Schema> all = new ArrayList<>();
    try (var paths = Files.list(Path.of(System.getProperty("schemas")))) {
      for (Path path : new TreeSet<>(paths.collect(Collectors.toList()))) {
        String[] parts = Files.readString(path).split("\n== ");
        for (int i = 1; i < parts.length; i++) {
          String[] lines = parts[i].split("\n----\n")[0].split("\n", 2);
          Schema schema = new Schema();
          schema.keyspace = lines[0].replaceFirst(" internals$", "");
          String body = lines[1].replaceAll("(?m)^(pending|not fed back): .*\n", "");
          for (String statement : (body + "\n").split(";\n")) {
            if (!statement.isBlank()) {
              schema.statements.add(statement.strip());
            }
          }
          all.add(schema);
        }
      }
    }
    return all;
  }

  private static void make(CqlSession session, Schema schema) {
    int first = 0;
    session.setSchemaMetadataEnabled(false);
    session.execute("DROP KEYSPACE IF EXISTS " + schema.keyspace);
    if (schema.statements.get(0).startsWith("CREATE KEYSPACE")) {
      session.execute(schema.statements.get(0));
      first = 1;
    } else {
      session.execute("CREATE KEYSPACE " + schema.keyspace
          + " WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
    }
    session.execute("USE " + schema.keyspace);
    for (String statement : schema.statements.subList(first, schema.statements.size())) {
      session.execute(statement);
    }
  }

  private static String describe(CqlSession session, Schema schema) {
    session.setSchemaMetadataEnabled(true);
    KeyspaceMetadata keyspace =
        session.refreshSchema().getKeyspace(CqlIdentifier.fromCql(schema.keyspace)).orElseThrow();
    StringBuilder all = new StringBuilder(keyspace.describeWithChildren(true));
    keyspace.getTables().values().stream()
        .sorted((a, b) -> a.getName().asInternal().compareTo(b.getName().asInternal()))
        .forEach(t -> all.append(t.getColumns()).append(t.getClusteringColumns()).append('\n'));
    return all.toString();
  }
}
