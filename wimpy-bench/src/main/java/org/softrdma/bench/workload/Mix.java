package org.softrdma.bench.workload;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/** The mixes of YCSB's core workloads but E, which needs scans (Cooper et al., SoCC 2010). */
public enum Mix {
    /** Half of the operations are GETs. */
    A(50, "half GETs, half PUTs"),
    /** Nearly all are GETs. */
    B(95, "95 % GETs, 5 % PUTs"),
    /** All are GETs. */
    C(100, "GETs only"),
    /** Nearly all are GETs, of what was written last. */
    D(95, "95 % GETs of what was written last, 5 % PUTs of one key after the other"),
    /** Half are GETs, half are a GET and then a PUT of the same key; both count. */
    F(50, "half GETs, half a GET and a PUT of the same key");

    private final int getPercent;
    private final String description;

    Mix(int getPercent, String description) {
        this.getPercent = getPercent;
        this.description = description;
    }

    /** How many of a hundred turns are a GET and nothing else. */
    public int getPercent() {
        return getPercent;
    }

    /** For people. */
    public String description() {
        return description;
    }

    /** True if a PUT follows a GET of its key. */
    boolean readsBeforeItWrites() {
        return this == F;
    }

    /** True if keys are written one after the other, and those written last are wanted most. */
    boolean prefersLatest() {
        return this == D;
    }

    /**
     * The mix of a letter.
     *
     * @throws IllegalArgumentException if there is none
     */
    public static Mix named(String letter) {
        return Arrays.stream(values())
                .filter(mix -> mix.name().equals(letter.toUpperCase(Locale.ROOT)))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("mix " + letter + ": expected one of "
                        + Arrays.stream(values()).map(Enum::name).collect(Collectors.joining(", "))));
    }
}
