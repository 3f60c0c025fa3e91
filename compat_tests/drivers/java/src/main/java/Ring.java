import static com.datastax.oss.driver.api.core.DefaultConsistencyLevel.ALL;
import static com.datastax.oss.driver.api.core.DefaultConsistencyLevel.ANY;
import static com.datastax.oss.driver.api.core.DefaultConsistencyLevel.EACH_QUORUM;
import static com.datastax.oss.driver.api.core.DefaultConsistencyLevel.LOCAL_ONE;
import static com.datastax.oss.driver.api.core.DefaultConsistencyLevel.LOCAL_QUORUM;
import static com.datastax.oss.driver.api.core.DefaultConsistencyLevel.LOCAL_SERIAL;
import static com.datastax.oss.driver.api.core.DefaultConsistencyLevel.ONE;
import static com.datastax.oss.driver.api.core.DefaultConsistencyLevel.QUORUM;
import static com.datastax.oss.driver.api.core.DefaultConsistencyLevel.SERIAL;
import static com.datastax.oss.driver.api.core.DefaultConsistencyLevel.THREE;

import com.datastax.oss.driver.api.core.AllNodesFailedException;
import com.datastax.oss.driver.api.core.ConsistencyLevel;
import com.datastax.oss.driver.api.core.CqlIdentifier;
import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.NoNodeAvailableException;
import com.datastax.oss.driver.api.core.config.DefaultDriverOption;
import com.datastax.oss.driver.api.core.config.DriverConfigLoader;
import com.datastax.oss.driver.api.core.config.ProgrammaticDriverConfigLoaderBuilder;
import com.datastax.oss.driver.api.core.connection.ClosedConnectionException;
import com.datastax.oss.driver.api.core.cql.BatchStatement;
import com.datastax.oss.driver.api.core.cql.BatchStatementBuilder;
import com.datastax.oss.driver.api.core.cql.BatchType;
import com.datastax.oss.driver.api.core.cql.DefaultBatchType;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.cql.ResultSet;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.cql.Statement;
import com.datastax.oss.driver.api.core.metadata.Node;
import com.datastax.oss.driver.api.core.servererrors.ReadTimeoutException;
import com.datastax.oss.driver.api.core.servererrors.UnavailableException;
import com.datastax.oss.driver.api.core.servererrors.WriteTimeoutException;
import com.datastax.oss.driver.api.core.type.codec.TypeCodecs;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Has nodes of a ring fail, and asks for things through the driver's own policies: what exception the application gets,
 * which nodes have coordinated its requests, and what is written. The property addr is the first node of a cqld with
 * --test-controls and --ring dc1=3,dc2=3, whose timeouts are shorter than the driver's, and the property http its --http.
 */
public final class Ring {
  private static final String INSERT = "INSERT INTO everywhere.t (k, v) VALUES (1, 1)";
  private static final String INSERT_OTHER = "INSERT INTO everywhere.t (k, v) VALUES (2, 2)";
  private static final String READ = "SELECT v FROM everywhere.t WHERE k = 0";
  private static final String SCAN = "SELECT v FROM everywhere.t";
  private static final String DECIDE = INSERT + " IF NOT EXISTS";
  private static final String INCREMENT = "UPDATE everywhere.n SET n = n + 1 WHERE k = 1";
  private static final int[] FIRST = {1, 2, 3}; // the nodes of dc1
  private static final int[] SECOND = {4, 5, 6}; // those of dc2

  private static final String[] SCHEMA = {
    "DROP KEYSPACE IF EXISTS everywhere",
    "DROP KEYSPACE IF EXISTS single",
    "DROP KEYSPACE IF EXISTS simple",
    "CREATE KEYSPACE everywhere WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 3, 'dc2': 3}",
    "CREATE KEYSPACE single WITH replication = {'class': 'NetworkTopologyStrategy', 'dc1': 1}",
    "CREATE KEYSPACE simple WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 2}",
    "CREATE TABLE everywhere.t (k int PRIMARY KEY, v int)",
    "CREATE TABLE everywhere.n (k int PRIMARY KEY, n counter)",
    "CREATE TABLE single.t (k int PRIMARY KEY, v int)",
    "CREATE TABLE simple.t (k int PRIMARY KEY, v int)",
    "INSERT INTO everywhere.t (k, v) VALUES (0, 0)",
  };

  /** What happens to the ring, what the application asks for, and what comes of it. */
  private static final class Scenario {
    final String name;
    int[] stopped = {};
    int[] cut = {};
    int[] slow = {};
    String fault = ""; // columns of a rule, as JSON
    String datacenter = "dc1";
    int pinned; // the only node that is asked; 0: the policy chooses
    Consumer<ProgrammaticDriverConfigLoaderBuilder> config = c -> {};
    List<String> statements;
    BatchType batch; // null: there is one statement and no batch
    ConsistencyLevel level;
    ConsistencyLevel serial = SERIAL;
    boolean idempotent;
    String want = "";
    int[] on = {};
    int runs = 1; // how many coordinators are asked
    int rows = -1; // of everywhere.t with k = 1 afterwards; -1: it does not matter

    Scenario(String name) {
      this.name = name;
    }

    Scenario stopped(int... nodes) {
      stopped = nodes;
      return this;
    }

    Scenario cut(int... nodes) {
      cut = nodes;
      return this;
    }

    Scenario slow(int... nodes) {
      slow = nodes;
      return this;
    }

    Scenario fault(String columns) {
      fault = columns;
      return this;
    }

    Scenario datacenter(String name) {
      datacenter = name;
      return this;
    }

    Scenario pinned(int node) {
      pinned = node;
      return this;
    }

    Scenario config(Consumer<ProgrammaticDriverConfigLoaderBuilder> change) {
      config = change;
      return this;
    }

    Scenario query(String text, ConsistencyLevel at) {
      statements = List.of(text);
      level = at;
      return this;
    }

    Scenario batch(BatchType type, ConsistencyLevel at, String... texts) {
      batch = type;
      statements = List.of(texts);
      level = at;
      return this;
    }

    Scenario serial(ConsistencyLevel at) {
      serial = at;
      return this;
    }

    Scenario idempotent() {
      idempotent = true;
      return this;
    }

    Scenario fails(String outcome) {
      want = outcome;
      return this;
    }

    Scenario on(int... nodes) {
      on = nodes;
      return this;
    }

    Scenario runs(int times) {
      runs = times;
      return this;
    }

    Scenario rows(int count) {
      rows = count;
      return this;
    }

    Statement<?> statement() {
      Statement<?> s;
      if (batch == null) {
        s = SimpleStatement.newInstance(statements.get(0));
      } else {
        BatchStatementBuilder b = BatchStatement.builder(batch);
        statements.forEach(text -> b.addStatement(SimpleStatement.newInstance(text)));
        s = b.build();
      }
      return s.setConsistencyLevel(level).setSerialConsistencyLevel(serial).setIdempotent(idempotent);
    }
  }

  private static Scenario scenario(String name) {
    return new Scenario(name);
  }

  /** The driver may go to another datacenter when its own is down, also with the LOCAL levels. */
  private static void failover(ProgrammaticDriverConfigLoaderBuilder c) {
    c.withInt(DefaultDriverOption.LOAD_BALANCING_DC_FAILOVER_MAX_NODES_PER_REMOTE_DC, 3)
        .withBoolean(DefaultDriverOption.LOAD_BALANCING_DC_FAILOVER_ALLOW_FOR_LOCAL_CONSISTENCY_LEVELS, true);
  }

  private static void downgrading(ProgrammaticDriverConfigLoaderBuilder c) {
    c.withString(DefaultDriverOption.RETRY_POLICY_CLASS, "ConsistencyDowngradingRetryPolicy");
  }

  /** The default retry policy asks a second node once when too few replicas are alive. */
  private static final List<Scenario> SCENARIOS = List.of(
      scenario("QUORUM with one node down").stopped(2).query(INSERT, QUORUM).on(1, 3).rows(1),
      scenario("ALL with one node down").stopped(2).query(READ, ALL).fails("unavailable ALL 6 5").on(1, 3).runs(2),
      scenario("EACH_QUORUM with one node down").stopped(5).query(INSERT, EACH_QUORUM).on(FIRST).rows(1),
      scenario("scan at ALL with one node down").stopped(6).query(SCAN, ALL).fails("unavailable ALL 6 5").on(FIRST).runs(2),

      scenario("LOCAL_QUORUM with two nodes of the datacenter down").stopped(2, 3).query(INSERT, LOCAL_QUORUM)
          .fails("unavailable LOCAL_QUORUM 2 1").on(1).rows(0),
      scenario("LOCAL_QUORUM in the other datacenter").stopped(2, 3).datacenter("dc2").query(INSERT, LOCAL_QUORUM)
          .on(SECOND).rows(1),
      scenario("EACH_QUORUM with two nodes of a datacenter down").stopped(2, 3).datacenter("dc2")
          .query(INSERT, EACH_QUORUM).fails("unavailable EACH_QUORUM 2 0").on(SECOND).runs(2).rows(0),
      scenario("QUORUM with two nodes down").stopped(2, 3).query(READ, QUORUM).on(1),
      scenario("conditional with two nodes down").stopped(2, 3).query(DECIDE, QUORUM).on(1).rows(1),
      scenario("conditional in a datacenter with two nodes down").stopped(2, 3).query(DECIDE, QUORUM).serial(LOCAL_SERIAL)
          .fails("unavailable LOCAL_SERIAL 2 1").on(1).rows(0),
      scenario("serial read in a datacenter with two nodes down").stopped(2, 3).query(READ, LOCAL_SERIAL)
          .fails("unavailable LOCAL_SERIAL 2 1").on(1),
      scenario("logged batch without another node of the datacenter").stopped(2, 3)
          .batch(DefaultBatchType.LOGGED, ONE, INSERT, INSERT_OTHER).fails("unavailable TWO 2 0").on(1).rows(0),
      scenario("logged batch of one partition").stopped(2, 3).batch(DefaultBatchType.LOGGED, ONE, INSERT).on(1).rows(1),
      scenario("unlogged batch").stopped(2, 3).batch(DefaultBatchType.UNLOGGED, ONE, INSERT, INSERT_OTHER).on(1).rows(1),
      scenario("counter with two nodes of the datacenter down").stopped(2, 3).query(INCREMENT, LOCAL_QUORUM)
          .fails("unavailable LOCAL_QUORUM 2 1").on(1),

      scenario("datacenter down, the driver stays in it").stopped(FIRST).query(INSERT, QUORUM).fails("no node").runs(0)
          .rows(0),
      scenario("datacenter down, the driver goes to the other").stopped(FIRST).config(Ring::failover)
          .query(INSERT, LOCAL_QUORUM).on(SECOND).rows(1),
      scenario("QUORUM with a datacenter down").stopped(FIRST).config(Ring::failover).query(READ, QUORUM)
          .fails("unavailable QUORUM 4 3").on(SECOND).runs(2),
      scenario("conditional with a datacenter down").stopped(FIRST).datacenter("dc2").query(DECIDE, ONE)
          .fails("unavailable SERIAL 4 3").on(SECOND).runs(2).rows(0),
      scenario("no replica up").stopped(FIRST).datacenter("dc2").query("SELECT v FROM single.t WHERE k = 1", ONE)
          .fails("unavailable ONE 1 0").on(SECOND).runs(2),
      scenario("ANY without a replica").stopped(FIRST).datacenter("dc2").query("INSERT INTO single.t (k) VALUES (1)", ANY)
          .on(SECOND),
      scenario("replication factor of two at THREE").query("INSERT INTO simple.t (k) VALUES (1)", THREE)
          .fails("unavailable THREE 3 2").on(FIRST).runs(2),

      scenario("partitioned node, LOCAL_ONE").cut(1).pinned(1).query(READ, LOCAL_ONE).on(1),
      scenario("partitioned node, QUORUM").cut(1).pinned(1).query(INSERT, QUORUM).fails("unavailable QUORUM 4 1").on(1)
          .rows(0),
      scenario("partitioned node, the others").cut(1).datacenter("dc2").query(INSERT, ALL).fails("unavailable ALL 6 5")
          .on(SECOND).runs(2).rows(0),

      scenario("slow datacenter, LOCAL_QUORUM").slow(SECOND).query(READ, LOCAL_QUORUM).on(FIRST),
      scenario("slow datacenter, write at QUORUM").slow(SECOND).query(INSERT, QUORUM)
          .fails("write timeout SIMPLE QUORUM 3 4").on(FIRST).rows(1),
      scenario("slow datacenter, idempotent write at QUORUM").slow(SECOND).query(INSERT, QUORUM).idempotent()
          .fails("write timeout SIMPLE QUORUM 3 4").on(FIRST).rows(1),
      scenario("slow datacenter, read at QUORUM").slow(SECOND).query(READ, QUORUM)
          .fails("read timeout QUORUM 3 4 data true").on(FIRST),
      scenario("slow datacenter, conditional").slow(SECOND).query(DECIDE, ONE).fails("write timeout CAS SERIAL 3 4")
          .on(FIRST).rows(0),
      scenario("slow datacenter, serial read").slow(SECOND).query(READ, SERIAL)
          .fails("read timeout SERIAL 0 4 data false").on(FIRST),
      scenario("slow datacenter, counter").slow(SECOND).query(INCREMENT, QUORUM)
          .fails("write timeout COUNTER QUORUM 3 4").on(FIRST),
      scenario("slow nodes, logged batch, tried again where its log was not written").slow(2, 3).pinned(1).idempotent()
          .batch(DefaultBatchType.LOGGED, ONE, INSERT, INSERT_OTHER).fails("write timeout BATCH_LOG TWO 0 2").on(1).runs(2)
          .rows(0),

      scenario("read that has enough answers without data, tried again")
          .fault("\"kind\": \"select\", \"act\": \"read_timeout\", \"received\": 2, \"block_for\": 2, \"times\": 1")
          .query(READ, LOCAL_QUORUM).on(FIRST).runs(2),
      scenario("overloaded node, idempotent").fault("\"kind\": \"insert\", \"act\": \"overloaded\", \"times\": 1")
          .query(INSERT, LOCAL_QUORUM).idempotent().on(FIRST).runs(2).rows(1),
      scenario("bootstrapping node, not idempotent")
          .fault("\"kind\": \"insert\", \"act\": \"is_bootstrapping\", \"times\": 1").query(INSERT, LOCAL_QUORUM)
          .on(FIRST).runs(2).rows(1),
      scenario("dropped connection, idempotent").fault("\"kind\": \"insert\", \"act\": \"drop\", \"times\": 1")
          .query(INSERT, LOCAL_QUORUM).idempotent().on(FIRST).runs(2).rows(1),
      scenario("dropped connection, not idempotent").fault("\"kind\": \"insert\", \"act\": \"drop\", \"times\": 1")
          .query(INSERT, LOCAL_QUORUM).fails("closed").on(FIRST).rows(0),

      scenario("lower level when too few replicas are alive").stopped(FIRST).datacenter("dc2").config(Ring::downgrading)
          .query(INSERT, QUORUM).on(SECOND).runs(2).rows(1),
      scenario("lower level when too few replicas have answered").slow(SECOND).config(Ring::downgrading)
          .query("SELECT v FROM everywhere.t WHERE k = 9", QUORUM).on(FIRST).runs(2));

  private final HttpClient client = HttpClient.newHttpClient();
  private final ObjectMapper json = new ObjectMapper();
  private final String controls;
  private final int port;

  private Ring(String controls, int port) {
    this.controls = controls;
    this.port = port;
  }

  public static void main(String[] args) throws Exception {
    String addr = System.getProperty("addr");
    Ring ring =
        new Ring("http://" + System.getProperty("http") + "/control/", Integer.parseInt(addr.split(":")[1]));
    ring.reset();
    try (CqlSession session = ring.connect("dc1", 1, c -> {})) {
      for (String text : SCHEMA) {
        session.execute(text);
      }
    }
    ring.control("PUT", "snapshots/start", "");
    int failed = 0;
    for (Scenario s : SCENARIOS) {
      failed += ring.report(s.name, () -> ring.run(s));
    }
    failed += ring.report("token-aware", ring::tokenAware);
    failed += ring.report("speculative execution on another node", ring::speculative);
    ring.reset();
    ring.control("DELETE", "snapshots/start", "");
    if (failed == 0) {
      System.out.println("java: " + (SCENARIOS.size() + 2) + " scenarios on a ring, ok");
    }
    System.exit(failed == 0 ? 0 : 1);
  }

  /** Runs a scenario on a ring whose nodes are all well, with the rows of the schema, and prints what is wrong. */
  private int report(String name, Supplier<List<String>> scenario) {
    reset();
    control("PATCH", "snapshots/start", "{\"restore\": true}");
    List<String> wrong = scenario.get();
    wrong.forEach(text -> System.out.println(name + ": " + text));
    return wrong.size();
  }

  private List<String> run(Scenario s) {
    List<String> wrong = new ArrayList<>();
    change(s.stopped, "{\"up\": false}");
    change(s.cut, "{\"partitioned\": true}");
    int contact = s.pinned > 0 ? s.pinned : s.datacenter.equals("dc1") ? 1 : 4;
    for (int down : s.stopped) {
      contact = down == contact ? contact % 6 + 1 : contact;
    }
    try (CqlSession session = connect(s.datacenter, contact, s.config)) {
      change(s.slow, "{\"slow\": \"1h\"}");
      if (!s.fault.isEmpty()) {
        control("PUT", "faults/ring", "{\"keyspace_name\": \"everywhere\", " + s.fault + "}");
      }
      control("DELETE", "statements", "");
      Statement<?> statement = s.statement();
      if (s.pinned > 0) {
        statement = statement.setNode(node(session, s.pinned));
      }
      String got = "";
      try {
        session.execute(statement);
      } catch (RuntimeException e) {
        got = outcome(e);
      }
      if (!got.equals(s.want)) {
        wrong.add("the driver got \"" + got + "\", want \"" + s.want + "\"");
      }
      List<Integer> coordinators = coordinators(s.statements.get(0));
      if (coordinators.size() != s.runs || !coordinators.stream().allMatch(n -> contains(s.on, n))) {
        wrong.add("coordinated by " + coordinators + ", want " + s.runs);
      }
    }
    reset();
    if (s.rows >= 0) {
      try (CqlSession session = connect("dc1", 1, c -> {})) {
        int rows = session.execute("SELECT v FROM everywhere.t WHERE k = 1").all().size();
        if (rows != s.rows) {
          wrong.add(rows + " rows are written");
        }
      }
    }
    return wrong;
  }

  /**
   * Prepared statements go to the replica of their partition, which the driver computes on its own. When that node is
   * down, exactly its partitions cannot be read.
   */
  private List<String> tokenAware() {
    List<String> wrong = new ArrayList<>();
    String text = "SELECT v FROM single.t WHERE k = ?";
    for (int down : new int[] {0, 2}) {
      if (down > 0) {
        change(new int[] {down}, "{\"up\": false}");
      }
      try (CqlSession session = connect("dc1", 1, c -> {})) {
        PreparedStatement read = session.prepare(text);
        control("DELETE", "statements", "");
        Set<Integer> seen = new TreeSet<>();
        for (int k = 0; k < 40; k++) {
          int replica = replica(session, k);
          seen.add(replica);
          String got = "";
          try {
            session.execute(read.bind(k).setConsistencyLevel(ONE));
          } catch (RuntimeException e) {
            got = outcome(e);
          }
          List<Integer> on = coordinators(text);
          control("DELETE", "statements", "");
          boolean right =
              replica == down
                  ? got.equals("unavailable ONE 1 0") && !on.contains(down)
                  : got.isEmpty() && on.equals(List.of(replica));
          if (!right) {
            wrong.add("k = " + k + " of node " + replica + ", without node " + down + ": \"" + got + "\" on " + on);
          }
        }
        if (!seen.equals(Set.of(1, 2, 3))) {
          wrong.add("the driver has found partitions on " + seen);
        }
      }
    }
    return wrong;
  }

  /** A second execution on another node answers while a slow node does not. */
  private List<String> speculative() {
    List<String> wrong = new ArrayList<>();
    Consumer<ProgrammaticDriverConfigLoaderBuilder> policy =
        c -> c.withString(DefaultDriverOption.SPECULATIVE_EXECUTION_POLICY_CLASS, "ConstantSpeculativeExecutionPolicy")
            .withInt(DefaultDriverOption.SPECULATIVE_EXECUTION_MAX, 2)
            .withDuration(DefaultDriverOption.SPECULATIVE_EXECUTION_DELAY, Duration.ofMillis(10));
    try (CqlSession session = connect("dc1", 2, policy)) {
      change(new int[] {1}, "{\"slow\": \"1h\"}");
      control("DELETE", "statements", "");
      int begun = 0;
      for (int i = 0; begun == 0 && i < 1000; i++) { // until a request has gone to the slow node first
        ResultSet rows =
            session.execute(SimpleStatement.newInstance(READ).setConsistencyLevel(ONE).setIdempotent(true));
        if (number(rows.getExecutionInfo().getCoordinator()) != 1) {
          begun += rows.getExecutionInfo().getSpeculativeExecutionCount();
        } else {
          wrong.add("the slow node has answered");
        }
      }
      if (begun == 0) {
        wrong.add("no second execution was begun");
      }
      if (coordinators(READ).contains(1)) {
        wrong.add("coordinated by " + coordinators(READ));
      }
    }
    return wrong;
  }

  private CqlSession connect(String datacenter, int contact, Consumer<ProgrammaticDriverConfigLoaderBuilder> change) {
    ProgrammaticDriverConfigLoaderBuilder config =
        DriverConfigLoader.programmaticBuilder()
            .withString(DefaultDriverOption.PROTOCOL_VERSION, "V5")
            .withDuration(DefaultDriverOption.REQUEST_TIMEOUT, Duration.ofSeconds(30))
            .withDuration(DefaultDriverOption.CONNECTION_INIT_QUERY_TIMEOUT, Duration.ofSeconds(30))
            // Closing a session takes two seconds otherwise.
            .withString(DefaultDriverOption.NETTY_IO_SHUTDOWN_UNIT, "MILLISECONDS")
            .withInt(DefaultDriverOption.NETTY_IO_SHUTDOWN_QUIET_PERIOD, 50)
            .withInt(DefaultDriverOption.NETTY_IO_SHUTDOWN_TIMEOUT, 15000)
            .withString(DefaultDriverOption.NETTY_ADMIN_SHUTDOWN_UNIT, "MILLISECONDS")
            .withInt(DefaultDriverOption.NETTY_ADMIN_SHUTDOWN_QUIET_PERIOD, 50)
            .withInt(DefaultDriverOption.NETTY_ADMIN_SHUTDOWN_TIMEOUT, 15000);
    change.accept(config);
    return CqlSession.builder()
        .addContactPoint(new InetSocketAddress("127.0.0." + contact, port))
        .withLocalDatacenter(datacenter)
        .withConfigLoader(config.build())
        .build();
  }

  /** Brings all nodes into the state in which the ring has started. */
  private void reset() {
    control("DELETE", "faults", "");
    change(new int[] {1, 2, 3, 4, 5, 6}, "{\"up\": true, \"partitioned\": false, \"slow\": \"0s\"}");
  }

  private void change(int[] nodes, String columns) {
    for (int n : nodes) {
      control("PATCH", "nodes/" + n, columns);
    }
  }

  /** Returns the nodes that have coordinated a statement, in the order of the requests. */
  private List<Integer> coordinators(String text) {
    List<Integer> nodes = new ArrayList<>();
    for (JsonNode row : control("GET", "statements", "")) {
      if (row.path("statement").asText().contains(text) && !row.path("opcode").asText().equals("PREPARE")) {
        nodes.add(row.get("node").asInt());
      }
    }
    return nodes;
  }

  /** Sends a request to the server's controls. */
  private JsonNode control(String method, String path, String body) {
    try {
      HttpRequest request =
          HttpRequest.newBuilder(URI.create(controls + path))
              .method(method, HttpRequest.BodyPublishers.ofString(body))
              .build();
      HttpResponse<String> answer = client.send(request, HttpResponse.BodyHandlers.ofString());
      if (answer.statusCode() >= 300) {
        throw new AssertionError(method + " " + path + ": " + answer.statusCode() + " " + answer.body());
      }
      return json.readTree(answer.body());
    } catch (java.io.IOException | InterruptedException e) {
      throw new AssertionError(method + " " + path, e);
    }
  }

  /** Returns the replica of a partition of single.t, as the driver knows it. */
  private static int replica(CqlSession session, int k) {
    return number(
        session.getMetadata().getTokenMap().orElseThrow()
            .getReplicas(
                CqlIdentifier.fromCql("single"),
                TypeCodecs.INT.encode(k, session.getContext().getProtocolVersion()))
            .iterator().next());
  }

  private static Node node(CqlSession session, int number) {
    return session.getMetadata().getNodes().values().stream()
        .filter(n -> number(n) == number).findFirst().orElseThrow();
  }

  /** Returns the number of a node: the last one of its address. */
  private static int number(Node node) {
    return node.getBroadcastRpcAddress().orElseThrow().getAddress().getAddress()[3];
  }

  /** Prints an exception with its fields. */
  private static String outcome(Throwable error) {
    if (error instanceof NoNodeAvailableException) {
      return "no node";
    }
    if (error instanceof AllNodesFailedException) {
      error =
          ((AllNodesFailedException) error).getAllErrors().values().stream().flatMap(List::stream).findFirst().orElse(error);
    }
    if (error instanceof UnavailableException) {
      UnavailableException e = (UnavailableException) error;
      return "unavailable " + e.getConsistencyLevel() + " " + e.getRequired() + " " + e.getAlive();
    }
    if (error instanceof ReadTimeoutException) {
      ReadTimeoutException e = (ReadTimeoutException) error;
      return "read timeout " + e.getConsistencyLevel() + " " + e.getReceived() + " " + e.getBlockFor() + " data "
          + e.wasDataPresent();
    }
    if (error instanceof WriteTimeoutException) {
      WriteTimeoutException e = (WriteTimeoutException) error;
      return "write timeout " + e.getWriteType() + " " + e.getConsistencyLevel() + " " + e.getReceived() + " "
          + e.getBlockFor();
    }
    if (error instanceof ClosedConnectionException) {
      return "closed";
    }
    return error.toString();
  }

  private static boolean contains(int[] all, int one) {
    for (int n : all) {
      if (n == one) {
        return true;
      }
    }
    return false;
  }
}
