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
    private final Set<FindingPlace> seen = ConcurrentHashMap.newKeySet();

    /** Nothing logged yet. */
    public FindingLog() {}

    @Override
    public void accept(Finding finding) {
        if (seen.add(FindingPlace.of(finding))) {
            logger.log(System.Logger.Level.WARNING, finding.text());
        }
    }
}
