// Prints placements.txt: for rings of several shapes, which nodes Cassandra's replication strategies choose for ranges.
// It runs the classes of Cassandra 5.0.8 without a node; LIB is the folder of its jars, and FLAGS are the --add-exports
// and --add-opens of compat_tests/oracle.
//
//	java FLAGS -cp 'LIB/*' Placements.java | grep -v INFO > placements.txt

import java.util.*;
import org.apache.cassandra.config.*;
import org.apache.cassandra.dht.*;
import org.apache.cassandra.dht.Murmur3Partitioner.LongToken;
import org.apache.cassandra.locator.*;

public class Placements {
    static final Map<InetAddressAndPort, String[]> places = new HashMap<>();

    static final AbstractEndpointSnitch snitch = new AbstractEndpointSnitch() {
        public String getRack(InetAddressAndPort node) { return places.get(node)[1]; }
        public String getDatacenter(InetAddressAndPort node) { return places.get(node)[0]; }
        public int compareEndpoints(InetAddressAndPort target, Replica a, Replica b) { return 0; }
    };

    public static void main(String[] args) throws Exception {
        DatabaseDescriptor.clientInitialization(true, Config::new);
        DatabaseDescriptor.setPartitionerUnsafe(Murmur3Partitioner.instance);
        DatabaseDescriptor.setEndpointSnitch(snitch);
        System.out.println("# Which nodes of a ring are replicas, in the order of Cassandra. A line \"node\" has a number, a datacenter, a rack");
        System.out.println("# and tokens; \"keyspace\" the replication; the others a token and the numbers of the nodes that keep its partitions.");
        System.out.println("# made by Placements.java, with the classes of Cassandra 5.0.8");
        Random random = new Random(7);
        String[][] shapes = {
            {"dc1 r1", "dc1 r1", "dc1 r1"},
            {"dc1 r1", "dc1 r1", "dc1 r1", "dc2 r1", "dc2 r1", "dc2 r1"},
            {"dc1 r1", "dc1 r1", "dc1 r1", "dc1 r2", "dc1 r2", "dc1 r3"},
            {"dc1 r1", "dc1 r2", "dc1 r3", "dc2 r1", "dc2 r1", "dc2 r2", "dc2 r2", "dc3 r1"},
            {"dc1 r1", "dc1 r1", "dc1 r1", "dc1 r1", "dc1 r2"},
        };
        String[][] simple = {{"replication_factor", "1"}, {"replication_factor", "3"}, {"replication_factor", "9"}};
        String[][] networks = {
            {"dc1", "1"}, {"dc1", "3"}, {"dc1", "2", "dc2", "2"}, {"dc1", "3", "dc2", "3", "dc3", "1"}, {"dc1", "5", "dc2", "1"},
        };
        for (String[] shape : shapes) {
            places.clear();
            TokenMetadata ring = new TokenMetadata(snitch);
            Map<InetAddressAndPort, Integer> numbers = new HashMap<>();
            System.out.println("ring");
            Set<String> there = new HashSet<>();
            for (int i = 1; i <= shape.length; i++) {
                InetAddressAndPort node = InetAddressAndPort.getByName("127.0.0." + i);
                places.put(node, shape[i - 1].split(" "));
                there.add(places.get(node)[0]);
                numbers.put(node, i);
                List<Token> tokens = new ArrayList<>();
                StringBuilder text = new StringBuilder();
                for (int t = 0; t < 4; t++) {
                    long token = random.nextLong();
                    tokens.add(new LongToken(token));
                    text.append(' ').append(token);
                }
                ring.updateTopology(node);
                ring.updateNormalTokens(tokens, node);
                System.out.println("node " + i + " " + shape[i - 1] + text);
            }
            for (String[] options : simple)
                print(ring, numbers, "SimpleStrategy", options, random);
            for (String[] options : networks) {
                boolean known = true;
                for (int i = 0; i < options.length; i += 2)
                    known &= there.contains(options[i]);
                if (known)
                    print(ring, numbers, "NetworkTopologyStrategy", options, random);
            }
        }
        System.exit(0);
    }

    static void print(TokenMetadata ring, Map<InetAddressAndPort, Integer> numbers, String strategy, String[] options, Random random) {
        Map<String, String> map = new LinkedHashMap<>();
        StringBuilder text = new StringBuilder("keyspace " + strategy);
        for (int i = 0; i < options.length; i += 2) {
            map.put(options[i], options[i + 1]);
            text.append(' ').append(options[i]).append('=').append(options[i + 1]);
        }
        System.out.println(text);
        AbstractReplicationStrategy made = strategy.equals("SimpleStrategy")
            ? new SimpleStrategy("k", ring, snitch, map) : new NetworkTopologyStrategy("k", ring, snitch, map);
        List<Token> tokens = new ArrayList<>(ring.sortedTokens().subList(0, 4));
        tokens.add(ring.sortedTokens().get(ring.sortedTokens().size() - 1));
        tokens.add(new LongToken(Long.MAX_VALUE));
        for (int i = 0; i < 12; i++)
            tokens.add(new LongToken(random.nextLong()));
        for (Token token : tokens) {
            StringBuilder line = new StringBuilder(token.toString() + ":");
            for (Replica replica : made.calculateNaturalReplicas(token, ring.cloneOnlyTokenMap()))
                line.append(' ').append(numbers.get(replica.endpoint()));
            System.out.println(line);
        }
    }
}
