import com.datastax.oss.driver.api.core.CqlIdentifier;
import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.CqlSessionBuilder;
import com.datastax.oss.driver.api.core.config.DefaultDriverOption;
import com.datastax.oss.driver.api.core.config.DriverConfigLoader;
import com.datastax.oss.driver.api.core.cql.AsyncResultSet;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.metadata.schema.SchemaChangeListenerBase;
import com.datastax.oss.driver.api.core.metadata.schema.TableMetadata;
import com.datastax.oss.driver.api.core.servererrors.AlreadyExistsException;
import com.datastax.oss.driver.api.core.servererrors.InvalidQueryException;
import com.datastax.oss.driver.api.core.servererrors.SyntaxError;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;

/**
 * What an application does with the Java driver, against the server at the system property addr: connect,
 * define, prepare, write 10,000 rows, page through them, see a schema event, USE, and get errors by their
 * class. Once for each protocol version and compression. With CQL_CA in the environment it connects through TLS, see Tls.
 */
public final class Smoke {
  private static final String KEYSPACE = "driver_java";
  private static final int ROWS = 10_000;
  private static final int PARTITIONS = 10;

  private final InetSocketAddress node;
  private final String version;
  private final String compression;

  private Smoke(InetSocketAddress node, String version, String compression) {
    this.node = node;
    this.version = version;
    this.compression = compression;
  }

  public static void main(String[] args) throws Exception {
    String[] addr = System.getProperty("addr").split(":");
    InetSocketAddress node = new InetSocketAddress(addr[0], Integer.parseInt(addr[1]));
    new Smoke(node, "V3", "none").run();
    new Smoke(node, "V4", "none").run();
    new Smoke(node, "V4", "lz4").run();
    new Smoke(node, "V5", "none").run();
    new Smoke(node, "V5", "lz4").run();
    System.exit(0);
  }

  private void run() throws Exception {
    CompletableFuture<String> seen = new CompletableFuture<>();
    try (CqlSession session = connect(seen, null)) {
      define(session);
      writeRows(session);
      readRows(session);
      schemaEvent(session, seen);
      use(session);
      errors(session);
      session.execute("DROP KEYSPACE " + KEYSPACE);
      check(session.getContext().getProtocolVersion().name().equals(version), "wrong version");
    }
    System.out.println("java driver 4.19.0 " + version + " " + compression + ": ok");
  }

  private CqlSession connect(CompletableFuture<String> seen, String keyspace) throws Exception {
    DriverConfigLoader config = DriverConfigLoader.programmaticBuilder()
        .withString(DefaultDriverOption.PROTOCOL_VERSION, version)
        .withString(DefaultDriverOption.PROTOCOL_COMPRESSION, compression)
        .withDuration(DefaultDriverOption.REQUEST_TIMEOUT, Duration.ofSeconds(20))
        .withDuration(DefaultDriverOption.METADATA_SCHEMA_WINDOW, Duration.ofMillis(100))
        .build();
    CqlSessionBuilder builder = CqlSession.builder();
    SSLContext tls = Tls.context();
    if (tls != null) {
      builder = builder.withSslContext(tls);
    }
    return builder
        .addContactPoint(node)
        .withLocalDatacenter("datacenter1")
        .withConfigLoader(config)
        .withKeyspace(keyspace)
        .withSchemaChangeListener(new SchemaChangeListenerBase() {
          @Override
          public void onTableCreated(TableMetadata table) {
            if (table.getName().asInternal().equals("seen")) {
              seen.complete(table.getKeyspace().asInternal());
            }
          }
        })
        .build();
  }

  private void define(CqlSession session) {
    session.execute("DROP KEYSPACE IF EXISTS " + KEYSPACE);
    session.execute("CREATE KEYSPACE " + KEYSPACE
        + " WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
    session.execute("CREATE TABLE " + KEYSPACE + ".rows (p int, c int, v text, PRIMARY KEY (p, c))");
  }

  private void writeRows(CqlSession session) throws Exception {
    PreparedStatement insert =
        session.prepare("INSERT INTO " + KEYSPACE + ".rows (p, c, v) VALUES (?, ?, ?)");
    List<CompletionStage<AsyncResultSet>> inFlight = new ArrayList<>();
    for (int i = 0; i < ROWS; i++) {
      inFlight.add(session.executeAsync(insert.bind(i % PARTITIONS, i / PARTITIONS, "value " + i)));
      if (inFlight.size() == 500) {
        await(inFlight);
      }
    }
    await(inFlight);
  }

  private static void await(List<CompletionStage<AsyncResultSet>> inFlight) throws Exception {
    for (CompletionStage<AsyncResultSet> stage : inFlight) {
      stage.toCompletableFuture().get(30, TimeUnit.SECONDS);
    }
    inFlight.clear();
  }

  private void readRows(CqlSession session) {
    PreparedStatement select = session.prepare("SELECT p, c, v FROM " + KEYSPACE + ".rows");
    Set<Integer> seen = new HashSet<>();
    for (Row row : session.execute(select.bind().setPageSize(100))) {
      int i = row.getInt("c") * PARTITIONS + row.getInt("p");
      check(row.getString("v").equals("value " + i), "row " + i + " has " + row.getString("v"));
      check(seen.add(i), "row " + i + " came twice");
    }
    check(seen.size() == ROWS, seen.size() + " rows came");
  }

  private void schemaEvent(CqlSession session, CompletableFuture<String> seen) throws Exception {
    try (CqlSession other = connect(new CompletableFuture<>(), null)) {
      other.execute("CREATE TABLE " + KEYSPACE + ".seen (k int PRIMARY KEY)");
    }
    check(seen.get(10, TimeUnit.SECONDS).equals(KEYSPACE), "an event of another keyspace");
    check(session.getMetadata().getKeyspace(KEYSPACE).get().getTable("seen").isPresent(),
        "the table of the event is not in the metadata");
  }

  private void use(CqlSession session) {
    session.execute("USE " + KEYSPACE);
    check(session.getKeyspace().equals(java.util.Optional.of(CqlIdentifier.fromInternal(KEYSPACE))),
        "the session's keyspace is not that of USE");
    String v = session.execute("SELECT v FROM rows WHERE p = 3 AND c = 7").one().getString(0);
    check(v.equals("value 73"), "after USE the row has " + v);
  }

  private void errors(CqlSession session) {
    expect(SyntaxError.class, () -> session.execute("SELEC * FROM rows"));
    expect(InvalidQueryException.class, () -> session.execute("SELECT nope FROM rows"));
    expect(InvalidQueryException.class, () -> session.prepare("SELECT nope FROM rows"));
    expect(AlreadyExistsException.class, () -> session.execute("CREATE TABLE rows (k int PRIMARY KEY)"));
  }

  private static void expect(Class<? extends Exception> kind, Runnable statement) {
    try {
      statement.run();
    } catch (Exception e) {
      check(kind.isInstance(e), "expected " + kind + ", got " + e);
      return;
    }
    check(false, "expected " + kind);
  }

  private static void check(boolean ok, String otherwise) {
    if (!ok) {
      throw new AssertionError(otherwise);
    }
  }
}
