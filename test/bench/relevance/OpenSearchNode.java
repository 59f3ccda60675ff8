// One node of OpenSearch on loopback, started without its distribution: java -cp 'LIB/*' OpenSearchNode.java DIRECTORY.
// Prints the port of its HTTP interface, and ends with its standard input.
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.opensearch.analysis.common.CommonAnalysisPlugin;
import org.opensearch.common.settings.Settings;
import org.opensearch.env.Environment;
import org.opensearch.http.HttpServerTransport;
import org.opensearch.node.InternalSettingsPreparer;
import org.opensearch.node.Node;
import org.opensearch.plugins.Plugin;
import org.opensearch.transport.Netty4Plugin;

public final class OpenSearchNode extends Node {
  private OpenSearchNode(Environment environment, Collection<Class<? extends Plugin>> plugins) {
    super(environment, plugins, true);
  }

  public static void main(String[] arguments) throws Exception {
    Path home = Path.of(arguments[0]);
    Path configuration = Files.createDirectories(home.resolve("config"));
    Settings settings = Settings.builder()
        .put("node.name", "bench")
        .put("path.home", home)
        .put("path.data", home.resolve("data"))
        .put("path.logs", home.resolve("logs"))
        .put("network.host", "127.0.0.1")
        .put("http.port", "0")
        .put("transport.port", "0")
        .put("transport.type", "netty4")
        .put("http.type", "netty4")
        .put("discovery.type", "single-node")
        .put("cluster.routing.allocation.disk.threshold_enabled", false)
        .build();
    Environment environment =
        InternalSettingsPreparer.prepareEnvironment(settings, Map.of(), configuration, () -> "bench");
    try (Node node = new OpenSearchNode(environment, List.of(Netty4Plugin.class, CommonAnalysisPlugin.class))) {
      node.start();
      HttpServerTransport http = node.injector().getInstance(HttpServerTransport.class);
      System.out.println("port " + http.boundAddress().publishAddress().getPort());
      while (System.in.read() >= 0) {}
    }
  }
}
