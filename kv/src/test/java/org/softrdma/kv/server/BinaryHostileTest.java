package org.softrdma.kv.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.softrdma.kv.server.BinaryClient.NO_EXTRAS;
import static org.softrdma.kv.server.BinaryClient.store;

import java.io.IOException;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.softrdma.kv.binary.FrameDescriptor;

/** Frames that no working client sends: they cost it its connection at most. */
class BinaryHostileTest {
    private final RunningServer running = new RunningServer();

    @AfterEach
    void stop() {
        running.close();
    }

    private void requireService() throws IOException {
        try (BinaryClient client = new BinaryClient(running.address())) {
            assertEquals(
                    0, client.ask(BinaryClient.SET, store(0, 0), "alive", "yes").status());
            assertEquals(
                    "yes", client.ask(BinaryClient.GET, NO_EXTRAS, "alive", "").value());
        }
    }

    private static byte[] header(int opcode, int extras, int key, int body) {
        byte[] header = new byte[FrameDescriptor.LENGTH];
        FrameDescriptor.write(header, FrameDescriptor.REQUEST_MAGIC, (byte) opcode, 0, extras, key, body, 7, 0);
        return header;
    }

    @ParameterizedTest
    @ValueSource(ints = {0x00, 0x01, 0x05, 0x0a, 0x10, 0x21, 0x70})
    void shouldRefuseLengthsThatContradictEachOther(int opcode) throws IOException {
        for (int[] each : new int[][] {{0, 10, 5}, {8, 3, 10}, {255, 65535, 1}, {1, 0, 0}}) {
            try (BinaryClient client = new BinaryClient(running.address())) {
                client.send(header(opcode, each[0], each[1], each[2]));
                assertEquals(
                        "%02x 0081 #7 - () : Unknown command".formatted(opcode),
                        client.read().toString());
                assertTrue(client.isClosedByServer());
            }
        }
        requireService();
    }

    /** The refusal comes with the header: the server waits for no key that it does not want. */
    @Test
    void shouldRefuseALongKeyAtOnce() throws IOException {
        for (int length : new int[] {251, 1000, 65535}) {
            try (BinaryClient client = new BinaryClient(running.address())) {
                client.send(header(BinaryClient.GET, 0, length, length));
                assertEquals(
                        "00 0004 #7 - () : Invalid arguments", client.read().toString());
                assertTrue(client.isClosedByServer());
            }
        }
        requireService();
    }

    @ParameterizedTest
    @ValueSource(ints = {0x01, 0x0e, 0x70})
    void shouldRefuseABodyOfGigabytesAndSkipIt(int opcode) throws IOException {
        int extras = opcode == 0x01 ? 8 : 0;
        for (int body : new int[] {Integer.MAX_VALUE, Integer.MIN_VALUE, -1}) {
            try (BinaryClient client = new BinaryClient(running.address())) {
                client.send(header(opcode, extras, 1, body));
                client.send(new byte[extras + 1]);
                assertEquals(opcode == 0x70 ? 0x81 : 3, client.read().status());
                client.send(new byte[1 << 22]); // and nothing of it is kept
                requireService();
            }
        }
    }

    /** Behind what is refused but skipped the conversation goes on. */
    @Test
    void shouldGoOnBehindWhatItSkips() throws IOException {
        try (BinaryClient client = new BinaryClient(running.address())) {
            byte[] body = new byte[300_000];
            Arrays.fill(body, FrameDescriptor.REQUEST_MAGIC);
            client.send(header(0x70, 200, 250, body.length));
            client.send(body);
            assertEquals("70 0081 #7 - () : Unknown command", client.read().toString());
            assertEquals(0, client.ask(BinaryClient.NOOP, NO_EXTRAS, "", "").status());
        }
    }

    /** Memory that was taken for a value comes back when the client goes in the middle of it. */
    @Test
    void shouldGiveBackTheMemoryOfValuesThatDoNotCome() throws IOException {
        requireService();
        long before = usedChunks();
        byte[] whole = BinaryClient.frame(BinaryClient.SET, store(0, 0), "half", "x".repeat(20_000), 0, 0);
        for (int cut : new int[] {1, 23, 24, 25, 31, 32, 33, 36, 37, 5000, whole.length - 1}) {
            for (int i = 0; i < 5; i++) {
                try (BinaryClient client = new BinaryClient(running.address())) {
                    client.send(Arrays.copyOf(whole, cut));
                }
            }
        }
        long startNs = System.nanoTime();
        while (usedChunks() != before) {
            assertTrue(System.nanoTime() - startNs < 10_000_000_000L, "chunks stay in use");
        }
    }

    private long usedChunks() throws IOException {
        long used = 0;
        try (RawMemcached client = new RawMemcached(running.address())) {
            client.send("stats slabs\r\n");
            for (String line = client.readLine(); !line.equals("END"); line = client.readLine()) {
                used += line.contains(":used_chunks ") ? Long.parseLong(line.substring(line.lastIndexOf(' ') + 1)) : 0;
            }
        }
        return used;
    }

    @ParameterizedTest
    @ValueSource(longs = {11, 12, 13})
    void shouldSurviveAnyBytes(long seed) throws IOException {
        Random random = new Random(seed);
        for (int i = 0; i < 300; i++) {
            byte[] bytes = new byte[random.nextInt(200)];
            random.nextBytes(bytes);
            for (int at = 0; at < bytes.length; at += 24) { // headers with small numbers get further
                bytes[at] = FrameDescriptor.REQUEST_MAGIC;
                for (int field = 2; field < 12 && at + field < bytes.length; field++) {
                    bytes[at + field] = (byte) (random.nextInt(3) == 0 ? random.nextInt(30) : 0);
                }
            }
            try (BinaryClient client = new BinaryClient(running.address())) {
                client.send(bytes);
            }
        }
        requireService();
    }
}
