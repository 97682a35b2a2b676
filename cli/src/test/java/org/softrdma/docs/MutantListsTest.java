package org.softrdma.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * The lists in ci/mutants stay true when sources move: what a mutant replaces stands in its file exactly once, and its
 * tests are there. {@code ci/slow.d/20-mutants} runs them; this takes no time.
 */
class MutantListsTest {
    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();

    @Test
    void shouldFindWhatEachMutantReplacesExactlyOnce() throws IOException {
        List<String> faults = new ArrayList<>();
        int mutants = 0;
        try (Stream<Path> lists = Files.list(ROOT.resolve("ci/mutants"))) {
            for (Path list :
                    lists.filter(file -> file.toString().endsWith(".txt")).toList()) {
                for (Map<String, String> mutant : mutants(list)) {
                    mutants++;
                    String fault = fault(mutant);
                    if (!fault.isEmpty()) {
                        faults.add(list.getFileName() + ", " + mutant.get("mutant") + ": " + fault);
                    }
                }
            }
        }
        assertEquals("", String.join("\n", faults));
        assertTrue(mutants > 200, "found only " + mutants);
    }

    private static List<Map<String, String>> mutants(Path list) throws IOException {
        List<Map<String, String>> mutants = new ArrayList<>();
        for (String line : Files.readAllLines(list)) {
            if (line.startsWith("mutant: ")) {
                mutants.add(new LinkedHashMap<>());
            }
            int colon = line.indexOf(": ");
            if (!line.startsWith("#") && colon > 0) {
                mutants.getLast().put(line.substring(0, colon), line.substring(colon + 2));
            }
        }
        return mutants;
    }

    private static String fault(Map<String, String> mutant) throws IOException {
        Path file = ROOT.resolve(mutant.getOrDefault("file", ""));
        if (!Files.isRegularFile(file)) {
            return "there is no file " + mutant.get("file");
        }
        String find = mutant.getOrDefault("find", "");
        String source = Files.readString(file);
        int at = source.indexOf(find);
        if (find.isEmpty() || at < 0 || source.indexOf(find, at + 1) >= 0) {
            return "expected \"" + find + "\" exactly once in " + mutant.get("file");
        }
        String module =
                mutant.getOrDefault("module", ROOT.relativize(file).getName(0).toString());
        for (String test : mutant.getOrDefault("tests", "").split(",", -1)) {
            if (!test.isEmpty() && !isTest(module, test)) {
                return "there is no test class " + test + " in the module " + module;
            }
        }
        return mutant.containsKey("tests") || mutant.containsKey("cases") ? "" : "it has neither tests nor cases";
    }

    /** A class is compiled from the file of its name, and to the name that the file says. */
    private static boolean isTest(String module, String className) throws IOException {
        Path file = ROOT.resolve(module).resolve("src/test/java/" + className.replace('.', '/') + ".java");
        String simpleName = className.substring(className.lastIndexOf('.') + 1);
        return Files.isRegularFile(file) && Files.readString(file).contains("class " + simpleName + " ");
    }
}
