package org.softrdma.cli.farm;

import java.util.Locale;

/**
 * The CPU time of an operation beside that of its READs and WRITEs. Immutable.
 *
 * @param micros of all processes for an operation
 * @param reads for an operation
 * @param writes for an operation
 * @param verbs what they cost programs that do nothing else and never sleep
 * @param machines what they cost the same machines when they exchange nothing but empty messages, or only read objects
 */
record ExplainedCpu(double micros, double reads, double writes, Unit verbs, Unit machines) {
    private static final double PERCENT = 100;

    /**
     * CPU time of both ends.
     *
     * @param readMicros of a READ
     * @param writeMicros of a WRITE
     */
    record Unit(double readMicros, double writeMicros) {
        double of(double reads, double writes) {
            return reads * readMicros + writes * writeMicros;
        }
    }

    /** What READs and WRITEs alone would cost. */
    double verbsMicros() {
        return verbs.of(reads, writes);
    }

    /** That of all. */
    double verbsShare() {
        return verbsMicros() / micros;
    }

    /** What machines add to exchange them: rings, checksums, copies, threads that wake each other. */
    double exchangeMicros() {
        return machines.of(reads, writes) - verbsMicros();
    }

    /** That of all. */
    double exchangeShare() {
        return exchangeMicros() / micros;
    }

    /** What is left for the transaction itself; less than 0 if many under way are cheaper than the yardstick. */
    double restMicros() {
        return micros - verbsMicros() - exchangeMicros();
    }

    /** That of all. */
    double restShare() {
        return restMicros() / micros;
    }

    String text() {
        return String.format(
                Locale.ROOT,
                "%.1f us CPU = %.1f us (%.0f %%) for %.1f WRITEs of %.2f us and %.2f READs of %.2f us, as verbs alone have"
                        + " them; %+.1f us (%.0f %%) that machines add to exchange them; %+.1f us (%.0f %%) for"
                        + " transactions: bodies, copies of objects, locks, records",
                micros,
                verbsMicros(),
                PERCENT * verbsShare(),
                writes,
                verbs.writeMicros,
                reads,
                verbs.readMicros,
                exchangeMicros(),
                PERCENT * exchangeShare(),
                restMicros(),
                PERCENT * restShare());
    }
}
