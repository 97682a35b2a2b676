package org.softrdma.kv.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.softrdma.kv.client.KvClient;
import org.softrdma.kv.client.KvClientContext;

/** Somebody sets the wall clock of the server, forward or back. */
class SteppedWallClockTest {
    private static final long START = 1_700_000_000;
    private static final int DAY = 86_400;

    private final AtomicLong wall = new AtomicLong(START);
    private final AtomicLong nanos = new AtomicLong(5);
    private final RunningServer running = new RunningServer(context -> context.environment(around ->
            around.withClockSeconds(new ServerClock(wall::get, nanos::get)).withWallSeconds(wall::get)));

    @AfterEach
    void stop() {
        running.close();
    }

    @Test
    void shouldHaveAClockThatNobodySetsByDefault() {
        assertInstanceOf(ServerClock.class, new KvServerContext().environment().clockSeconds());
    }

    @Test
    void shouldNotLetItemsExpireWhenTheClockStepsForward() throws Exception {
        try (RawMemcached client = new RawMemcached(running.address())) {
            ask(client, "set a 0 100 1\r\nx\r\n", "STORED\r\n");
            wall.addAndGet(DAY);
            ask(client, "mg a t v\r\n", "VA 1 t100\r\nx\r\n");
            pass(99);
            ask(client, "get a\r\n", "VALUE a 0 1\r\nx\r\nEND\r\n");
            pass(1);
            ask(client, "get a\r\n", "END\r\n");
        }
    }

    @Test
    void shouldNotReviveItemsWhenTheClockStepsBack() throws Exception {
        try (RawMemcached client = new RawMemcached(running.address())) {
            ask(client, "set a 0 100 1\r\nx\r\n", "STORED\r\n");
            pass(100);
            wall.addAndGet(-DAY);
            ask(client, "get a\r\n", "END\r\n");
        }
    }

    @Test
    void shouldTakeATimeSince1970ByTheWallClockOfThatMoment() throws Exception {
        try (RawMemcached client = new RawMemcached(running.address())) {
            wall.addAndGet(DAY);
            ask(client, "set a 0 " + (START + DAY + 50) + " 1\r\nx\r\n", "STORED\r\n");
            ask(client, "set b 0 " + (START + 50) + " 1\r\nx\r\n", "STORED\r\n");
            ask(client, "mg a t\r\n", "HD t50\r\n");
            ask(client, "mg b t\r\n", "EN\r\n");
            wall.addAndGet(-7 * DAY);
            ask(client, "mg a t\r\n", "HD t50\r\n");
            pass(50);
            ask(client, "mg a t\r\n", "EN\r\n");
        }
    }

    @Test
    void shouldServeByReadWhatItServesOverTcpWhereverTheClockStepped() {
        byte[] key = "a".getBytes(StandardCharsets.US_ASCII);
        KvClientContext settings =
                new KvClientContext(running.address()).touchReports(false).conclude();
        try (KvClient client = KvClient.connect(running.clientDevice(), settings)) {
            client.set(key, 0, 100, key);
            for (int step : new int[] {DAY, -2 * DAY, DAY}) {
                wall.addAndGet(step);
                assertEquals(
                        Optional.of("a"),
                        client.get(key).map(item -> new String(item.value(), StandardCharsets.US_ASCII)));
            }
            pass(100);
            wall.addAndGet(-DAY);
            // This client cannot see that clock run; it learns of it with the next answer.
            client.get("b".getBytes(StandardCharsets.US_ASCII));
            assertEquals(Optional.empty(), client.get(key));
        }
    }

    private void pass(int seconds) {
        nanos.addAndGet(TimeUnit.SECONDS.toNanos(seconds));
        wall.addAndGet(seconds);
    }

    private static void ask(RawMemcached client, String request, String expected) throws Exception {
        assertEquals(expected, client.ask(request, expected));
    }
}
