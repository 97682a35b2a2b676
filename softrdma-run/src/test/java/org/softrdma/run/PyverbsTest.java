package org.softrdma.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * rdma-core's own tests, in Python, of the version that is installed, as their authors run them. docs/design/run.md has the numbers. Those
 * of other cards are left out.
 */
class PyverbsTest {
    private static final Path TESTS = Path.of("/usr/share/doc/rdma-core/tests");
    private static final Pattern FAILED = Pattern.compile("^(?:FAIL|ERROR): (\\w+) ", Pattern.MULTILINE);
    /** Those that fail, with the reason on the page. */
    private static final Set<String> KNOWN = Set.of("test_qp_ex_rc_atomic_write");

    /** Those of other cards, and those that have a test of their own here. */
    private static final List<String> APART = List.of("test_mlx5", "test_efa", "test_cuda", "test_rdmacm");

    @TempDir
    private Path folder;

    private RealRun real;

    @BeforeEach
    void open() throws Exception {
        RealRun.requireProgram("python3", "python3");
        assumeTrue(
                Files.isDirectory(TESTS), "no " + TESTS + ": it is in python3-pyverbs, if the machine keeps documents");
        real = new RealRun(folder);
    }

    private void expectPassed(Stream<String> modules) throws Exception {
        Set<String> failed = new TreeSet<>();
        int code = real.run(
                "sh",
                "-c",
                "cp -r " + TESTS + " " + folder + " && cd " + folder
                        + " && { gunzip tests/*.gz || true; } && exec /usr/bin/python3 tests/run_tests.py --dev rxe0"
                        + " --port 1 --gid "
                        + RealRun.loopbackGid() + " -v "
                        + String.join(" ", modules.map(each -> "tests." + each).toList()));
        FAILED.matcher(real.said()).results().forEach(each -> failed.add(each.group(1)));
        failed.removeAll(KNOWN);
        assertEquals(Set.of(), failed, real::said);
        assertTrue(code <= 1 && real.said().contains("\nRan "), real::said);
    }

    @Test
    void shouldPassItsTestsOfWindowsAndAddresses() throws Exception {
        expectPassed(Stream.of("test_mr", "test_addr", "test_pd"));
    }

    @Test
    @Tag("slow")
    void shouldPassItsTestsOfTheConnectionManager() throws Exception {
        expectPassed(Stream.of("test_rdmacm"));
    }

    @Test
    @Tag("slow")
    void shouldPassAllOfItsTests() throws Exception {
        try (Stream<Path> files = Files.list(TESTS)) {
            expectPassed(files
                    .map(each -> each.getFileName().toString())
                    .filter(each -> each.startsWith("test_") && APART.stream().noneMatch(each::startsWith))
                    .map(each -> each.substring(0, each.indexOf('.')))
                    .sorted()
                    .toList()
                    .stream());
        }
    }
}
