package org.softrdma.cli.arrows;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The main code has no circles of packages and no shared names, and the picture of it is true. Each rule fails on code that breaks it. */
class HouseTest {
    private static SourceGraph real;

    @TempDir
    private Path checkout;

    @BeforeAll
    static void read() throws IOException {
        real = SourceGraph.ofCheckout(House.checkout());
    }

    @Test
    void shouldReadTheMainCodeOfEveryModule() {
        assertEquals(ModuleArrows.ARROWS.size(), real.moduleArrows().size());
        assertTrue(real.files().containsKey("org.softrdma.cli.Main"));
        assertFalse(real.files().containsKey(HouseTest.class.getName()));
    }

    @Test
    void shouldHaveNoCircleOfPackages() {
        assertNone(new CircleRule(real).faults());
    }

    @Test
    void shouldHaveNoNameTwice() {
        assertNone(new SharedNameRule(real).faults());
    }

    @Test
    void shouldHaveATruePictureOfTheModules() throws IOException {
        assertEquals(
                new HousePicture(real).modules(),
                House.drawn(Files.readString(House.checkout().resolve(House.PAGE))),
                House.PAGE + " shows other modules or arrows than the code has: ./ci/house --draw draws it anew");
    }

    // ------------------------------------------------------------------------------------- code that breaks the rules

    private void write(String module, String packageName, String name, String code) throws IOException {
        Path file = checkout.resolve(module + "/src/main/java/" + packageName.replace('.', '/') + "/" + name + ".java");
        Files.createDirectories(file.getParent());
        Files.writeString(file, "package " + packageName + ";\n" + code);
    }

    private List<String> faults() throws IOException {
        return new CircleRule(SourceGraph.ofCheckout(checkout)).faults();
    }

    /** What leads from a class to others. */
    private Set<String> arrowsOf(String className) throws IOException {
        return SourceGraph.ofCheckout(checkout).classArrows().getOrDefault(className, new TreeSet<>());
    }

    private void writeCircle() throws IOException {
        write("m", "org.softrdma.low", "A", "import org.softrdma.high.B;\nclass A { B b; }\n");
        write("m", "org.softrdma.high", "B", "import org.softrdma.low.A;\nclass B { A a; A other; }\n");
    }

    @Test
    void shouldTellTheMembersAndTheArrowsOfACircle() throws IOException {
        writeCircle();
        List<String> faults = faults();
        assertEquals(1, faults.size());
        String fault = faults.getFirst();
        assertTrue(fault.startsWith("A circle of 2 packages."), fault);
        assertTrue(fault.contains("high.B -> low.A   m/src/main/java/org/softrdma/high/B.java:2"), fault);
        assertTrue(fault.contains("low.A -> high.B   m/src/main/java/org/softrdma/low/A.java:2"), fault);
    }

    @Test
    void shouldSeeAnArrowToAConstantAndToANestedClass() throws IOException {
        write("m", "org.softrdma.p", "Limits", "class Limits { static final int MOST = 7; Worker.Nested worker; }\n");
        write("m", "org.softrdma.p", "Worker", "class Worker { static class Nested { int most = Limits.MOST; } }\n");
        assertEquals(Set.of("org.softrdma.p.Worker"), arrowsOf("org.softrdma.p.Limits"));
        assertEquals(Set.of("org.softrdma.p.Limits"), arrowsOf("org.softrdma.p.Worker"));
        assertNone(faults());
    }

    @Test
    void shouldSeeNoArrowInCommentsStringsAndNamesOfItsOwn() throws IOException {
        write("m", "org.softrdma.p", "Used", "class Used { Using using; }\n");
        write("m", "org.softrdma.p", "Entry", "class Entry { Using using; }\n");
        write("m", "org.softrdma.p", "Using", """
            import java.util.Map.Entry;
            /** {@link Used} */
            class Using {
                // Used
                String text = "Used" + \"""
                        Used
                        \""" + '"' + other.Used;
                Entry<String, String> entry;
                record Own(int used) {}
            }
            """);
        assertEquals(Set.of(), arrowsOf("org.softrdma.p.Using"));
    }

    @Test
    void shouldSeeAnArrowThatIsWrittenWithItsPackage() throws IOException {
        write("m", "org.softrdma.low", "A", "class A { org.softrdma.high.B.Nested b; }\n");
        write(
                "m",
                "org.softrdma.high",
                "B",
                "import static org.softrdma.low.A.most;\nclass B { static class Nested {} }\n");
        assertEquals(1, faults().size());
    }

    @Test
    void shouldRefuseANameOfTwoModules() throws IOException {
        write("m", "org.softrdma.p", "Same", "class Same {}\n");
        write("n", "org.softrdma.q", "Same", "class Same {}\n");
        write("n", "org.softrdma.r", "Same", "class Same {}\n");
        write("n", "org.softrdma.q", "Other", "class Other {}\n");
        write("n", "org.softrdma.r", "Other", "class Other {}\n");
        SourceGraph graph = SourceGraph.ofCheckout(checkout);
        List<String> faults = new SharedNameRule(graph).faults();
        assertEquals(1, faults.size(), faults::toString);
        assertTrue(faults.getFirst().contains("org.softrdma.p.Same, org.softrdma.q.Same"), faults::toString);
    }

    @Test
    void shouldCountFilesLinesPackagesAndParameters() throws IOException {
        writeCircle();
        write("m", "org.softrdma.high", "C", """
            record C(java.util.Map<String, Integer> one, int[] two) {
                C(int first, int second, int third) throws IOException {
                    new D(1, 2, 3, 4, 5);
                }
                class D { D(Map<A, B> many) {} }
            }
            """);
        String table = new HouseFigures(SourceGraph.ofCheckout(checkout)).table();
        assertTrue(table.contains("| m | 3 | 2 | 2 | 2 | 2 | 7 (high.C) | 2 (high) | 3 (high.C) |"), table);
        assertTrue(table.contains("| **all** | 3 |"), table);
    }

    @Test
    void shouldDrawModulesAndPackagesAndLeaveOutWhatALongerWayTells() throws IOException {
        write("m", "org.softrdma.top", "A", "import org.softrdma.low.C;\nimport org.softrdma.mid.B;\nclass A { }\n");
        write("m", "org.softrdma.mid", "B", "import org.softrdma.low.C;\nclass B { }\n");
        write("m", "org.softrdma.low", "C", "import org.softrdma.n.D;\nclass C { }\n");
        write("n-n", "org.softrdma.n", "D", "class D { }\n");
        HousePicture picture = new HousePicture(SourceGraph.ofCheckout(checkout));
        assertTrue(picture.modules().contains("  n_m --> n_n_n\n"), picture.modules());
        String text = picture.packages();
        assertTrue(text.contains("  n_top --> n_mid\n"), text);
        assertTrue(text.contains("  n_mid --> n_low\n"), text);
        assertFalse(text.contains("  n_top --> n_low\n"), text);
        assertTrue(text.contains("- `top`: low, mid\n"), text);
        assertTrue(text.contains("- `n`: none\n"), text);
    }

    @Test
    void shouldFindCirclesThatShareNoMember() {
        assertEquals(
                List.of(new TreeSet<>(List.of("a", "b", "c")), new TreeSet<>(List.of("e", "f"))),
                Circles.of(new java.util.TreeMap<>(Map.of(
                        "a", new TreeSet<>(List.of("b")),
                        "b", new TreeSet<>(List.of("c", "d")),
                        "c", new TreeSet<>(List.of("a")),
                        "d", new TreeSet<>(List.of("e")),
                        "e", new TreeSet<>(List.of("f", "g")),
                        "f", new TreeSet<>(List.of("e"))))));
    }

    private static void assertNone(List<String> faults) {
        assertTrue(faults.isEmpty(), () -> "\n" + String.join("\n\n", faults) + "\n");
    }
}
