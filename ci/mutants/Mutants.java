import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;

/**
 * Proves that tests can fail: applies one-line mutants to the sources, one at a time, and expects the named conformance cases
 * (or the named test classes, compiled already, of the mutated module or the one that is named) to fail. A mutant that nothing notices, and
 * one whose line is no longer there, fail the run.
 *
 * <p>Run as {@code java ci/mutants/Mutants.java [OPTION...] JAR LIST...}: LIST is a file of mutants (its head says how it is written),
 * JAR the executable jar. Each module of tests has its class path in {@code target/test.classpath}. The mutated class is compiled alone and
 * put in front of that; the checkout is not touched. Ends with {@code N passed, N failed}. Options:
 *
 * <ul>
 *   <li>{@code --only PART}: mutants with that in their name
 *   <li>{@code --compile}: only whether each compiles; all in a minute or two
 *   <li>{@code --unchanged}: before a mutant, the same cases or tests without it, once each; they must pass
 *   <li>{@code --seed N --seconds S}: in an order drawn by the seed, and none begins after so many seconds; those left are counted, and are no
 *       failure
 * </ul>
 */
public final class Mutants {
    private static final long RUN_LIMIT_SECONDS = 240;
    private static final Set<String> FLAGS = Set.of("--compile", "--unchanged");

    private final Path root = Path.of("").toAbsolutePath();
    private final Path jar;
    private final Path runTests;
    private final boolean compileOnly;
    private final boolean unchangedToo;
    private final Map<List<String>, String> unchanged = new HashMap<>();
    private final String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();

    private Mutants(Path jar, Path work, Set<String> options) throws IOException {
        this.jar = jar.toAbsolutePath();
        compileOnly = options.contains("--compile");
        unchangedToo = options.contains("--unchanged");
        runTests = Files.createDirectory(work.resolve("run-tests"));
        String fault = compile(runTests, root.resolve("ci/mutants/RunTests.java"), jar);
        if (!fault.isEmpty()) {
            throw new IOException("RunTests.java does not compile: " + fault);
        }
    }

    public static void main(String[] args) throws Exception {
        Deque<String> left = new ArrayDeque<>(List.of(args));
        Map<String, String> options = new HashMap<>();
        while (!left.isEmpty() && left.peek().startsWith("--")) {
            String option = left.remove();
            options.put(option, FLAGS.contains(option) ? "" : left.remove());
        }
        Path jar = Path.of(left.remove());
        List<Map<String, String>> all = new ArrayList<>();
        for (String list : left) {
            all.addAll(parse(Path.of(list)));
        }
        all.removeIf(mutant -> !mutant.get("mutant").contains(options.getOrDefault("--only", "")));
        if (options.containsKey("--seed")) {
            Collections.shuffle(all, new Random(Long.parseLong(options.get("--seed"))));
        }
        long limitNs = TimeUnit.SECONDS.toNanos(Long.parseLong(options.getOrDefault("--seconds", "86400")));
        Path work = Files.createTempDirectory("mutants");
        boolean noticed;
        try {
            noticed = new Mutants(jar, work, options.keySet()).runAll(all, limitNs);
        } finally {
            delete(work);
        }
        System.exit(noticed ? 0 : 1);
    }

    /** True if there was one and all were noticed. */
    private boolean runAll(List<Map<String, String>> mutants, long limitNs) throws IOException, InterruptedException {
        long beganNs = System.nanoTime();
        int passed = 0;
        List<String> unnoticed = new ArrayList<>();
        for (Map<String, String> mutant : mutants) {
            long startNs = System.nanoTime();
            if (startNs - beganNs > limitNs) {
                break;
            }
            String fault = run(mutant);
            if (fault.isEmpty()) {
                passed++;
            } else {
                unnoticed.add(mutant.get("mutant") + ": " + fault);
            }
            System.out.printf(
                    "%-72s %s  %d ms%n",
                    mutant.get("mutant") + " [" + mutant.getOrDefault("tests", mutant.get("cases")) + "]",
                    fault.isEmpty() ? compileOnly ? "compiles" : "noticed" : "FAILED: " + fault,
                    TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNs));
        }
        unnoticed.forEach(System.out::println);
        int notRun = mutants.size() - passed - unnoticed.size();
        System.out.println(passed + " passed, " + unnoticed.size() + " failed"
                + (notRun == 0 ? "" : ", " + notRun + " of " + mutants.size() + " not run: the time was over"));
        return unnoticed.isEmpty() && passed > 0;
    }

    private static List<Map<String, String>> parse(Path list) throws IOException {
        List<Map<String, String>> mutants = new ArrayList<>();
        for (String line : Files.readAllLines(list)) {
            if (line.isBlank() || line.startsWith("#")) {
                continue;
            }
            int colon = line.indexOf(": ");
            if (colon < 0) {
                throw new IOException(list + ": expected \"name: value\", but found \"" + line + "\"");
            }
            String name = line.substring(0, colon);
            if (name.equals("mutant")) {
                mutants.add(new LinkedHashMap<>());
            }
            if (mutants.getLast().put(name, line.substring(colon + 2)) != null) {
                throw new IOException(list + ": a mutant has two lines of \"" + name + "\": " + line);
            }
        }
        return mutants;
    }

    /** Empty if the mutant was noticed, else what is wrong. */
    private String run(Map<String, String> mutant) throws IOException, InterruptedException {
        Path source = root.resolve(mutant.get("file"));
        String text = Files.readString(source);
        String find = mutant.get("find");
        int at = text.indexOf(find);
        if (at < 0 || text.indexOf(find, at + 1) >= 0) {
            return "expected \"" + find + "\" exactly once in " + mutant.get("file");
        }
        Path work = Files.createTempDirectory("mutant");
        try {
            Path mutated = work.resolve(source.getFileName());
            Files.writeString(mutated, text.replace(find, mutant.get("replace")));
            Path classes = Files.createDirectory(work.resolve("classes"));
            Path module = root.resolve(ofFile(mutant));
            List<Path> classPath = new ArrayList<>(List.of(jar, module.resolve("target/classes")));
            classPath.addAll(dependencies(module)); // the jar does not have those of every module
            String fault = compile(classes, mutated, classPath.toArray(Path[]::new));
            if (!fault.isEmpty()) {
                return "it does not compile: " + fault;
            }
            if (compileOnly) {
                return "";
            }
            fault = unchangedToo ? unchanged(mutant) : "";
            if (!fault.isEmpty()) {
                return fault;
            }
            String outcome = execute(work, mutant, classes);
            // 1: something failed; anything else than 0, a crash too, is noticed as well, but what cannot run (2) has tested nothing.
            return outcome.startsWith("0 ") || outcome.startsWith("2 ") ? "not noticed: " + tail(outcome) : "";
        } finally {
            delete(work);
        }
    }

    /** Empty if the cases or tests pass without the mutant. Each set of them is run once. */
    private String unchanged(Map<String, String> mutant) throws IOException, InterruptedException {
        List<String> key = Stream.of("cases", "provider", "tests", "property", "module")
                .map(name -> mutant.getOrDefault(name, ""))
                .toList();
        String known = unchanged.get(key);
        if (known == null) {
            Path work = Files.createTempDirectory("unchanged");
            try {
                String outcome = execute(work, mutant, Files.createDirectory(work.resolve("classes")));
                known = outcome.startsWith("0 ") ? "" : "it fails without the mutant: " + tail(outcome);
            } finally {
                delete(work);
            }
            unchanged.put(key, known);
        }
        return known;
    }

    /** Empty if it compiles, else what the compiler says. */
    private static String compile(Path classes, Path source, Path... classPath) {
        ByteArrayOutputStream said = new ByteArrayOutputStream();
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        int code = compiler.run(
                null, said, said, "-nowarn", "-proc:none", "-d", classes.toString(), "-cp", join(classPath), source.toString());
        return code == 0 ? "" : said.toString(StandardCharsets.UTF_8);
    }

    private static void delete(Path directory) throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            files.sorted(Comparator.reverseOrder()).forEach(file -> file.toFile().delete());
        }
    }

    private List<String> cases(Map<String, String> mutant, Path classes) {
        List<String> command = java(classes, jar);
        command.addAll(List.of(
                "org.softrdma.cli.Main",
                "tck",
                "--provider",
                mutant.getOrDefault("provider", "sim"),
                "--case",
                mutant.get("cases")));
        return command;
    }

    private List<String> tests(Map<String, String> mutant, Path classes) throws IOException {
        Path module = ofTests(mutant);
        List<Path> classPath = new ArrayList<>(List.of(
                classes, runTests, module.resolve("target/test-classes"), module.resolve("target/classes")));
        classPath.addAll(dependencies(module));
        classPath.add(jar); // has JUnit's launcher
        List<String> command = java(classPath.toArray(Path[]::new));
        if (mutant.containsKey("property")) {
            command.add(1, "-D" + mutant.get("property"));
        }
        command.add("RunTests");
        command.addAll(List.of(mutant.get("tests").split(",")));
        return command;
    }

    /** What a module and its tests depend on. */
    private static List<Path> dependencies(Path module) throws IOException {
        String others = Files.readString(module.resolve("target/test.classpath"));
        return Stream.of(others.strip().split(File.pathSeparator)).map(Path::of).toList();
    }

    /** The module that a mutated file is in. */
    private static String ofFile(Map<String, String> mutant) {
        return Path.of(mutant.get("file")).getName(0).toString();
    }

    /** The module whose tests notice a mutant. */
    private Path ofTests(Map<String, String> mutant) {
        return root.resolve(mutant.getOrDefault("module", ofFile(mutant)));
    }

    private List<String> java(Path... classPath) {
        return new ArrayList<>(List.of(
                java,
                "--enable-native-access=ALL-UNNAMED",
                "--add-exports=java.base/jdk.internal.misc=ALL-UNNAMED",
                "--add-exports=java.base/sun.nio.ch=ALL-UNNAMED",
                "-cp",
                join(classPath)));
    }

    private static String join(Path... classPath) {
        return Stream.of(classPath).map(Path::toString).collect(Collectors.joining(File.pathSeparator));
    }

    /** Runs cases in a directory of their own, and tests in that of their module, as Maven does: exit code, a blank, and the output. */
    private String execute(Path work, Map<String, String> mutant, Path classes) throws IOException, InterruptedException {
        boolean tests = mutant.containsKey("tests");
        Path output = work.resolve("output");
        Process process = new ProcessBuilder(tests ? tests(mutant, classes) : cases(mutant, classes))
                .directory((tests ? ofTests(mutant) : work).toFile())
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        if (!process.waitFor(RUN_LIMIT_SECONDS, TimeUnit.SECONDS)) {
            process.destroyForcibly().waitFor();
            return "124 timed out";
        }
        return process.exitValue() + " " + Files.readString(output);
    }

    private static String tail(String text) {
        List<String> lines = text.strip().lines().toList();
        return lines.isEmpty() ? "no output" : lines.getLast();
    }
}
