package org.softrdma.sanitiser.finding;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/**
 * Logs findings as warnings, through {@link System.Logger}: only the first of each rule and line of the program,
 * because a loop breaks the same rule each time. Thread-safe.
 */
public final class FindingLog implements Consumer<Finding> {
    private final System.Logger logger = System.getLogger("org.softrdma.sanitiser");
    private final Set<Place> seen = ConcurrentHashMap.newKeySet();

    private record Place(Rule rule, String where) {}

    /** Nothing logged yet. */
    public FindingLog() {}

    @Override
    public void accept(Finding finding) {
        String where =
                finding.where().isEmpty() ? "" : finding.where().getFirst().toString();
        if (seen.add(new Place(finding.rule(), where))) {
            logger.log(System.Logger.Level.WARNING, finding.text());
        }
    }
}
