import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Executable;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.softrdma.cli.Main;
import picocli.CommandLine;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.OptionSpec;

/**
 * What a user sees of a build, as lines NAME TAB TEXT: commands, options and arguments; statistics, metrics and answers of a server; device
 * options and features; designs and conformance cases; fields of results; the Java API. {@code ci/compare-interface} compares the lines of
 * two builds.
 *
 * <p>Run as {@code java -cp JAR ci/CompareInterface.java JAR}: commands and the API are read from the classes of the jar, all else from what
 * its processes print. A study that has left no result, as where a tool is missing, is a line as well.
 */
public final class CompareInterface {
    /** Answered the same by every server that has just started. */
    private static final List<String> REQUESTS = List.of(
            "get none", "set k 5 0 3\r\none", "get k", "add k 0 0 1\r\n1", "replace none 0 0 1\r\n1", "append k 0 0 1\r\n!", "gets none",
            "prepend k 0 0 1\r\n!", "get k", "cas none 0 0 1 7\r\n1", "touch k 100", "gat 0 k", "incr k 1", "set n 0 0 1\r\n7", "incr n 5",
            "decr n 50", "delete n", "delete n", "mn", "mg k v t f s k q", "mg none v", "ms m 2 T0 F3\r\nab", "mg m v f", "ma c N0 J10 v",
            "md m", "md m q", "me none", "verbosity 1", "flush_all", "get k", "lru tune 10 20 0.2 0.3", "lru mode segmented",
            "slabs automove 1", "slabs reassign 1 2", "lru_crawler metadump all", "lru_crawler mgdump all", "lru_crawler enable",
            "cache_memlimit 64", "stats reset", "stats detail on", "stats detail dump", "shutdown", "refresh_certs", "extstore free_memchunks 1 1",
            "none", "set k", "set k 0 0 -1", "get " + "k".repeat(251), "rget none", "rdma none", "misbehave");

    private static final List<String> STATISTICS = List.of("", "settings", "items", "slabs", "sizes", "conns", "rdma");
    private static final Pattern NUMBER = Pattern.compile("-?[0-9]+(\\.[0-9]+)?(e[-+]?[0-9]+)?");
    private static final Pattern API =
            Pattern.compile("(org/softrdma/(?:verbs(?:/\\w+)?|kv/client(?:/cluster)?|stores|sanitiser)/[\\w$]+)\\.class");
    private static final String PORT = "28515";

    private final SortedMap<String, String> lines = new TreeMap<>();
    private final Path jar;
    private final Path work;

    private CompareInterface(Path jar, Path work) {
        this.jar = jar.toAbsolutePath();
        this.work = work;
    }

    public static void main(String[] args) throws Exception {
        Path work = Files.createTempDirectory("softrdma-interface");
        CompareInterface build = new CompareInterface(Path.of(args[0]), work);
        build.command("softrdma", Main.commandLine());
        build.api();
        build.server();
        build.listed("provider", List.of("providers"), Pattern.compile("^([a-z]+): (?:NOT )?usable"), Pattern.compile("^ {4}(\\S+) +(.*)"));
        build.listed("design", List.of("store", "--list"), Pattern.compile("^(\\S+)"), Pattern.compile("^ {2}((?:--option )?\\S+?):? +(.*)"));
        build.listed("case", List.of("tck", "--list"), Pattern.compile("^ *([0-9]+)"), Pattern.compile("^$"));
        build.results();
        build.lines.forEach((name, text) -> System.out.println(name + "\t" + text));
    }

    /** What is there twice, such as the answer to a request that is repeated, has both texts. */
    private void line(String name, String text) {
        String one = text.strip().replaceAll("\\s+", " ");
        lines.merge(name.strip(), one, (old, added) -> {
            boolean said = added.isEmpty() || List.of(old.split(" / ")).contains(added);
            return said ? old : old.isEmpty() ? added : old + " / " + added;
        });
    }

    // ---- commands

    private void command(String name, CommandLine command) {
        var spec = command.getCommandSpec();
        line("command " + name, String.join(" ", spec.usageMessage().description()));
        for (OptionSpec option : spec.options()) {
            if (option.inherited() || option.hidden()) {
                continue;
            }
            for (String each : option.names()) {
                line("option " + name + " " + each, text(option));
            }
        }
        spec.positionalParameters().forEach(each -> line("argument " + name + " " + each.index() + " " + each.paramLabel(), text(each)));
        line("exit codes " + name, spec.usageMessage().exitCodeList().toString());
        new TreeMap<>(command.getSubcommands()).forEach((word, sub) -> {
            if (!word.equals("help")) {
                command(name + " " + word, sub);
            }
        });
    }

    private static String text(ArgSpec argument) {
        String text = String.join(" ", argument.description());
        return argument.paramLabel() + " arity=" + argument.arity() + " default=" + argument.defaultValue()
                + (argument.required() ? " required " : " ") + Ansi.OFF.string(text.replace("${DEFAULT-VALUE}", "" + argument.defaultValue()));
    }

    // ---- the Java API

    private void api() throws Exception {
        try (ZipFile classes = new ZipFile(jar.toFile())) {
            for (ZipEntry entry : Collections.list(classes.entries())) {
                Matcher name = API.matcher(entry.getName());
                if (!name.matches()) {
                    continue;
                }
                Class<?> type = Class.forName(name.group(1).replace('/', '.'), false, getClass().getClassLoader());
                if (!Modifier.isPublic(type.getModifiers())) {
                    continue;
                }
                line("class " + type.getName(), "");
                for (Executable each : type.getDeclaredConstructors()) {
                    member(type, each.getModifiers(), "new" + Arrays.toString(each.getParameterTypes()));
                }
                for (Method each : type.getDeclaredMethods()) {
                    if (!each.isSynthetic()) {
                        member(type, each.getModifiers(), each.getName() + Arrays.toString(each.getParameterTypes()));
                    }
                }
                for (Field each : type.getDeclaredFields()) {
                    member(type, each.getModifiers(), each.getName());
                }
            }
        }
    }

    private void member(Class<?> type, int modifiers, String text) {
        if (Modifier.isPublic(modifiers)) {
            line("member " + type.getName() + " " + text.replace("class ", "").replace("interface ", ""), "");
        }
    }

    // ---- a server

    private void server() throws Exception {
        Process server = start(List.of("server", "-l", "127.0.0.1", "-p", "0", "--metrics-port", "0"));
        try (BufferedReader output = server.inputReader()) {
            Map<String, String> addresses = new TreeMap<>();
            while (!addresses.containsKey("pinning")) {
                String line = output.readLine();
                if (line == null) {
                    throw new IOException("the server has ended");
                }
                String[] parts = line.split(": ", 2);
                addresses.put(parts[0], parts.length > 1 ? parts[1] : "");
            }
            addresses.keySet().forEach(each -> line("server says " + each, ""));
            int port = Integer.parseInt(addresses.get("memcached").replaceAll(".*:", ""));
            try (Socket socket = new Socket("127.0.0.1", port)) {
                for (String request : REQUESTS) {
                    socket.getOutputStream().write((request + "\r\nmn\r\n").getBytes(StandardCharsets.ISO_8859_1));
                    String answer = untilNoop(socket.getInputStream());
                    if (request.equals("mn")) {
                        untilNoop(socket.getInputStream());
                    }
                    line("answer to " + request.replace("\r\n", "|"), answer.replace("\r\n", "|"));
                }
                for (String which : STATISTICS) {
                    socket.getOutputStream().write(("set k 0 0 1\r\n1\r\nstats " + which + "\r\nmn\r\n").getBytes(StandardCharsets.ISO_8859_1));
                    for (String each : untilNoop(socket.getInputStream()).split("\r\n")) {
                        String[] words = each.split(" ", 3);
                        if (words[0].equals("STAT")) {
                            String value = which.equals("settings") && !words[1].equals("tcpport") ? words[2] : "";
                            line("statistic " + which + " " + words[1].replaceAll("[0-9]+", "N"), value);
                        }
                    }
                }
            }
            metrics(addresses.get("metrics"));
        } finally {
            end(server);
        }
    }

    /** The meta no-op, whose answer ends that of the request before it. */
    private static String untilNoop(InputStream from) throws IOException {
        StringBuilder answer = new StringBuilder();
        while (!answer.toString().endsWith("MN\r\n")) {
            int next = from.read();
            if (next < 0) {
                return answer + "(closed)";
            }
            answer.append((char) next);
        }
        return answer.substring(0, answer.length() - "MN\r\n".length());
    }

    private void metrics(String address) throws Exception {
        try (HttpClient client = HttpClient.newHttpClient()) {
            String body = client.send(HttpRequest.newBuilder(URI.create(address)).build(), HttpResponse.BodyHandlers.ofString()).body();
            for (String each : body.split("\n")) {
                if (each.startsWith("# HELP ")) {
                    String[] words = each.split(" ", 4);
                    line("metric " + words[2] + " (help)", words[3]);
                } else if (!each.startsWith("#")) {
                    line("metric " + each.replaceAll(" \\S+$", "").replaceAll("=\"[0-9.]+\"", "=\"N\""), "");
                }
            }
        }
    }

    // ---- lists

    /** Lines of a command: those that begin something, and what belongs to it below. */
    private void listed(String kind, List<String> arguments, Pattern beginning, Pattern part) throws Exception {
        String of = "";
        for (String each : run(arguments, work).split("\n")) {
            Matcher begins = beginning.matcher(each);
            Matcher inside = part.matcher(each);
            if (inside.find()) {
                line(kind + " " + of + " " + inside.group(1), inside.group(2));
            } else if (begins.find()) {
                of = begins.group(1);
                line(kind + " " + of, each);
            } else if (each.strip().startsWith("features: ")) {
                for (String feature : each.replaceAll(".*: ", "").split(", ")) {
                    line(kind + " " + of + " has " + feature, "");
                }
            }
        }
    }

    // ---- fields of results

    private void results() throws Exception {
        result("perf floor", "perf", "floor", "--rounds", "1", "--responders", "1", "--millis", "50", "--warm-up-millis", "3000", "--sizes", "1K",
                "--windows", "16", "--memory", "1M", "--json", "result.json");
        result("perf scale", "perf", "scale", "--rounds", "1", "--millis", "50", "--warm-up-millis", "50", "--connections", "2,4", "--stags",
                "10,100", "--json", "result.json");
        result("perf verbs", "perf", "verbs", "--rounds", "1", "--responders", "1", "--millis", "50", "--warm-up-millis", "50", "--sizes", "16",
                "--json", "result.json");
        result("tck", "tck", "--case", "1", "--json", "result.json");
        result("papers", "papers", "--json", "result.json");
        result("compare --fabric", "compare", "--fabric", "--operations", "100", "--pairs", "512", "--sizes", "32", "--out", ".");
        result("wimpy", "wimpy", "--rounds", "1", "--sizes", "1K", "--windows", "16", "--pairs", "100", "--out", ".");
        Process responder = start(List.of("perf", "read-lat", "-p", PORT));
        try (BufferedReader output = responder.inputReader()) {
            output.readLine(); // that it listens
            result("perf read-lat", "perf", "read-lat", "-p", PORT, "-n", "100", "--warm-up", "1", "--json", "result.json",
                    "127.0.0.1");
        } finally {
            end(responder);
        }
        if (lines.containsKey("command softrdma farm tao")) {
            result("farm tao", "farm", "tao", "--local", "--graph", "100", "--seconds", "1", "--updates", "20", "--json", "result.json");
        }
    }

    private void result(String name, String... arguments) throws Exception {
        Path out = Files.createTempDirectory(work, "run");
        String said = run(List.of(arguments), out);
        try (var files = Files.list(out)) {
            Path json = files.filter(each -> each.toString().endsWith(".json")).findFirst().orElse(null);
            if (json == null) {
                line("no result of " + name, said.strip().replaceAll("(?s).*\n", ""));
                return;
            }
            fields("field of " + name + " ", new ObjectMapper().readTree(json.toFile()));
        }
    }

    /** One name for what is named by a measurement: a number, or the classes of threads that were busy. */
    private static String fieldName(String path, String key) {
        return path.endsWith("ByThreadClass") ? "CLASS" : key.replaceAll("[0-9]+", "N");
    }

    private void fields(String path, JsonNode node) {
        if (node.isObject()) {
            node.properties().forEach(each -> fields(path + "." + fieldName(path, each.getKey()), each.getValue()));
        } else if (node.isArray()) {
            node.forEach(each -> fields(path + "[]", each));
        } else {
            boolean number = node.isNumber() || NUMBER.matcher(node.asText()).matches();
            line(path, number ? "number" : node.isNull() ? "" : node.isBoolean() ? "boolean" : "text");
        }
    }

    // ---- processes

    private List<String> java(List<String> arguments) {
        List<String> words = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-jar", jar.toString()));
        words.addAll(arguments);
        return words;
    }

    private Process start(List<String> arguments) throws IOException {
        return new ProcessBuilder(java(arguments)).directory(work.toFile()).redirectError(ProcessBuilder.Redirect.DISCARD).start();
    }

    private String run(List<String> arguments, Path directory) throws Exception {
        Path output = Files.createTempFile(work, "output", ".txt");
        Process process = new ProcessBuilder(java(arguments)).directory(directory.toFile()).redirectErrorStream(true)
                .redirectOutput(output.toFile()).start();
        try {
            if (!process.waitFor(10, TimeUnit.MINUTES)) {
                throw new IOException("softrdma " + String.join(" ", arguments) + " has not ended");
            }
        } finally {
            end(process);
        }
        return Files.readString(output);
    }

    private static void end(Process process) throws InterruptedException {
        process.destroy();
        if (!process.waitFor(10, TimeUnit.SECONDS)) {
            process.destroyForcibly();
        }
    }
}
