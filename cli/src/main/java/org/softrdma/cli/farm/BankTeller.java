package org.softrdma.cli.farm;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import org.softrdma.bench.machine.Child;
import org.softrdma.bench.measurement.MeasurementException;

/**
 * A process that makes transfers, and what it has said to be told. A thread reads that; everything else belongs to the thread
 * that started it.
 */
final class BankTeller implements AutoCloseable {
    private static final long SILENCE_SECONDS = 120;

    private final Child child;
    private final int machine;
    private final Map<Long, Long> told = new ConcurrentHashMap<>();
    private final AtomicLong transfers = new AtomicLong();
    private final CommitGap gap;
    private final Thread reader;
    private volatile String lost = "";

    private BankTeller(Child child, List<Long> counters, CommitGap gap) {
        this.child = child;
        this.gap = gap;
        counters.forEach(counter -> told.put(counter, 0L));
        machine = LocalCluster.machine(child);
        reader = Thread.ofPlatform().daemon().name("teller " + machine).start(this::read);
    }

    /**
     * Starts one.
     *
     * @param cluster for which
     * @param accounts addresses of accounts
     * @param counters address of a counter for each of its threads
     * @param seed decides which transfers
     * @param gap told of each commit
     */
    static BankTeller start(LocalCluster cluster, List<Long> accounts, List<Long> counters, long seed, CommitGap gap) {
        Child child = cluster.member(
                "teller",
                List.of("--account", hex(accounts), "--counter", hex(counters), "--seed", String.valueOf(seed)));
        return new BankTeller(child, counters, gap);
    }

    private static String hex(List<Long> addresses) {
        return addresses.stream().map(Long::toHexString).collect(Collectors.joining(","));
    }

    private void read() {
        try {
            for (; ; ) {
                String[] words = child.nextLine(SILENCE_SECONDS).split(" ", 3);
                if (words[0].equals("told")) {
                    told.put(Long.parseUnsignedLong(words[1], 16), Long.parseLong(words[2]));
                    transfers.incrementAndGet();
                    gap.committed();
                } else {
                    lost = words[2];
                }
            }
        } catch (MeasurementException e) {
            // it has ended
        }
    }

    /** The number of its machine. */
    int machine() {
        return machine;
    }

    /** What the counters were told to be, by their addresses. */
    Map<Long, Long> told() {
        return told;
    }

    /** Transfers that it was told of. */
    long transfers() {
        return transfers.get();
    }

    /**
     * Ends the run if it has ended.
     *
     * @throws MeasurementException with what it said last
     */
    void requireAlive() {
        if (!lost.isEmpty() || !child.isAlive()) {
            throw new MeasurementException("machine " + machine + ", a teller, has ended although nobody killed it: "
                    + lost + child.errorOutput() + LocalCluster.ADVICE);
        }
    }

    /** Ends it by SIGKILL. */
    void kill() {
        child.kill();
        close();
    }

    /** Lets it end in order, and reads what it says until then. */
    @Override
    public void close() {
        child.close();
        try {
            reader.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
