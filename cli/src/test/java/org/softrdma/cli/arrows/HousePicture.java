package org.softrdma.cli.arrows;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** Charts in Mermaid: of the modules, and of the packages of each module with a list of every arrow. */
final class HousePicture {
    private static final String ROOT = "org.softrdma.";

    private final SourceGraph graph;

    /**
     * A picture of some code.
     *
     * @param graph the code
     */
    HousePicture(SourceGraph graph) {
        this.graph = graph;
    }

    /** The chart of the modules. */
    String modules() {
        SortedMap<String, SortedSet<String>> modules = graph.moduleArrows();
        return chart(modules.keySet(), modules);
    }

    /** The packages of each module: a chart, and a list of every arrow. */
    String packages() {
        StringBuilder text = new StringBuilder();
        SortedMap<String, String> packages = graph.packages();
        SortedMap<String, SortedSet<String>> arrows = graph.packageArrows();
        graph.moduleArrows().keySet().forEach(module -> {
            List<String> own = packages.entrySet().stream()
                    .filter(entry -> entry.getValue().equals(module))
                    .map(Map.Entry::getKey)
                    .toList();
            text.append("## ").append(module).append("\n\n");
            if (own.size() > 1) {
                text.append(chart(own, within(arrows, own))).append('\n');
            }
            text.append(list(own, arrows)).append('\n');
        });
        return text.toString();
    }

    /** Every arrow, those to other modules and those that a chart leaves out too. */
    private static String list(List<String> nodes, SortedMap<String, SortedSet<String>> arrows) {
        return nodes.stream()
                .map(node -> arrows.getOrDefault(node, new TreeSet<>()).stream()
                        .map(HousePicture::shorten)
                        .collect(Collectors.collectingAndThen(
                                Collectors.joining(", "),
                                used -> "- `" + shorten(node) + "`: " + (used.isEmpty() ? "none" : used) + "\n")))
                .collect(Collectors.joining());
    }

    private static SortedMap<String, SortedSet<String>> within(
            SortedMap<String, SortedSet<String>> arrows, List<String> members) {
        SortedMap<String, SortedSet<String>> within = new TreeMap<>();
        members.forEach(member -> {
            SortedSet<String> inside = new TreeSet<>(arrows.getOrDefault(member, new TreeSet<>()));
            inside.retainAll(members);
            within.put(member, inside);
        });
        return within;
    }

    private static String chart(Iterable<String> nodes, SortedMap<String, SortedSet<String>> arrows) {
        StringBuilder chart = new StringBuilder("```mermaid\nflowchart TD\n");
        nodes.forEach(node -> chart.append("  ")
                .append(id(node))
                .append("[\"")
                .append(shorten(node))
                .append("\"]\n"));
        // An arrow beside a longer way to the same place tells nothing new and would hide the layers.
        nodes.forEach(node -> arrows.getOrDefault(node, new TreeSet<>()).stream()
                .filter(other -> !leadsThere(node, other, arrows))
                .forEach(other -> chart.append("  ")
                        .append(id(node))
                        .append(" --> ")
                        .append(id(other))
                        .append('\n')));
        return chart.append("```\n").toString();
    }

    /** True if there is a way of two arrows or more. In a circle there always is, so there every arrow is drawn. */
    private static boolean leadsThere(String from, String to, SortedMap<String, SortedSet<String>> arrows) {
        return arrows.getOrDefault(from, new TreeSet<>()).stream()
                .filter(next -> !next.equals(to))
                .anyMatch(next -> reach(next, arrows, new TreeSet<>()).contains(to)
                        && !reach(next, arrows, new TreeSet<>()).contains(from));
    }

    private static Set<String> reach(String from, SortedMap<String, SortedSet<String>> arrows, Set<String> reached) {
        arrows.getOrDefault(from, new TreeSet<>()).forEach(next -> {
            if (reached.add(next)) {
                reach(next, arrows, reached);
            }
        });
        return reached;
    }

    private static String id(String name) {
        return "n_" + shorten(name).replace('.', '_').replace('-', '_');
    }

    private static String shorten(String name) {
        return name.startsWith(ROOT) ? name.substring(ROOT.length()) : name;
    }
}
