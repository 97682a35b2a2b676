package org.softrdma.kv.server;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.softrdma.kv.client.KvClient;
import org.softrdma.kv.server.ItemSettings.Registration;
import org.softrdma.verbs.MemorySource;

/** GETs from a server that shows its items to clients of this host. */
@Timeout(value = 2, unit = TimeUnit.MINUTES)
class SameHostStoreTest {
    private static final byte[] KEY = "key".getBytes(StandardCharsets.US_ASCII);
    private static final int VALUE_BYTES = 1000;
    private static final int GETS = 3000;
    private static final int READERS = 2;
    /** Within these a client must have what the server shows: a second passes at most before it gives up. */
    private static final int MOST_GETS = 1_000_000;

    private static RunningServer server(Registration registration) {
        return new RunningServer(context ->
                context.items(items -> items.registration(registration).memory(new MemorySource.Shareable())));
    }

    private static long near(RunningServer running) {
        return running.clientDevice().counters().getOrDefault("sameHostReads", 0L);
    }

    @ParameterizedTest
    @EnumSource
    void shouldGetWhatWasSetLast(Registration registration) {
        try (RunningServer running = server(registration);
                KvClient client = running.client()) {
            client.set(KEY, 0, 0, value(0));
            for (int i = 0; near(running) == 0; i++) {
                assertTrue(i < MOST_GETS, "no GET has read by itself");
                assertArrayEquals(value(0), client.get(KEY).orElseThrow().value());
            }
            for (int i = 1; i <= GETS; i++) {
                if (i % 10 == 0) {
                    client.set(KEY, 0, 0, value(i));
                }
                assertArrayEquals(
                        value(i - i % 10), client.get(KEY).orElseThrow().value());
            }
            assertTrue(near(running) > GETS / 10, () -> near(running) + " GETs have read by themselves");
            assertEquals(
                    near(running),
                    running.deviceCounter("sameHostResponderReads"),
                    "the server counts what clients read");
            assertTrue(running.deviceCounter("responderReads") >= near(running));
            assertTrue(client.delete(KEY));
            assertTrue(client.get(KEY).isEmpty());
        }
    }

    /** Whatever a GET brings was a value, and none is older than one that was seen before. */
    @ParameterizedTest
    @EnumSource
    void shouldNeverGetATornOrAnOlderValue(Registration registration) throws Exception {
        try (RunningServer running = server(registration);
                KvClient writer = running.client();
                ExecutorService threads = Executors.newFixedThreadPool(READERS + 1)) {
            writer.set(KEY, 0, 0, value(0));
            AtomicBoolean done = new AtomicBoolean();
            List<Future<?>> readers = new ArrayList<>();
            for (int i = 0; i < READERS; i++) {
                readers.add(threads.submit(() -> {
                    try (KvClient reader = running.client()) {
                        int last = 0;
                        for (int j = 0; j < GETS; j++) {
                            byte[] got = reader.get(KEY).orElseThrow().value();
                            int number = ByteBuffer.wrap(got).getInt();
                            assertArrayEquals(value(number), got);
                            int before = last;
                            assertTrue(number >= before, () -> number + " after " + before);
                            last = number;
                        }
                    }
                    return null;
                }));
            }
            Future<?> ended = threads.submit(() -> {
                try {
                    for (Future<?> reader : readers) {
                        reader.get();
                    }
                } finally {
                    done.set(true);
                }
                return null;
            });
            for (int i = 1; !done.get(); i++) {
                writer.set(KEY, 0, 0, value(i));
            }
            ended.get();
            assertTrue(near(running) > 0, "no GET has read by itself");
        }
    }

    private static byte[] value(int number) {
        byte[] value = new byte[VALUE_BYTES];
        Arrays.fill(value, (byte) number);
        ByteBuffer.wrap(value).putInt(number);
        return value;
    }
}
