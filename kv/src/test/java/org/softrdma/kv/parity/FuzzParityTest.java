package org.softrdma.kv.parity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.softrdma.kv.client.MemcachedProcess;
import org.softrdma.kv.server.RunningServer;

/**
 * The server beside memcached, by requests that are drawn; MemcachedParityTest has those that somebody thought of. Skipped where memcached is not installed. {@code -Dsoftrdma.seed=N} runs the sequence with that seed, and those
 * behind it.
 */
class FuzzParityTest {
    private static final long SEED = Long.getLong("softrdma.seed", 1);
    private static final int FAST_UNITS = Integer.getInteger("softrdma.sample", 1) == 1 ? 4000 : 1000;
    private static final int SHORT_UNITS = 20_000;
    private static final int LONG_UNITS = 1_000_000;

    enum Protocol {
        TEXT,
        BINARY;

        Dialect dialect() {
            return this == TEXT ? new TextDialect() : new BinaryDialect();
        }
    }

    @Tag("sampled")
    @ParameterizedTest
    @EnumSource
    void shouldAnswerDrawnRequestsAsMemcachedDoes(Protocol protocol) throws Exception {
        compare(protocol, SEED, FAST_UNITS);
    }

    @ParameterizedTest
    @EnumSource
    @Tag("slow")
    @Timeout(value = 30, unit = TimeUnit.MINUTES)
    void shouldAnswerManyDrawnRequestsAsMemcachedDoes(Protocol protocol) throws Exception {
        compare(protocol, SEED + LONG_UNITS, Boolean.getBoolean("softrdma.slow.short") ? SHORT_UNITS : LONG_UNITS);
    }

    private static void compare(Protocol protocol, long seed, long units) throws Exception {
        try (MemcachedProcess memcached = new MemcachedProcess().soiled();
                RunningServer ours = new RunningServer();
                Fuzzer fuzzer = new Fuzzer(protocol.dialect(), memcached.address(), ours.address())) {
            long startNs = System.nanoTime();
            fuzzer.run(seed, units);
            System.out.printf(
                    "%s, seed %d: %d requests in %d s, known differences %s%n",
                    protocol,
                    seed,
                    fuzzer.units(),
                    TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - startNs),
                    fuzzer.known());
            assertEquals(List.of(), fuzzer.findings(), () -> "with -Dsoftrdma.seed=" + seed);
            assertTrue(
                    protocol == Protocol.BINARY || fuzzer.known().containsKey(KnownDifference.REFUSED_VALUE),
                    "no value was refused");
        }
    }

    /** Two servers that differ: the fuzzer finds it, and needs few requests to show it. */
    @Tag("sampled")
    @Test
    void shouldFindAndShrinkADifference() throws Exception {
        try (RunningServer one = new RunningServer();
                RunningServer other = new RunningServer(context -> context.items(items -> items.maxItemLength(2048)))) {
            InetSocketAddress first = one.address();
            try (Fuzzer fuzzer = new Fuzzer(new TextDialect(), first, other.address())) {
                fuzzer.run(SEED, FAST_UNITS);
                assertFalse(fuzzer.findings().isEmpty());
                for (Fuzzer.Finding finding : fuzzer.findings()) {
                    assertTrue(finding.units().size() <= 2, finding::toString);
                }
            }
        }
    }
}
