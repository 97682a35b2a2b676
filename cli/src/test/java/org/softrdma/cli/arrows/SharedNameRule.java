package org.softrdma.cli.arrows;

import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** No two classes of different modules have one name. */
final class SharedNameRule {
    private final SortedMap<String, List<SourceFile>> byName = new TreeMap<>();

    /**
     * The rule.
     *
     * @param graph the code
     */
    SharedNameRule(SourceGraph graph) {
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
        return byName.entrySet().stream()
                .map(entry -> "Classes of different modules are called " + entry.getKey()
                        + ". Make them one, or give them names that tell them apart: "
                        + entry.getValue().stream().map(SourceFile::className).collect(Collectors.joining(", ")) + ".")
                .toList();
    }
}
