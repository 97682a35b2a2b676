package org.softrdma.testkit.interop;

import java.util.EnumMap;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;
import org.softrdma.testkit.interop.CheckedTransfers.Kind;

/** Random transfers on one connection for some time; one seed determines every choice. One thread. */
final class Soak {
    private static final int LARGEST_LOG = Integer.numberOfTrailingZeros(ScriptedPeer.BUFFER_BYTES);

    /** READs or WRITEs in flight at once. */
    private static final int MOST_PIECES = 8;

    private final CheckedTransfers transfers;
    private final int[] edges;
    private final long seed;
    private final Random random;
    private final Map<Kind, Long> counts = new EnumMap<>(Kind.class);

    /**
     * Makes one.
     *
     * @param peer connected
     * @param edges sizes in bytes that are used now and then
     * @param seed of all choices and contents
     */
    Soak(ScriptedPeer peer, int[] edges, long seed) {
        transfers = new CheckedTransfers(peer);
        this.edges = edges;
        this.seed = seed;
        random = new Random(seed);
    }

    /**
     * Transfers until the time is over, each kind at least once.
     *
     * @return what was done, for messages
     * @throws AssertionError at the first transfer that failed or delivered wrong bytes, with the seed and its number
     */
    String run(long durationNs) {
        long startNs = System.nanoTime();
        long operations = 0;
        long bytes = 0;
        while (System.nanoTime() - startNs < durationNs || counts.size() < Kind.values().length) {
            Kind kind = Kind.values()[random.nextInt(Kind.values().length)];
            int size = size();
            int pieces = kind == Kind.READ || kind == Kind.WRITE ? 1 + random.nextInt(Math.min(size, MOST_PIECES)) : 1;
            long content = random.nextInt(Integer.MAX_VALUE);
            try {
                transfers.transfer(kind, size, pieces, content);
            } catch (RuntimeException | AssertionError e) {
                throw new AssertionError(
                        "seed " + seed + ", operation " + (operations + 1) + " (" + kind + " of " + size + " bytes in "
                                + pieces + " pieces): " + e.getMessage(),
                        e);
            }
            counts.merge(kind, 1L, Long::sum);
            operations++;
            bytes += size;
        }
        String kinds = counts.entrySet().stream()
                .map(entry -> entry.getKey() + " " + entry.getValue())
                .collect(Collectors.joining(", "));
        return operations + " operations (" + kinds + "), " + bytes + " bytes, "
                + (System.nanoTime() - startNs) / 1_000_000_000L + " s, seed " + seed + ", 0 errors";
    }

    /** A random size: all orders of magnitude are equally likely, and every fourth is an edge. */
    private int size() {
        if (random.nextInt(4) == 0) {
            return edges[random.nextInt(edges.length)];
        }
        int least = 1 << random.nextInt(LARGEST_LOG);
        return least + random.nextInt(least + 1);
    }
}
