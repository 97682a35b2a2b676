package org.softrdma.kv.parity;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;

/**
 * Draws requests, sends each to memcached and to this server, and compares the answers byte for byte, but for what
 * {@link Dialect#plain} leaves out and {@link KnownDifference} explains. A sequence of requests begins with an empty
 * store and has a seed of its own; one that brings a difference is drawn anew from that, and shrunk to the requests
 * that it takes. One thread.
 */
final class Fuzzer implements AutoCloseable {
    /** Requests of a sequence: enough to meet, few enough to be shrunk. */
    private static final int SEQUENCE = 40;

    /** A second may end between the answers of the two: what it was lives on in the next attempt. */
    private static final int ATTEMPTS = 3;

    private static final int MOST_FINDINGS = 10;

    private final Dialect dialect;
    private final Talk theirs;
    private final Talk ours;
    private final Map<KnownDifference, Integer> known = new EnumMap<>(KnownDifference.class);
    private final List<Finding> findings = new ArrayList<>();
    private long units;

    /** Requests that are answered differently, as few as it takes; the last one is. */
    record Finding(long seed, List<Unit> units, Mismatch mismatch) {
        @Override
        public String toString() {
            StringBuilder text = new StringBuilder("seed " + seed + ":\n");
            units.forEach(unit -> text.append("    ").append(unit).append('\n'));
            return text.append(mismatch).toString();
        }
    }

    /** Different answers to a request. */
    record Mismatch(int index, String theirs, String ours) {
        @Override
        public String toString() {
            return "  memcached: " + Unit.visible(theirs) + "\n  ours:      " + Unit.visible(ours) + "\n";
        }
    }

    Fuzzer(Dialect dialect, InetSocketAddress memcached, InetSocketAddress server) throws IOException {
        this.dialect = dialect;
        this.theirs = new Talk(dialect, memcached);
        this.ours = new Talk(dialect, server);
    }

    /**
     * Compares so many requests.
     *
     * @param seed of the first sequence
     * @param most how many
     */
    void run(long seed, long most) throws IOException {
        for (long next = seed; units < most && findings.size() < MOST_FINDINGS; next++) {
            List<Unit> sequence = sequence(next);
            Optional<Mismatch> mismatch = Optional.empty();
            for (int i = 0; i < ATTEMPTS; i++) {
                mismatch = replay(sequence);
                if (mismatch.isEmpty()) {
                    break;
                }
            }
            units += sequence.size();
            if (mismatch.isPresent()) {
                findings.add(shrunk(next, sequence.subList(0, mismatch.get().index + 1), mismatch.get()));
            }
        }
    }

    /** The requests of a seed. */
    List<Unit> sequence(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        List<Unit> sequence = new ArrayList<>();
        while (sequence.size() < SEQUENCE) {
            Unit unit = dialect.next(random);
            if (!KnownDifference.isAvoided(unit)) {
                sequence.add(unit);
            }
        }
        return sequence;
    }

    /** The first difference that nothing explains. */
    private Optional<Mismatch> replay(List<Unit> sequence) throws IOException {
        theirs.reset();
        ours.reset();
        for (int i = 0; i < sequence.size(); i++) {
            Unit unit = sequence.get(i);
            theirs.send(unit);
            ours.send(unit);
            String their = dialect.plain(theirs.receive());
            String our = dialect.plain(ours.receive());
            if (!their.equals(our)) {
                Optional<KnownDifference> reason = KnownDifference.of(unit, their, our);
                if (reason.isEmpty()) {
                    return Optional.of(new Mismatch(i, their, our));
                }
                known.merge(reason.get(), 1, Integer::sum);
                if (reason.get().endsComparison()) {
                    return Optional.empty();
                }
            }
        }
        return Optional.empty();
    }

    /** Leaves out one request after the other, as long as there is a difference without it. */
    private Finding shrunk(long seed, List<Unit> sequence, Mismatch first) throws IOException {
        List<Unit> left = new ArrayList<>(sequence);
        Mismatch mismatch = first;
        boolean smaller = true;
        while (smaller) {
            smaller = false;
            for (int i = left.size() - 1; i >= 0; i--) {
                List<Unit> without = new ArrayList<>(left);
                without.remove(i);
                Optional<Mismatch> still = replay(without);
                if (still.isPresent()) {
                    left = without.subList(0, still.get().index + 1);
                    mismatch = still.get();
                    smaller = true;
                    i = Math.min(i, left.size());
                }
            }
        }
        return new Finding(seed, left, mismatch);
    }

    List<Finding> findings() {
        return findings;
    }

    /** How often differences were met that may be. */
    Map<KnownDifference, Integer> known() {
        return known;
    }

    long units() {
        return units;
    }

    @Override
    public void close() throws IOException {
        theirs.close();
        ours.close();
    }
}
