package org.softrdma.kv.server;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.softrdma.kv.client.KvClient;
import org.softrdma.kv.client.KvClientContext;
import org.softrdma.sim.SoftRdmaProvider;
import org.softrdma.verbs.device.VerbsDevice;

/** A server of this host that is stopped (SIGSTOP): what it shows is there, and so are hits. */
@Timeout(value = 2, unit = TimeUnit.MINUTES)
class StoppedServerTest {
    private static final byte[] KEY = "key".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] VALUE = new byte[1000];
    /** Within these a client must have what the server shows. */
    private static final int MOST_GETS = 1_000_000;
    /** Several times as long as a client collects hits before it reports them: the first report stays unanswered. */
    private static final long STOPPED_NS = TimeUnit.MILLISECONDS.toNanos(500);

    @Test
    void shouldHitWhileTheServerIsStoppedAndCountTheHitsLater() throws Exception {
        try (KvServerProcess server = new KvServerProcess(0, true);
                VerbsDevice device = new SoftRdmaProvider().open(Map.of())) {
            long hits = 0;
            try (KvClient client = KvClient.connect(device, new KvClientContext(server.address()).conclude())) {
                client.set(KEY, 0, 0, VALUE);
                while (device.counters().getOrDefault("sameHostReads", 0L) == 0) {
                    hits = hit(client, hits);
                    assertTrue(hits < MOST_GETS, "no GET has read by itself");
                }
                server.signal("STOP");
                while (!server.isStopped()) {
                    Thread.onSpinWait();
                }
                long stoppedNs = System.nanoTime();
                long before = hits;
                while (System.nanoTime() - stoppedNs < STOPPED_NS) {
                    hits = hit(client, hits);
                }
                assertTrue(hits > before);
                assertTrue(server.isStopped());
                server.signal("CONT");
                long known = hits;
                while (hitsCounted(server) < known) {
                    hits = hit(client, hits); // reports are sent by GETs
                }
            }
            assertTrue(hitsCounted(server) <= hits, "more hits than there were");
        }
    }

    private static long hit(KvClient client, long hits) {
        assertArrayEquals(VALUE, client.get(KEY).orElseThrow().value());
        return hits + 1;
    }

    private static long hitsCounted(KvServerProcess server) throws IOException {
        long counted = -1;
        try (RawMemcached raw = new RawMemcached(server.address())) {
            raw.send("stats\r\n");
            for (String line = raw.readLine(); !line.equals("END"); line = raw.readLine()) {
                if (line.startsWith("STAT get_hits ")) {
                    counted = Long.parseLong(line.substring("STAT get_hits ".length()));
                }
            }
        }
        return counted;
    }
}
