package org.softrdma.cli.arrows;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeSet;

/** The circles of a graph: its strongly connected components of two and more members, by Tarjan's algorithm. */
final class Circles {
    private final Map<String, ? extends Set<String>> arrows;
    private final Map<String, Integer> number = new HashMap<>();
    private final Deque<String> path = new ArrayDeque<>();
    private final Set<String> onPath = new HashSet<>();
    private final List<SortedSet<String>> found = new ArrayList<>();

    private Circles(Map<String, ? extends Set<String>> arrows) {
        this.arrows = arrows;
    }

    /**
     * Finds them, the largest first.
     *
     * @param arrows the members that each member has an arrow to
     */
    static List<SortedSet<String>> of(SortedMap<String, ? extends Set<String>> arrows) {
        Circles circles = new Circles(arrows);
        arrows.keySet().forEach(member -> {
            if (!circles.number.containsKey(member)) {
                circles.visit(member);
            }
        });
        circles.found.sort(
                Comparator.<SortedSet<String>>comparingInt(Set::size).reversed().thenComparing(Object::toString));
        return Collections.unmodifiableList(circles.found);
    }

    private int visit(String member) {
        int own = number.size();
        int reached = own;
        number.put(member, own);
        path.push(member);
        onPath.add(member);
        Set<String> next = arrows.containsKey(member) ? arrows.get(member) : Set.of();
        for (String other : next) {
            if (!number.containsKey(other)) {
                reached = Math.min(reached, visit(other));
            } else if (onPath.contains(other)) {
                reached = Math.min(reached, number.getOrDefault(other, own));
            }
        }
        if (reached == own) {
            close(member);
        }
        return reached;
    }

    private void close(String first) {
        SortedSet<String> circle = new TreeSet<>();
        String member;
        do {
            member = path.pop();
            onPath.remove(member);
            circle.add(member);
        } while (!member.equals(first));
        if (circle.size() > 1) {
            found.add(circle);
        }
    }
}
