package org.softrdma.cli.arrows;

import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** No packages of a module lead to each other in a circle. A fault names the members and the arrows, the thinnest first. */
final class CircleRule {
    /** What is below this is left out where names are told. */
    private static final String ROOT = "org.softrdma.";

    private final SourceGraph graph;
    private final SortedMap<String, SortedSet<String>> packages;

    /**
     * An arrow from class to class.
     *
     * @param text for people
     * @param weight how often the one names the other
     */
    private record Arrow(String text, int weight) {}

    /**
     * The rule.
     *
     * @param graph the code
     */
    CircleRule(SourceGraph graph) {
        this.graph = graph;
        packages = graph.packageArrows();
    }

    /** What is wrong; empty if nothing is. */
    List<String> faults() {
        return Circles.of(packages).stream().map(this::fault).toList();
    }

    private String fault(SortedSet<String> circle) {
        String told = circle.stream()
                .flatMap(from -> targets(from, circle).flatMap(to -> arrows(from, to)))
                .sorted(Comparator.comparingInt(Arrow::weight).thenComparing(Arrow::text))
                .map(each -> "\n    " + each.text())
                .collect(Collectors.joining());
        return "A circle of " + circle.size() + " packages. Cut arrows until no way leads back, the thinnest first:"
                + told;
    }

    private Stream<String> targets(String from, Set<String> circle) {
        return packages.getOrDefault(from, new TreeSet<>()).stream().filter(circle::contains);
    }

    /** The arrows between classes of two packages. */
    private Stream<Arrow> arrows(String from, String to) {
        return graph.classArrows().entrySet().stream()
                .filter(entry -> SourceGraph.packageOf(entry.getKey()).equals(from))
                .flatMap(entry -> entry.getValue().stream()
                        .filter(used -> SourceGraph.packageOf(used).equals(to))
                        .map(used -> arrow(entry.getKey(), used)));
    }

    private Arrow arrow(String from, String to) {
        return new Arrow(
                from.replace(ROOT, "") + " -> " + to.replace(ROOT, "") + "   " + graph.place(from, to),
                graph.weight(from, to));
    }
}
