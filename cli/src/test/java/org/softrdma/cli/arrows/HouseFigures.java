package org.softrdma.cli.arrows;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.ToIntFunction;
import java.util.stream.Collectors;

/** How tidy the code is, in numbers: a row for each module and one for all, as a table in Markdown. */
final class HouseFigures {
    private static final String HEAD =
            "| Module | Files | Packages | Packages in circles | Files in circles | Arrows between packages | Largest class, lines"
                    + " | Largest package, files | Longest constructor, parameters |\n"
                    + "|---|--:|--:|--:|--:|--:|--:|--:|--:|\n";

    private final SourceGraph graph;
    private final Set<String> filesInCircles;
    private final Set<String> packagesInCircles;

    /**
     * Figures of some code.
     *
     * @param graph the code
     */
    HouseFigures(SourceGraph graph) {
        this.graph = graph;
        filesInCircles = members(Circles.of(graph.classArrows()));
        packagesInCircles = members(Circles.of(graph.packageArrows()));
    }

    private static Set<String> members(List<? extends Collection<String>> circles) {
        return circles.stream().flatMap(Collection::stream).collect(Collectors.toCollection(TreeSet::new));
    }

    /** The table. */
    String table() {
        SortedMap<String, List<SourceFile>> modules = new TreeMap<>();
        graph.files()
                .values()
                .forEach(file -> modules.computeIfAbsent(file.module(), each -> new ArrayList<>())
                        .add(file));
        StringBuilder table = new StringBuilder(HEAD);
        modules.forEach((module, files) -> table.append(row(module, files)));
        return table.append(row("**all**", List.copyOf(graph.files().values()))).toString();
    }

    private String row(String name, List<SourceFile> files) {
        Map<String, Long> packages =
                files.stream().collect(Collectors.groupingBy(SourceFile::packageName, Collectors.counting()));
        long arrows = graph.packageArrows().entrySet().stream()
                .filter(entry -> packages.containsKey(entry.getKey()))
                .mapToLong(entry -> entry.getValue().size())
                .sum();
        return String.join(
                        " | ",
                        "| " + name,
                        Integer.toString(files.size()),
                        Integer.toString(packages.size()),
                        count(packages.keySet(), packagesInCircles::contains),
                        count(files, file -> filesInCircles.contains(file.className())),
                        Long.toString(arrows),
                        largest(files, SourceFile::lines),
                        packages.entrySet().stream()
                                .max(Map.Entry.<String, Long>comparingByValue()
                                        .thenComparing(Map.Entry.comparingByKey(Comparator.reverseOrder())))
                                .map(entry -> entry.getValue() + " (" + shorten(entry.getKey()) + ")")
                                .orElse("0"),
                        largest(files, SourceFile::longestConstructor))
                + " |\n";
    }

    private static <T> String count(Collection<T> all, Function<T, Boolean> holds) {
        return Long.toString(all.stream().filter(holds::apply).count());
    }

    private static String largest(List<SourceFile> files, ToIntFunction<SourceFile> size) {
        return files.stream()
                .max(Comparator.comparingInt(size).thenComparing(SourceFile::className, Comparator.reverseOrder()))
                .map(file -> size.applyAsInt(file) + " (" + shorten(file.className()) + ")")
                .orElse("0");
    }

    private static String shorten(String name) {
        return name.replaceFirst("^org\\.softrdma\\.", "");
    }
}
