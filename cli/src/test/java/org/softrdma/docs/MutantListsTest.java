package org.softrdma.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
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

    /** docs/design/farm.md names the mutant of the code for each of the models', and the test that finds it. */
    @Test
    void shouldHaveEachMistakeOfTheModelsInTheCode() throws IOException {
        Map<String, String> testOf = new HashMap<>();
        for (Map<String, String> mutant : mutants(ROOT.resolve("ci/mutants/farm.txt"))) {
            String test = mutant.getOrDefault("tests", "");
            testOf.put(mutant.getOrDefault("mutant", ""), test.substring(test.lastIndexOf('.') + 1));
        }
        Set<String> named = new TreeSet<>();
        List<String> faults = new ArrayList<>();
        Matcher row = Pattern.compile("(?m)^\\| `(\\w+)` \\| (.+) \\| (.+) \\|$")
                .matcher(after("docs/design/farm.md", "## Mistakes of the model"));
        while (row.find()) {
            named.add(row.group(1));
            String test = testOf.get("farm: " + row.group(2));
            if (!row.group(3).equals("`" + test + "`") && !row.group(3).startsWith("not ")) {
                faults.add(row.group() + ": ci/mutants/farm.txt has " + test);
            }
        }
        Set<String> planned = new TreeSet<>();
        Matcher plan = Pattern.compile("'(\\w+)': \\[").matcher(after("docs/models/farm_model.py", "\nPLAN = {"));
        while (plan.find()) {
            planned.add(plan.group(1));
        }
        assertEquals("", String.join("\n", faults));
        assertEquals(planned, named);
        assertTrue(planned.size() >= 35, planned.toString());
    }

    /** The text of a file from a heading on. */
    private static String after(String file, String heading) throws IOException {
        String text = Files.readString(ROOT.resolve(file));
        int start = text.indexOf(heading);
        assertTrue(start >= 0, file + " has no \"" + heading + "\"");
        return text.substring(start);
    }

    private static List<Map<String, String>> mutants(Path list) throws IOException {
        List<Map<String, String>> mutants = new ArrayList<>();
        for (String line : Files.readAllLines(list)) {
            if (line.startsWith("mutant: ")) {
                mutants.add(new LinkedHashMap<>());
            }
            int colon = line.indexOf(": ");
            if (!line.startsWith("#") && colon > 0) {
                String before = mutants.getLast().put(line.substring(0, colon), line.substring(colon + 2));
                assertNull(before, () -> list + ": a mutant has two such lines: " + line);
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
