package org.softrdma.cli.arrows;

import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * A circle that may stay.
 *
 * @param reason why
 * @param members classes or packages
 */
record KnownCircle(String reason, SortedSet<String> members) {
    private static final String ROOT = "org.softrdma.";

    /**
     * An entry of a list.
     *
     * @param reason why it may stay
     * @param members below the root package
     */
    static KnownCircle of(String reason, String... members) {
        return new KnownCircle(
                reason, List.of(members).stream().map(ROOT::concat).collect(Collectors.toCollection(TreeSet::new)));
    }

    /** How an entry is written. */
    static String entry(SortedSet<String> members) {
        return members.stream()
                .map(member -> '"' + member.replaceFirst("^" + ROOT, "") + '"')
                .collect(Collectors.joining(", ", "KnownCircle.of(\"the reason\", ", "),"));
    }
}
