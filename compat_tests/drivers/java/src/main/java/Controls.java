import com.datastax.oss.driver.api.core.ConsistencyLevel;
import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.DefaultConsistencyLevel;
import com.datastax.oss.driver.api.core.DriverException;
import com.datastax.oss.driver.api.core.DriverTimeoutException;
import com.datastax.oss.driver.api.core.AllNodesFailedException;
import com.datastax.oss.driver.api.core.config.DefaultDriverOption;
import com.datastax.oss.driver.api.core.config.DriverConfigLoader;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.data.CqlDuration;
import com.datastax.oss.driver.api.core.servererrors.BootstrappingException;
import com.datastax.oss.driver.api.core.servererrors.DefaultWriteType;
import com.datastax.oss.driver.api.core.servererrors.OverloadedException;
import com.datastax.oss.driver.api.core.servererrors.ReadFailureException;
import com.datastax.oss.driver.api.core.servererrors.ReadTimeoutException;
import com.datastax.oss.driver.api.core.servererrors.ServerError;
import com.datastax.oss.driver.api.core.servererrors.TruncateException;
import com.datastax.oss.driver.api.core.servererrors.UnavailableException;
import com.datastax.oss.driver.api.core.servererrors.WriteFailureException;
import com.datastax.oss.driver.api.core.servererrors.WriteTimeoutException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/**
 * What a test of an application in Java does with a server of its own: it starts cqld, the binary that CQLD names, moves
 * the clock over a TTL, has requests fail in every way, and goes back to a snapshot.
 */
public final class Controls {
  private static final String SELECT = "SELECT * FROM shop.carts WHERE id = 1";
  private static final String INSERT = "INSERT INTO shop.carts (id) VALUES (2)";

  private final CqlSession session;

  private Controls(CqlSession session) {
    this.session = session;
  }

  public static void main(String[] args) throws Exception {
    int port;
    try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = free.getLocalPort();
    }
    String binary = System.getenv("CQLD");
    String address = "127.0.0.1:" + port;
    Process server = new ProcessBuilder(
            binary, "serve", "--memory", "--test-controls", "--log-level", "error", "--listen", address)
        .inheritIO()
        .start();
    try {
      while (new ProcessBuilder(binary, "ping", address).start().waitFor() != 0) {
        check(server.isAlive(), "cqld has ended");
        Thread.sleep(10);
      }
      try (CqlSession session = connect(port)) {
        Controls c = new Controls(session);
        session.execute(
            "CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
        session.execute("CREATE TABLE shop.carts (id int PRIMARY KEY, item text)");
        c.expire();
        c.fail();
        c.goBack();
      }
    } finally {
      server.destroy();
    }
    System.out.println("java with controls: ok");
    System.exit(0);
  }

  private static CqlSession connect(int port) {
    return CqlSession.builder()
        .addContactPoint(new InetSocketAddress("127.0.0.1", port))
        .withLocalDatacenter("datacenter1")
        .withConfigLoader(
            DriverConfigLoader.programmaticBuilder()
                .withString(DefaultDriverOption.PROTOCOL_VERSION, "V5")
                .withDuration(DefaultDriverOption.REQUEST_TIMEOUT, Duration.ofSeconds(30))
                .withBoolean(DefaultDriverOption.METADATA_SCHEMA_ENABLED, true)
                .build())
        .build();
  }

  /** Moves the clock over the TTL of a row. */
  private void expire() {
    session.execute("INSERT INTO shop.carts (id, item) VALUES (1, 'tea') USING TTL 3600");
    check("tea".equals(session.execute(SELECT).one().getString("item")), "the row is not there");
    PreparedStatement advance =
        session.prepare("UPDATE cqld_control.clock SET advance = ? WHERE key = 'local'");
    session.execute(advance.bind(CqlDuration.from("61m")));
    check(session.execute(SELECT).one() == null, "the row has not expired");
    session.execute("DELETE FROM cqld_control.clock WHERE key = 'local'");
  }

  /** Has a statement meet each fault. */
  private void fail() throws Exception {
    InetAddress two = InetAddress.getByName("127.0.0.2");
    InetAddress three = InetAddress.getByName("127.0.0.3");
    meet("act, level, required, alive", "'unavailable', 'EACH_QUORUM', 4, 1", SELECT, UnavailableException.class,
        e -> at(e.getConsistencyLevel(), DefaultConsistencyLevel.EACH_QUORUM) && e.getRequired() == 4 && e.getAlive() == 1);
    meet("act, block_for, received, data_present", "'read_timeout', 2, 1, true", SELECT, ReadTimeoutException.class,
        e -> at(e.getConsistencyLevel(), DefaultConsistencyLevel.LOCAL_ONE) && e.getBlockFor() == 2
            && e.getReceived() == 1 && e.wasDataPresent());
    meet("act, block_for, received, write_type", "'write_timeout', 3, 2, 'BATCH_LOG'", INSERT,
        WriteTimeoutException.class,
        e -> e.getBlockFor() == 3 && e.getReceived() == 2 && e.getWriteType() == DefaultWriteType.BATCH_LOG);
    meet("act, block_for, received, reasons", "'read_failure', 2, 1, {'127.0.0.2': 1}", SELECT,
        ReadFailureException.class,
        e -> e.getBlockFor() == 2 && e.getReceived() == 1 && e.getNumFailures() == 1
            && e.getReasonMap().equals(Map.of(two, 1)));
    meet("act, reasons", "'write_failure', {'127.0.0.2': 0, '127.0.0.3': 2}", INSERT, WriteFailureException.class,
        e -> e.getNumFailures() == 2 && e.getWriteType() == DefaultWriteType.SIMPLE
            && e.getReasonMap().equals(Map.of(two, 0, three, 2)));
    meet("act", "'overloaded'", SELECT, OverloadedException.class, e -> true);
    meet("act", "'is_bootstrapping'", SELECT, BootstrappingException.class, e -> true);
    meet("act, kind", "'truncate_error', 'truncate'", "TRUNCATE shop.carts", TruncateException.class, e -> true);
    meet("act, message", "'server_error', 'disk on fire'", SELECT, ServerError.class,
        e -> e.getMessage().contains("disk on fire"));
    meet("delay", "30s", SELECT, DriverTimeoutException.class, e -> true);
  }

  private static boolean at(ConsistencyLevel got, ConsistencyLevel want) {
    return got == want;
  }

  private <E extends DriverException> void meet(
      String columns, String values, String statement, Class<E> kind, Predicate<E> fields) {
    session.execute("INSERT INTO cqld_control.faults (name, keyspace_name, " + columns + ") VALUES ('fault', 'shop', "
        + values + ")");
    Throwable error = null;
    try {
      // Not idempotent: the driver does not try again.
      session.execute(SimpleStatement.newInstance(statement).setIdempotent(false).setTimeout(Duration.ofSeconds(1)));
    } catch (AllNodesFailedException e) { // it has looked for other nodes
      error = e.getAllErrors().values().stream().flatMap(List::stream).findFirst().orElse(e);
    } catch (DriverException e) {
      error = e;
    }
    check(kind.isInstance(error) && fields.test(kind.cast(error)), values + ": " + error);
    Row rule = session.execute("SELECT acted FROM cqld_control.faults WHERE name = 'fault'").one();
    check(rule.getLong("acted") >= 1, values + ": the rule has not acted");
    session.execute("TRUNCATE cqld_control.faults");
  }

  /** Takes a snapshot and restores it; a statement that was prepared before stays so. */
  private void goBack() {
    PreparedStatement insert = session.prepare("INSERT INTO shop.carts (id, item) VALUES (?, ?)");
    session.execute("INSERT INTO cqld_control.snapshots (name) VALUES ('start')");
    int before = count();
    for (int i = 100; i < 110; i++) {
      session.execute(insert.bind(i, "tea"));
    }
    check(count() == before + 10, "the rows are not there");
    session.execute("UPDATE cqld_control.snapshots SET restore = true WHERE name = 'start'");
    check(count() == before, "the rows are still there");
    session.execute(insert.bind(100, "tea"));
  }

  private int count() {
    return session.execute("SELECT id FROM shop.carts").all().size();
  }

  private static void check(boolean holds, String message) {
    if (!holds) {
      throw new AssertionError(message);
    }
  }
}
