package org.softrdma.bench.floor;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The ratio that a study must not exceed, and what did. Belongs to the thread of the study. */
final class RatioLimit {
    private final double limit;
    private final List<String> above = new ArrayList<>();

    RatioLimit(double limit) {
        this.limit = limit;
    }

    /** Notes a ratio that exceeds it, or is none. */
    void check(String what, double ratio) {
        if (!(ratio <= limit)) {
            above.add(String.format(Locale.ROOT, "%s %.2f", what, ratio));
        }
    }

    /** What exceeded it. */
    List<String> above() {
        return List.copyOf(above);
    }
}
