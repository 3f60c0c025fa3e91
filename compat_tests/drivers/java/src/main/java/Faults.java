import com.datastax.oss.driver.api.core.AllNodesFailedException;
import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.DriverTimeoutException;
import com.datastax.oss.driver.api.core.config.DefaultDriverOption;
import com.datastax.oss.driver.api.core.config.DriverConfigLoader;
import com.datastax.oss.driver.api.core.connection.ClosedConnectionException;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.cql.Statement;
import com.datastax.oss.driver.api.core.servererrors.BootstrappingException;
import com.datastax.oss.driver.api.core.servererrors.CASWriteUnknownException;
import com.datastax.oss.driver.api.core.servererrors.InvalidConfigurationInQueryException;
import com.datastax.oss.driver.api.core.servererrors.InvalidQueryException;
import com.datastax.oss.driver.api.core.servererrors.OverloadedException;
import com.datastax.oss.driver.api.core.servererrors.QueryConsistencyException;
import com.datastax.oss.driver.api.core.servererrors.ReadFailureException;
import com.datastax.oss.driver.api.core.servererrors.ReadTimeoutException;
import com.datastax.oss.driver.api.core.servererrors.ServerError;
import com.datastax.oss.driver.api.core.servererrors.SyntaxError;
import com.datastax.oss.driver.api.core.servererrors.TruncateException;
import com.datastax.oss.driver.api.core.servererrors.UnauthorizedException;
import com.datastax.oss.driver.api.core.servererrors.UnavailableException;
import com.datastax.oss.driver.api.core.servererrors.WriteFailureException;
import com.datastax.oss.driver.api.core.servererrors.WriteTimeoutException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.File;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Has statements meet each fault of the table faults.json, and checks that the driver throws its own exception with the
 * right fields, and that what was to be applied is applied. The property addr is a cqld with --test-controls, and the
 * property faults is the table.
 */
public final class Faults {
  private static final ObjectMapper JSON = new ObjectMapper();

  /** Exceptions that have no field but their text, in the words of the table. */
  private static final Map<Class<?>, String> PLAIN =
      Map.of(
          OverloadedException.class, "overloaded",
          BootstrappingException.class, "is_bootstrapping",
          TruncateException.class, "truncate_error",
          ServerError.class, "server_error",
          InvalidQueryException.class, "invalid",
          SyntaxError.class, "syntax_error",
          UnauthorizedException.class, "unauthorized",
          InvalidConfigurationInQueryException.class, "config_error",
          DriverTimeoutException.class, "timeout",
          ClosedConnectionException.class, "closed");

  private final CqlSession session;

  private Faults(CqlSession session) {
    this.session = session;
  }

  public static void main(String[] args) throws Exception {
    String[] addr = System.getProperty("addr").split(":");
    JsonNode table = JSON.readTree(new File(System.getProperty("faults")));
    int failed = 0;
    try (CqlSession session = connect(addr[0], Integer.parseInt(addr[1]))) {
      session.execute("DROP KEYSPACE IF EXISTS faults_java");
      session.execute(
          "CREATE KEYSPACE faults_java WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
      session.execute("USE faults_java");
      session.execute("CREATE TABLE t (id int PRIMARY KEY)");
      Faults faults = new Faults(session);
      for (int i = 0; i < table.size(); i++) {
        for (int prepared = 0; prepared < 2; prepared++) {
          for (String wrong : faults.meet(table.get(i), 2 * i + prepared, prepared == 1)) {
            failed++;
            System.out.println(table.get(i).get("fault") + ", prepared " + (prepared == 1) + ": " + wrong);
          }
        }
      }
    }
    if (failed == 0) {
      System.out.println("java: " + table.size() + " faults, ok");
    }
    System.exit(failed == 0 ? 0 : 1);
  }

  private static CqlSession connect(String host, int port) {
    return CqlSession.builder()
        .addContactPoint(new InetSocketAddress(host, port))
        .withLocalDatacenter("datacenter1")
        .withConfigLoader(
            DriverConfigLoader.programmaticBuilder()
                .withString(DefaultDriverOption.PROTOCOL_VERSION, "V5")
                .withString(DefaultDriverOption.REQUEST_CONSISTENCY, "LOCAL_QUORUM")
                .withString(DefaultDriverOption.RECONNECTION_POLICY_CLASS, "ConstantReconnectionPolicy")
                .withDuration(DefaultDriverOption.RECONNECTION_BASE_DELAY, Duration.ofMillis(10))
                .withBoolean(DefaultDriverOption.REQUEST_WARN_IF_SET_KEYSPACE, false)
                .build())
        .build();
  }

  /** Has a statement meet a fault, and returns what is wrong. */
  private List<String> meet(JsonNode row, int number, boolean prepare) throws Exception {
    String text = row.get("statement").asText().replace("$id", Integer.toString(number));
    JsonNode want = row.path("error");
    Duration timeout = Duration.ofSeconds(want.path("kind").asText().equals("timeout") ? 1 : 30);
    // Not idempotent: the driver does not try again.
    Statement<?> statement =
        prepare ? session.prepare(text).bind() : SimpleStatement.newInstance(text);
    statement = statement.setIdempotent(false).setTimeout(timeout);
    ObjectNode rule = JSON.createObjectNode().put("name", "java").put("keyspace_name", "faults_java");
    rule.setAll((ObjectNode) row.get("fault"));
    session.execute("INSERT INTO cqld_control.faults JSON '" + rule + "' DEFAULT UNSET");
    ObjectNode got = null;
    long began = System.nanoTime();
    try {
      session.execute(statement);
    } catch (RuntimeException e) {
      got = describe(e);
    }
    long took = (System.nanoTime() - began) / 1_000_000;
    reconnect();
    List<String> wrong = new ArrayList<>();
    if (got != null && want.has("message") && got.path("message").asText().contains(want.get("message").asText())) {
      got.set("message", want.get("message"));
    } else if (got != null && !want.has("message")) {
      got.remove("message");
    }
    if (want.isMissingNode() ? got != null : !want.equals(got)) {
      wrong.add("the error is " + got + ", want " + want);
    }
    long acted =
        session.execute("SELECT acted FROM cqld_control.faults WHERE name = 'java'").one().getLong("acted");
    if (acted < 1 && (prepare || !row.at("/fault/act").asText().equals("unprepared"))) {
      wrong.add("the rule has not acted");
    }
    session.execute("DELETE FROM cqld_control.faults WHERE name = 'java'");
    if (took < row.path("takes").asLong()) {
      wrong.add("it took " + took + " ms");
    }
    boolean applied = session.execute("SELECT id FROM t WHERE id = " + number).one() != null;
    if (row.has("applied") && applied != row.get("applied").asBoolean()) {
      wrong.add("applied: " + applied);
    }
    return wrong;
  }

  /** Waits until the driver has connected again. */
  private void reconnect() throws InterruptedException {
    for (int i = 0; ; i++) {
      try {
        session.execute("SELECT key FROM system.local");
        return;
      } catch (RuntimeException e) {
        if (i == 2000) {
          throw e;
        }
        Thread.sleep(10);
      }
    }
  }

  /** Returns an exception in the words of the table. */
  private static ObjectNode describe(Throwable error) {
    if (error instanceof AllNodesFailedException) { // the driver has looked for other nodes
      error =
          ((AllNodesFailedException) error).getAllErrors().values().stream().flatMap(List::stream).findFirst().orElse(error);
    }
    ObjectNode got = JSON.createObjectNode();
    if (error instanceof ClosedConnectionException && hasCause(error, IndexOutOfBoundsException.class)) {
      return got.put("kind", "malformed"); // the driver closes a connection that it cannot decode
    }
    String plain = PLAIN.get(error.getClass());
    if (plain != null) {
      return got.put("kind", plain).put("message", error.getMessage());
    }
    if (error instanceof UnavailableException) {
      UnavailableException e = (UnavailableException) error;
      return got.put("kind", "unavailable").put("level", e.getConsistencyLevel().name())
          .put("required", e.getRequired()).put("alive", e.getAlive());
    }
    if (error instanceof QueryConsistencyException) {
      return consistency(got, (QueryConsistencyException) error);
    }
    return got.put("kind", error.toString());
  }

  /** Describes errors that have a level and numbers of answers. */
  private static ObjectNode consistency(ObjectNode got, QueryConsistencyException error) {
    got.put("level", error.getConsistencyLevel().name()).put("received", error.getReceived())
        .put("block_for", error.getBlockFor());
    if (error instanceof ReadTimeoutException) {
      return got.put("kind", "read_timeout").put("data_present", ((ReadTimeoutException) error).wasDataPresent());
    }
    if (error instanceof WriteTimeoutException) {
      return got.put("kind", "write_timeout").put("write_type", ((WriteTimeoutException) error).getWriteType().name());
    }
    if (error instanceof CASWriteUnknownException) {
      return got.put("kind", "cas_write_unknown");
    }
    if (error instanceof ReadFailureException) {
      ReadFailureException e = (ReadFailureException) error;
      got.put("kind", "read_failure").put("data_present", e.wasDataPresent()).put("failures", e.getNumFailures());
      return reasons(got, e.getReasonMap());
    }
    WriteFailureException e = (WriteFailureException) error;
    got.put("kind", "write_failure").put("write_type", e.getWriteType().name()).put("failures", e.getNumFailures());
    return reasons(got, e.getReasonMap());
  }

  private static ObjectNode reasons(ObjectNode got, Map<InetAddress, Integer> reasons) {
    ObjectNode all = got.putObject("reasons");
    reasons.forEach((replica, reason) -> all.put(replica.getHostAddress(), reason));
    return got;
  }

  private static boolean hasCause(Throwable error, Class<?> kind) {
    for (Throwable e = error; e != null; e = e.getCause()) {
      if (kind.isInstance(e)) {
        return true;
      }
    }
    return false;
  }
}
