package org.softrdma.cli.arrows;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** No two classes of different modules have one name, but those on a list, and each name on the list is still shared. */
final class SharedNameRule {
    private final SortedMap<String, List<SourceFile>> byName = new TreeMap<>();
    private final Map<String, String> known;

    /**
     * The rule.
     *
     * @param graph the code
     * @param known names that may be shared, with the reason
     */
    SharedNameRule(SourceGraph graph, Map<String, String> known) {
        this.known = known;
        graph.files()
                .values()
                .forEach(file -> byName.computeIfAbsent(simpleName(file), each -> new ArrayList<>())
                        .add(file));
        byName.values()
                .removeIf(files ->
                        files.stream().map(SourceFile::module).distinct().count() < 2);
    }

    private static String simpleName(SourceFile file) {
        return file.className().substring(file.packageName().length() + 1);
    }

    /** What is wrong; empty if nothing is. */
    List<String> faults() {
        List<String> faults = new ArrayList<>();
        byName.forEach((name, files) -> {
            if (!known.containsKey(name)) {
                faults.add("Classes of different modules are called " + name
                        + ". Make them one, or give them names that tell them apart: "
                        + files.stream().map(SourceFile::className).collect(Collectors.joining(", ")) + ".");
            }
        });
        known.keySet().stream()
                .filter(name -> !byName.containsKey(name))
                .map(name -> "On the list of shared names, but no longer shared: " + name + ". Take it off the list.")
                .forEach(faults::add);
        return faults;
    }
}
