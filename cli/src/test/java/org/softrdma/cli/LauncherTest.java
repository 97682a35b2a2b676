package org.softrdma.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What {@code ./softrdma} starts: a copy of it, with JDKs that print their arguments. No JVM and no build. */
class LauncherTest {
    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
    private static final List<String> SHORT = List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC");

    @TempDir
    Path folder;

    private Path checkout;
    private Path jar;
    private Path jdk;

    @BeforeEach
    void copy() throws IOException {
        assumeTrue(Files.isExecutable(Path.of("/bin/bash")), "no bash");
        checkout = Files.createDirectories(folder.resolve("a checkout"));
        Files.copy(ROOT.resolve("softrdma"), checkout.resolve("softrdma"));
        Files.createDirectories(checkout.resolve("ci"));
        Files.copy(ROOT.resolve("ci/lib.sh"), checkout.resolve("ci/lib.sh"));
        jar = Files.createDirectories(checkout.resolve("cli/target")).resolve("softrdma.jar");
        Files.writeString(jar, "a jar");
        Files.setLastModifiedTime(jar, FileTime.fromMillis(1_000_000_000_000L));
        jdk = jdk("25.0.1", "printf '%s\\n' \"$@\"");
    }

    /** A JDK whose java does something. */
    private Path jdk(String version, String java) throws IOException {
        Path home = folder.resolve("jdk-" + version);
        Path bin = Files.createDirectories(home.resolve("bin"));
        Files.writeString(home.resolve("release"), "JAVA_VERSION=\"" + version + "\"\n");
        for (String name : List.of("java", "javac")) {
            Path program = Files.writeString(bin.resolve(name), "#!/bin/bash\n" + java + "\n");
            Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwxr-xr-x"));
        }
        return home;
    }

    /** What it starts, without the jar and what is behind it. */
    private List<String> optionsOf(Path home, Map<String, String> environment, String... arguments)
            throws IOException, InterruptedException {
        List<String> lines = bash(home, environment, "exec ./softrdma \"$@\"", arguments);
        int end = lines.indexOf("-jar");
        assertTrue(end >= 0, lines::toString);
        assertEquals(jar.toString(), lines.get(end + 1));
        assertEquals(List.of(arguments), lines.subList(end + 2, lines.size()));
        return lines.subList(0, end);
    }

    private List<String> optionsOf(String... arguments) throws IOException, InterruptedException {
        return optionsOf(jdk, Map.of(), arguments);
    }

    private List<String> bash(Path home, Map<String, String> environment, String script, String... arguments)
            throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of("/bin/bash", "-c", script, "softrdma"));
        command.addAll(List.of(arguments));
        ProcessBuilder builder =
                new ProcessBuilder(command).directory(checkout.toFile()).redirectErrorStream(true);
        builder.environment().keySet().removeIf(name -> name.startsWith("SOFTRDMA_"));
        builder.environment().put("JAVA_HOME", home.toString());
        builder.environment().putAll(environment);
        Process process = builder.start();
        List<String> lines = process.inputReader().lines().toList();
        assertEquals(0, process.waitFor(), lines::toString);
        return lines;
    }

    /** Makes the archive as the launcher does behind a build. */
    private Path archive(Path home) throws IOException, InterruptedException {
        List<String> said = bash(
                home,
                Map.of(),
                "SOFTRDMA_ROOT=$PWD; . ci/lib.sh; make_class_archive; printf '%s\\n' \"$CLASS_ARCHIVE\"");
        assertEquals(1, said.size(), said::toString);
        return Path.of(said.getFirst());
    }

    private static String flag(Path archive) {
        return "-XX:SharedArchiveFile=" + archive;
    }

    @ParameterizedTest
    @ValueSource(strings = {"kv", "papers", "providers", "--version", "--help"})
    void shouldCompileAShortCommandOnce(String command) throws Exception {
        assertEquals(SHORT, optionsOf(command));
    }

    /** The JVM would raise it, and programs inherit it. */
    @Test
    void shouldLeaveTheLimitOfOpenFilesToAProgramThatIsRun() throws Exception {
        List<String> expected = new ArrayList<>(SHORT);
        expected.add("-XX:-MaxFDLimit");
        assertEquals(expected, optionsOf("run", "--", "server"));
    }

    @Test
    void shouldLeaveOtherCommandsToBothCompilers() throws Exception {
        assertEquals(List.of(), optionsOf("wimpy", "kv"));
        assertEquals(List.of("-XX:+ExitOnOutOfMemoryError"), optionsOf("server", "-p", "1"));
    }

    @Test
    void shouldLetTheUserHaveTheLastWord() throws Exception {
        List<String> options =
                optionsOf(jdk, Map.of("SOFTRDMA_JAVA_OPTS", "-Xmx64m -XX:TieredStopAtLevel=4"), "kv", "get", "a b");

        assertEquals(
                Stream.concat(SHORT.stream(), Stream.of("-Xmx64m", "-XX:TieredStopAtLevel=4"))
                        .toList(),
                options);
    }

    @Test
    void shouldUseTheArchiveThatItMade() throws Exception {
        String makes = "for a in \"$@\"; do case $a in -XX:ArchiveClassesAtExit=*) echo x >\"${a#*=}\" ;; esac; done";
        Path other = jdk("25.0.2", makes);
        Path archive = archive(other);
        jdk("25.0.2", "printf '%s\\n' \"$@\"");

        assertEquals(flag(archive), optionsOf(other, Map.of(), "kv", "get", "a").getFirst());
        Path ofRun = Path.of(archive.toString().replace(".jsa", "-run.jsa"));
        assertEquals(flag(ofRun), optionsOf(other, Map.of(), "run", "true").getFirst());
        assertEquals(SHORT, optionsOf("kv", "get", "a"), "another JDK has another archive");
        try (Stream<Path> files = Files.list(jar.getParent())) {
            assertEquals(3, files.count(), "nothing unfinished is left");
        }
    }

    @Test
    void shouldDoWithoutAnArchiveThatIsOlderThanTheJar() throws Exception {
        Path archive = Files.writeString(archive(jdk), "made before the last build");
        Files.setLastModifiedTime(archive, FileTime.fromMillis(999_999_999_000L));

        assertEquals(SHORT, optionsOf("kv", "get", "a"));
    }

    @Test
    void shouldDoWithoutAnArchiveThatCouldNotBeMade() throws Exception {
        Path archive = archive(jdk);

        assertEquals(0, Files.size(archive), "so that nobody tries it");
        assertEquals(SHORT, optionsOf("kv", "get", "a"));
    }

    @Test
    void shouldDoWithoutWhatIsNoFile() throws Exception {
        Path archive = archive(jdk);
        Files.delete(archive);
        Files.createDirectory(archive);

        assertEquals(SHORT, optionsOf("kv", "get", "a"));
    }

    @Test
    void shouldStartFromACheckoutThatCannotBeWrittenAndHasNoArchive() throws Exception {
        Files.setPosixFilePermissions(jar.getParent(), PosixFilePermissions.fromString("r-xr-xr-x"));

        assertEquals(SHORT, optionsOf("kv", "get", "a"));
    }
}
