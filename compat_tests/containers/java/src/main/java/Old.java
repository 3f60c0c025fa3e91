import com.datastax.driver.core.Cluster;
import com.datastax.driver.core.Session;
import org.testcontainers.containers.CassandraContainer;
import org.testcontainers.utility.DockerImageName;

/** Starts the image with the older org.testcontainers.containers.CassandraContainer and an init script, and uses it. */
public class Old {
  @SuppressWarnings({"deprecation", "rawtypes"})
  public static void main(String[] args) {
    DockerImageName image =
        DockerImageName.parse(System.getProperty("image")).asCompatibleSubstituteFor("cassandra");
    try (CassandraContainer container = new CassandraContainer(image)) {
      container.withInitScript("init.cql");
      container.start();
      try (Cluster cluster = container.getCluster(); Session session = cluster.connect("shop")) {
        session.execute("INSERT INTO orders (id, what) VALUES (1, 'tea')");
        String what = session.execute("SELECT what FROM orders WHERE id = 1").one().getString(0);
        if (!"tea".equals(what)) {
          throw new AssertionError(what);
        }
      }
    }
    System.out.println("java, org.testcontainers.containers: ok");
    System.exit(0);
  }
}
