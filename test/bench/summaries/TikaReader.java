// Reads paths, one a line, and prints what Apache Tika finds in each file as a JSON line; `#` prints the processor time of this process
// in milliseconds. Run by the benchmark `summaries`: java -cp tika-app.jar TikaReader.java
import java.io.*;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import org.apache.tika.langdetect.optimaize.OptimaizeLangDetector;
import org.apache.tika.language.detect.LanguageDetector;
import org.apache.tika.metadata.*;
import org.apache.tika.parser.*;
import org.apache.tika.sax.BodyContentHandler;

public class TikaReader {
  public static void main(String[] args) throws Exception {
    AutoDetectParser parser = new AutoDetectParser();
    LanguageDetector languages = new OptimaizeLangDetector().loadModels();
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    PrintStream out = new PrintStream(new BufferedOutputStream(new FileOutputStream(FileDescriptor.out)), false, "UTF-8");
    System.setOut(System.err);
    var system = (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    for (String line; (line = in.readLine()) != null; ) {
      if (line.equals("#")) {
        out.println("{\"cpu\":" + system.getProcessCpuTime() / 1_000_000 + "}");
        out.flush();
        continue;
      }
      Metadata metadata = new Metadata();
      BodyContentHandler handler = new BodyContentHandler(16_000_000);
      try (InputStream file = new BufferedInputStream(Files.newInputStream(Path.of(line)))) {
        metadata.set(TikaCoreProperties.RESOURCE_NAME_KEY, Path.of(line).getFileName().toString());
        ParseContext context = new ParseContext();
        context.set(Parser.class, parser);
        parser.parse(file, handler, metadata, context);
      } catch (Throwable error) {
        // What was read until then counts.
      }
      String text = handler.toString();
      String language = languages.detect(text.substring(0, Math.min(text.length(), 20_000))).getLanguage();
      String date = first(metadata, "dcterms:created", "dcterms:modified", "date", "dc:date", "meta:creation-date");
      out.println("{\"type\":" + json(metadata.get("Content-Type")) + ",\"title\":" + json(first(metadata, "dc:title", "title", "dc:subject", "subject"))
          + ",\"author\":" + json(first(metadata, "dc:creator", "author", "meta:author", "xmpDM:artist")) + ",\"date\":" + json(date)
          + ",\"language\":" + json(language) + ",\"text\":" + json(text) + "}");
      out.flush();
    }
  }

  private static String first(Metadata metadata, String... names) {
    for (String name : names) if (metadata.get(name) != null) return metadata.get(name);
    return null;
  }

  private static String json(String text) {
    if (text == null) return "null";
    StringBuilder json = new StringBuilder("\"");
    for (char c : text.toCharArray()) {
      if (c == '"' || c == '\\') json.append('\\').append(c);
      else if (c < ' ' || c == 0x2028 || c == 0x2029 || (c >= 0xd800 && c < 0xe000)) json.append(String.format("\\u%04x", (int) c));
      else json.append(c);
    }
    return json.append('"').toString();
  }
}
