import com.datastax.oss.driver.api.core.CqlSession;
import org.testcontainers.cassandra.CassandraContainer;
import org.testcontainers.utility.DockerImageName;

/** Starts the image with org.testcontainers.cassandra.CassandraContainer and an init script, and uses it. */
public class Current {
  public static void main(String[] args) {
    DockerImageName image =
        DockerImageName.parse(System.getProperty("image")).asCompatibleSubstituteFor("cassandra");
    try (CassandraContainer container = new CassandraContainer(image).withInitScript("init.cql")) {
      container.start();
      try (CqlSession session = CqlSession.builder()
          .addContactPoint(container.getContactPoint())
          .withLocalDatacenter(container.getLocalDatacenter())
          .withKeyspace("shop")
          .build()) {
        session.execute("INSERT INTO orders (id, what) VALUES (1, 'tea')");
        String what = session.execute("SELECT what FROM orders WHERE id = 1").one().getString(0);
        if (!"tea".equals(what)) {
          throw new AssertionError(what);
        }
      }
    }
    System.out.println("java, org.testcontainers.cassandra: ok");
    System.exit(0);
  }
}
