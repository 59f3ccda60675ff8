// A node of OpenSearch for tests, from its libraries alone. It ends with the process that started it.
// Arguments: name, directory, HTTP port, transport port, addresses of all nodes, names of all nodes.
import java.lang.reflect.Constructor;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.opensearch.Version;
import org.opensearch.common.settings.Settings;
import org.opensearch.env.Environment;
import org.opensearch.node.InternalSettingsPreparer;
import org.opensearch.node.Node;
import org.opensearch.plugins.PluginInfo;

public final class TestNode {
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
    start(InternalSettingsPreparer.prepareEnvironment(settings, Map.of(), config, () -> name));
    System.out.println("started");
    while (System.in.read() >= 0) {
      // The other end is open.
    }
    Runtime.getRuntime().halt(0);
  }

  /** OpenSearch 2 takes the classes of its modules, 3 their descriptions, and has other names for them. */
  private static void start(Environment environment) throws Exception {
    List<Object> modules;
    try {
      modules = List.of(classOf("transport.Netty4Plugin"), classOf("analysis.common.CommonAnalysisPlugin"));
    } catch (ClassNotFoundException ignored) {
      modules =
          List.of(
              module(classOf("transport.Netty4ModulePlugin")),
              module(classOf("analysis.common.CommonAnalysisModulePlugin")));
    }
    Constructor<Node> made =
        Node.class.getDeclaredConstructor(Environment.class, Collection.class, boolean.class);
    made.setAccessible(true);
    made.newInstance(environment, modules, true).start();
  }

  private static Class<?> classOf(String name) throws ClassNotFoundException {
    return Class.forName("org.opensearch." + name);
  }

  private static PluginInfo module(Class<?> plugin) {
    String name = plugin.getName();
    return new PluginInfo(
        name, "a module", "1", Version.CURRENT, "11", name, null, List.of(), false);
  }
}
