package org.softrdma.cli.arrows;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.BiFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * There is no circle but those on a list, and no circle on the list but those that there are. The faults name the members and
 * the arrows of a circle, the thinnest arrow first, and the entry to write if it is to stay.
 */
final class CircleRule {
    /** What is below this is left out where names are told. */
    private static final String ROOT = "org.softrdma.";

    private final String list;
    private final List<KnownCircle> known;
    private final SortedMap<String, SortedSet<String>> arrows;
    private final BiFunction<String, String, List<Arrow>> parts;

    /**
     * An arrow of a circle.
     *
     * @param text for people
     * @param weight how often the one names the other
     */
    private record Arrow(String text, int weight) {}

    private CircleRule(
            String list,
            List<KnownCircle> known,
            SortedMap<String, SortedSet<String>> arrows,
            BiFunction<String, String, List<Arrow>> parts) {
        this.list = list;
        this.known = known;
        this.arrows = arrows;
        this.parts = parts;
    }

    /**
     * The rule for classes, nested ones counted with their file.
     *
     * @param graph the code
     * @param list the name of the list, for the faults
     * @param known the list
     */
    static CircleRule ofClasses(SourceGraph graph, String list, List<KnownCircle> known) {
        return new CircleRule(list, known, graph.classArrows(), (from, to) -> List.of(arrow(graph, from, to)));
    }

    /**
     * The rule for the packages of each module.
     *
     * @param graph the code
     * @param list the name of the list, for the faults
     * @param known the list
     */
    static CircleRule ofPackages(SourceGraph graph, String list, List<KnownCircle> known) {
        SortedMap<String, SortedSet<String>> classes = graph.classArrows();
        return new CircleRule(
                list,
                known,
                graph.packageArrows(),
                (from, to) -> classes.entrySet().stream()
                        .filter(entry -> SourceGraph.packageOf(entry.getKey()).equals(from))
                        .flatMap(entry -> entry.getValue().stream()
                                .filter(used -> SourceGraph.packageOf(used).equals(to))
                                .map(used -> arrow(graph, entry.getKey(), used)))
                        .toList());
    }

    private static Arrow arrow(SourceGraph graph, String from, String to) {
        return new Arrow(
                from.replace(ROOT, "") + " -> " + to.replace(ROOT, "") + "   " + graph.place(from, to),
                graph.weight(from, to));
    }

    /** What is wrong; empty if nothing is. */
    List<String> faults() {
        List<SortedSet<String>> circles = Circles.of(arrows);
        List<String> faults = new ArrayList<>();
        circles.stream()
                .filter(circle ->
                        known.stream().noneMatch(entry -> entry.members().equals(circle)))
                .map(this::unknown)
                .forEach(faults::add);
        known.stream()
                .filter(entry -> !circles.contains(entry.members()))
                .map(entry -> "On the list " + list + ", but no longer a circle as it stands there: " + entry.members()
                        + ". Take the entry off the list, or make it what is left of the circle.")
                .forEach(faults::add);
        known.stream()
                .filter(entry -> entry.reason().isBlank())
                .map(entry -> "On the list " + list + " without a reason: " + entry.members() + ".")
                .forEach(faults::add);
        return faults;
    }

    private String unknown(SortedSet<String> circle) {
        String told = circle.stream()
                .flatMap(from -> targets(from, circle).flatMap(to -> parts.apply(from, to).stream()))
                .sorted(Comparator.comparingInt(Arrow::weight).thenComparing(Arrow::text))
                .map(each -> "\n    " + each.text())
                .collect(Collectors.joining());
        return "A circle of " + circle.size() + " that is not on the list " + list
                + ". Cut arrows until no way leads back, the thinnest first:" + told
                + "\n  or, if it must stay, list it:\n    " + KnownCircle.entry(circle);
    }

    private Stream<String> targets(String from, Set<String> circle) {
        return arrows.getOrDefault(from, new TreeSet<>()).stream().filter(circle::contains);
    }
}
