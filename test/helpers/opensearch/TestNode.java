// A node of OpenSearch for tests, from its libraries alone. It ends with the process that started it.
// Arguments: name, directory, HTTP port, transport port, addresses of all nodes, names of all nodes.
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.opensearch.analysis.common.CommonAnalysisPlugin;
import org.opensearch.common.settings.Settings;
import org.opensearch.env.Environment;
import org.opensearch.node.InternalSettingsPreparer;
import org.opensearch.node.Node;
import org.opensearch.transport.Netty4Plugin;

public final class TestNode extends Node {
  private TestNode(Environment environment) {
    super(environment, List.of(Netty4Plugin.class, CommonAnalysisPlugin.class), true);
  }

  public static void main(String[] arguments) throws Exception {
    String name = arguments[0];
    Path home = Path.of(arguments[1]);
    Path config = Files.createDirectories(home.resolve("config"));
    Settings settings =
        Settings.builder()
            .put("cluster.name", "harvest-test")
            .put("node.name", name)
            .put("path.home", home.toString())
            .put("path.data", home.resolve("data").toString())
            .put("path.logs", home.resolve("logs").toString())
            .put("network.host", "127.0.0.1")
            .put("http.port", arguments[2])
            .put("transport.port", arguments[3])
            .put("http.type", "netty4")
            .put("transport.type", "netty4")
            .putList("discovery.seed_hosts", arguments[4].split(","))
            .putList("cluster.initial_cluster_manager_nodes", arguments[5].split(","))
            // The disk of a test machine may be nearly full.
            .put("cluster.routing.allocation.disk.threshold_enabled", false)
            .build();
    new TestNode(InternalSettingsPreparer.prepareEnvironment(settings, Map.of(), config, () -> name)).start();
    System.out.println("started");
    while (System.in.read() >= 0) {
      // The other end is open.
    }
    Runtime.getRuntime().halt(0);
  }
}
