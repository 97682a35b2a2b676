import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Proves that tests can fail: applies one-line mutants to the sources, one at a time, and expects the named conformance cases
 * (or the named test classes, compiled already, of the mutated module or the one that is named) to fail. A mutant that nothing notices, and
 * one whose line is no longer there, fail the run.
 *
 * <p>Run as {@code java ci/mutants/Mutants.java LIST JAR [NAME]}: LIST is a file of mutants (its head says how it is written),
 * JAR the executable jar, NAME a part of the name of the mutants to run. The mutated class is compiled alone and put in front
 * of the jar; the checkout is not touched. Ends with {@code N passed, N failed}.
 */
public final class Mutants {
    private static final long RUN_LIMIT_SECONDS = 240;

    private final Path root = Path.of("").toAbsolutePath();
    private final Path jar;
    private final String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    private final String javac = Path.of(System.getProperty("java.home"), "bin", "javac").toString();

    private Mutants(Path jar) {
        this.jar = jar.toAbsolutePath();
    }

    public static void main(String[] args) throws Exception {
        Mutants mutants = new Mutants(Path.of(args[1]));
        List<Map<String, String>> all = parse(Path.of(args[0]));
        int passed = 0;
        List<String> unnoticed = new ArrayList<>();
        for (Map<String, String> mutant : all) {
            if (args.length > 2 && !mutant.get("mutant").contains(args[2])) {
                continue;
            }
            long start = System.nanoTime();
            String fault = mutants.run(mutant);
            long ms = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
            if (fault.isEmpty()) {
                passed++;
            } else {
                unnoticed.add(mutant.get("mutant") + ": " + fault);
            }
            System.out.printf("%-72s %s  %d ms%n", mutant.get("mutant") + " [" + mutant.getOrDefault("tests", mutant.get("cases")) + "]",
                    fault.isEmpty() ? "noticed" : "FAILED: " + fault, ms);
        }
        unnoticed.forEach(System.out::println);
        System.out.println(passed + " passed, " + unnoticed.size() + " failed");
        System.exit(unnoticed.isEmpty() && passed > 0 ? 0 : 1);
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
            mutants.getLast().put(name, line.substring(colon + 2));
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
            String compiled = execute(work, List.of(
                    javac, "-nowarn", "-proc:none", "-d", classes.toString(), "-cp", jar.toString(), mutated.toString()));
            if (!compiled.startsWith("0 ")) {
                return "it does not compile: " + compiled;
            }
            String outcome = execute(work, mutant.containsKey("tests") ? tests(mutant, classes) : cases(mutant, classes));
            // 1: cases failed; anything else than 0, a crash too, is noticed as well, but a wrong command line (2) is not.
            return outcome.startsWith("0 ") || outcome.startsWith("2 ") ? "not noticed: " + tail(outcome) : "";
        } finally {
            try (Stream<Path> files = Files.walk(work)) {
                files.sorted(Comparator.reverseOrder()).forEach(file -> file.toFile().delete());
            }
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

    private List<String> tests(Map<String, String> mutant, Path classes) {
        String ofFile = Path.of(mutant.get("file")).getName(0).toString();
        Path module = root.resolve(mutant.getOrDefault("module", ofFile));
        List<String> command = java(classes, jar, module.resolve("target/test-classes"));
        if (mutant.containsKey("property")) {
            command.add(1, "-D" + mutant.get("property"));
        }
        command.add(root.resolve("ci/mutants/RunTests.java").toString());
        command.addAll(List.of(mutant.get("tests").split(",")));
        return command;
    }

    private List<String> java(Path... classPath) {
        return new ArrayList<>(List.of(
                java,
                "--enable-native-access=ALL-UNNAMED",
                "--add-exports=java.base/jdk.internal.misc=ALL-UNNAMED",
                "-cp",
                Stream.of(classPath).map(Path::toString).collect(Collectors.joining(File.pathSeparator))));
    }

    /** Exit code, a blank, and the output. */
    private String execute(Path work, List<String> command) throws IOException, InterruptedException {
        Path output = work.resolve("output");
        Process process = new ProcessBuilder(command)
                .directory(work.toFile())
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
