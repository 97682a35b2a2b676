package org.softrdma.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.softrdma.stores.Promises;
import org.softrdma.stores.Protocol;
import org.softrdma.stores.StoreDesign;
import org.softrdma.stores.StoreDesigns;

/** The pages say what the designs promise, and each promise has a test. */
class PromisesTest {
    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
    private static final Path SUMMARY = Path.of("docs", "design", "stores.md");
    private static final Path PAGE = Path.of("docs", "design", "promises.md");
    private static final Pattern TEST = Pattern.compile("`([A-Z][A-Za-z]+Test)\\.(should[A-Za-z0-9]+)`( \\(slow\\))?");
    private static final Pattern COMMENT = Pattern.compile("/\\*.*?\\*/|(?m:^ *//[^\n]*$)", Pattern.DOTALL);
    private static final String SLOW = "@Tag(\"slow\")";

    /** The columns of the summary, which are the headings of the page: how a promise begins, for people. */
    private static final Map<String, Function<Promises, String>> COLUMNS = new LinkedHashMap<>();

    static {
        COLUMNS.put("linearizable", promises -> switch (promises.consistency()) {
            case LINEARIZABLE -> "yes";
            case FALSE_MISSES -> "except for false misses";
            case NONE -> "no";
        });
        COLUMNS.put("a miss is proven", promises -> yes(promises.provesMiss()));
        COLUMNS.put("gets while the server's application is paused", promises -> yes(promises.getsWithoutServer()));
        COLUMNS.put("puts then", promises -> yes(promises.putsWithoutServer()));
        COLUMNS.put("survives the death of a client", promises -> yes(promises.survivesClientDeath()));
        COLUMNS.put("loses pairs", promises -> promises.lossy() ? "by eviction" : "no");
    }

    private static String yes(boolean promised) {
        return promised ? "yes" : "no";
    }

    /** The rows of a page: each design in each of its forms, or in both where these promise the same. */
    private static Map<String, Promises> rows() {
        Map<String, Promises> rows = new TreeMap<>();
        for (StoreDesign design : StoreDesigns.all()) {
            Promises safe = design.promises(Protocol.SAFE);
            Promises paper = design.promises(Protocol.PAPER);
            String name = '`' + design.name() + "`, ";
            if (safe.equals(paper)) {
                rows.put(name + "both forms", safe);
            } else {
                rows.put(name + "safe", safe);
                rows.put(name + "as published", paper);
            }
        }
        return rows;
    }

    private static List<List<String>> cells(String text) {
        List<List<String>> table = new ArrayList<>();
        text.lines().filter(line -> line.startsWith("| `")).forEach(line -> {
            List<String> cells = new ArrayList<>();
            for (String cell : line.substring(1, line.lastIndexOf('|')).split("\\|", -1)) {
                cells.add(cell.strip());
            }
            table.add(cells);
        });
        return table;
    }

    private static void requirePromise(String column, String row, Promises promises, String cell) {
        String expected = Objects.requireNonNull(COLUMNS.get(column)).apply(promises);
        assertTrue(cell.startsWith(expected), () -> row + ", " + column + ": expected " + expected + ", found " + cell);
    }

    @Test
    void shouldSummariseWhatTheDesignsPromise() throws IOException {
        Map<String, Promises> expected = rows();
        for (List<String> row : cells(Files.readString(ROOT.resolve(SUMMARY)))) {
            String name = row.getFirst().replaceFirst(" \\(\\[its .*", "");
            Promises promises = expected.remove(name);
            if (promises == null) {
                continue; // a row of another table
            }
            int at = 1;
            for (String column : COLUMNS.keySet()) {
                requirePromise(column, name, promises, row.get(at++));
            }
        }
        assertTrue(expected.isEmpty(), () -> SUMMARY + " has no row of " + expected.keySet());
    }

    @Test
    void shouldNameATestOfEachPromise() throws IOException {
        String page = Files.readString(ROOT.resolve(PAGE));
        for (String column : COLUMNS.keySet()) {
            Map<String, Promises> expected = rows();
            for (List<String> row : cells(section(page, column))) {
                Promises promises = expected.remove(row.getFirst());
                if (promises == null) {
                    throw new AssertionError(column + ": " + row.getFirst() + " is no design, or is there twice");
                }
                requirePromise(column, row.getFirst(), promises, row.get(1));
                assertTrue(TEST.matcher(row.get(2)).find(), () -> column + ", " + row.getFirst() + ": no test");
            }
            assertTrue(expected.isEmpty(), () -> column + ": no row of " + expected.keySet());
        }
    }

    private static String section(String page, String column) {
        for (String section : page.split("\n## ", -1)) {
            if (section.lines().findFirst().orElse("").equalsIgnoreCase(column)) {
                return section;
            }
        }
        throw new AssertionError(PAGE + " has no section " + column);
    }

    @Test
    void shouldNameTestsThatRun() throws IOException {
        Map<String, String> sources = new TreeMap<>();
        for (String module : List.of("stores", "farm", "cli")) {
            try (Stream<Path> files = Files.walk(ROOT.resolve(module).resolve("src/test/java"))) {
                for (Path test : files.filter(file -> file.toString().endsWith("Test.java"))
                        .toList()) {
                    String name = String.valueOf(test.getFileName()).replace(".java", "");
                    sources.merge(name, Files.readString(test), String::concat);
                }
            }
        }
        Matcher named = TEST.matcher(Files.readString(ROOT.resolve(PAGE)));
        int count = 0;
        while (named.find()) {
            String source = sources.getOrDefault(named.group(1), "");
            assertFalse(source.isEmpty(), named.group() + ": there is no such class");
            assertEquals("", fault(source, named.group(2), named.group(3) != null), named.group());
            count++;
        }
        assertTrue(count >= COLUMNS.size() * rows().size(), count + " tests");
    }

    /** Why a method is no test that runs whenever the page says so; empty if it is one. */
    private static String fault(String source, String method, boolean slow) {
        String code = COMMENT.matcher(source).replaceAll("");
        int at = code.indexOf("void " + method + "(");
        if (at < 0) {
            return "there is no such method";
        }
        int begin = Math.max(code.lastIndexOf("}\n", at), code.lastIndexOf(";\n", at));
        String annotations = code.substring(Math.max(0, begin), at);
        String ofClass = code.substring(0, Math.max(0, code.indexOf("\nclass ")));
        if (!annotations.contains("@Test\n") && !annotations.contains("@ParameterizedTest")) {
            return "it is no test";
        }
        if (annotations.contains("@Disabled") || ofClass.contains("@Disabled")) {
            return "it is disabled";
        }
        boolean isSlow = annotations.contains(SLOW) || ofClass.contains(SLOW);
        if (isSlow != slow) {
            return isSlow ? "it is slow, and the page does not say so" : "it is not slow, as the page says";
        }
        return "";
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        @Test                           | false | ''
        @ParameterizedTest @EnumSource  | false | ''
        @Test @Timeout(5)               | false | ''
        @Test @Tag("slow")              | true  | ''
        @Test @Tag("slow")              | false | it is slow, and the page does not say so
        @Test                           | true  | it is not slow, as the page says
        @Test @Disabled                 | false | it is disabled
        @Test @Disabled("flaky")        | false | it is disabled
        @BeforeEach                     | false | it is no test
        // @Test                        | false | it is no test
        """)
    void shouldTellTestsFromWhatOnlyHasTheirName(String annotations, boolean slow, String fault) {
        String lines = annotations.startsWith("//") ? annotations : annotations.replace(" ", "\n    ");
        String before = "class AnyTest {\n    @Test\n    void shouldBeAnother() {}\n\n    ";
        assertEquals(fault, fault(before + lines + "\n    void shouldDo() {}\n}\n", "shouldDo", slow));
        assertEquals("there is no such method", fault(before + "/* void shouldDo() */ }", "shouldDo", slow));
    }
}
