package org.softrdma.kv.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.softrdma.kv.binary.FrameDescriptor;
import org.softrdma.kv.server.host.ClientChannel;
import org.softrdma.kv.server.session.MemcachedConnection;
import org.softrdma.kv.server.session.ServerParts;

/**
 * What a command allocates on the heap from the bytes of its request to those of its answer. A command that finds an item, or
 * none, allocates nothing. One that stores an item makes an object for it, calculates its checksums, and tells its place.
 * There is no socket, and no thread but the test's.
 */
class CommandAllocationTest {
    private static final int WARM_UP = 20_000;
    private static final int ROUNDS = 60;
    private static final int MEASURED = 5_000;

    /**
     * The most for an item that is stored, whatever the compiler does away with: NewItem, two CRCs, views of the memory that they
     * run over, Locators; of arithmetic also ItemChanges.Rewrite. Seen with -XX:-DoEscapeAnalysis.
     */
    private static final int STORED_BYTES = 432;

    private static final RunningServer RUNNING = new RunningServer();

    private final Client client = new Client(RUNNING.server().parts());
    private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    @BeforeEach
    void store() {
        Client storing = new Client(RUNNING.server().parts());
        storing.ask(text("set k 7 0 5; hello; set other 0 0 1; x; set n 0 0 2; 12"));
        assertEquals("STORED; STORED; STORED; ", lines(storing.answer()));
    }

    @AfterAll
    static void stop() {
        RUNNING.close();
    }

    /** A connection whose network takes every answer at once. */
    private static final class Client implements ClientChannel {
        private final MemcachedConnection connection;
        private final ByteBuffer output = ByteBuffer.allocateDirect(1 << 17);
        private @Nullable ByteBuffer input;
        private int sent;

        Client(ServerParts server) {
            connection = new MemcachedConnection(server, this);
            connection.opened();
        }

        void ask(ByteBuffer request) {
            sent = 0;
            input = request;
            connection.received(request.rewind());
            if (input != null) {
                throw new AssertionError("the request has not ended");
            }
            connection.receivedAll();
        }

        /** The last answer. */
        ByteBuffer answer() {
            return output.slice(0, sent);
        }

        @Override
        public ByteBuffer buffer(int length) {
            return output.position(sent);
        }

        @Override
        public void sendBuffer() {
            sent = output.position();
        }

        @Override
        public void releaseInput() {
            input = null;
        }

        @Override
        public boolean isWritable() {
            return true;
        }

        @Override
        public boolean isSent() {
            return true;
        }

        @Override
        public long pendingBytes() {
            return 0;
        }

        @Override
        public void flush() {
            // all is taken at once
        }

        @Override
        public void whenSent(Runnable task) {
            task.run();
        }

        @Override
        public void dropBuffer() {
            throw new UnsupportedOperationException();
        }

        @Override
        public void send(ByteBuffer bytes, Runnable done) {
            throw new UnsupportedOperationException("a long value");
        }

        @Override
        public void reading(boolean on) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void execute(Runnable task) {
            throw new UnsupportedOperationException();
        }

        @Override
        public @Nullable SocketAddress localAddress() {
            return null;
        }

        @Override
        public @Nullable SocketAddress remoteAddress() {
            return null;
        }

        @Override
        public void close() {
            throw new UnsupportedOperationException();
        }
    }

    private static ByteBuffer direct(byte[] bytes) {
        return ByteBuffer.allocateDirect(bytes.length).put(bytes);
    }

    private static ByteBuffer text(String lines) {
        return direct((lines + "; ").replace("; ", "\r\n").getBytes(StandardCharsets.ISO_8859_1));
    }

    private static String lines(ByteBuffer answer) {
        return StandardCharsets.ISO_8859_1.decode(answer).toString().replace("\r\n", "; ");
    }

    /** Extras are for those that have some. */
    private static ByteBuffer binary(int opcode, String key, String value) {
        byte[] extras = switch (opcode) {
            case BinaryClient.SET -> BinaryClient.store(7, 0);
            case BinaryClient.INCREMENT -> BinaryClient.count(0, 0, -1);
            case BinaryClient.TOUCH, BinaryClient.GAT -> BinaryClient.word(0);
            default -> BinaryClient.NO_EXTRAS;
        };
        return direct(BinaryClient.frame(opcode, extras, key, value, 1, 0));
    }

    /**
     * For each request, in the first round in which it is no more than so much, or the best of all: the compiler has to be
     * through.
     */
    private double allocated(ByteBuffer request, int most) {
        for (int i = 0; i < WARM_UP; i++) {
            client.ask(request);
        }
        long least = Long.MAX_VALUE;
        for (int round = 0; round < ROUNDS && least > (long) most * MEASURED; round++) {
            long before = threads.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < MEASURED; i++) {
                client.ask(request);
            }
            least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
        }
        return (double) least / MEASURED;
    }

    /** Lines of a request, and a pattern of the answer's. */
    @ParameterizedTest
    @CsvSource({
        "get k, VALUE k 7 5; hello; END",
        "gets k, VALUE k 7 5 [0-9]+; hello; END",
        "get none, END",
        "get k none other, VALUE k 7 5; hello; VALUE other 0 1; x; END",
        "gat 0 k, VALUE k 7 5; hello; END",
        "touch k 0, TOUCHED",
        "touch none 0, NOT_FOUND",
        "delete none, NOT_FOUND",
        "mg k v, VA 5; hello",
        "mg k k f t s v q, VA 5 kk f7 t-1 s5; hello",
        "mg k T0, HD",
        "mg none v, EN",
        "md none, NF",
    })
    void shouldAllocateNothingWhereTextStoresNothing(String request, String answer) {
        double allocated = allocated(text(request), 0);
        String lines = lines(client.answer());
        assertTrue(lines.matches(answer + "; "), lines);
        assertEquals(0, allocated);
    }

    /** With the status of the answer, and how it ends. */
    @ParameterizedTest
    @CsvSource({
        BinaryClient.GET + ", k, 0, hello",
        BinaryClient.GETK + ", k, 0, khello",
        BinaryClient.GAT + ", k, 0, hello",
        BinaryClient.TOUCH + ", k, 0, ''",
        BinaryClient.GET + ", none, 1, Not found",
        BinaryClient.GETK + ", none, 1, none",
        BinaryClient.DELETE + ", none, 1, Not found",
    })
    void shouldAllocateNothingWhereBinaryStoresNothing(int opcode, String key, int status, String end) {
        double allocated = allocated(binary(opcode, key, ""), 0);
        requireAnswer(status, end);
        assertEquals(0, allocated);
    }

    private void requireAnswer(int status, String end) {
        byte[] answer = new byte[client.answer().remaining()];
        client.answer().get(answer);
        assertEquals(status, FrameDescriptor.status(answer));
        String body = new String(
                answer, FrameDescriptor.LENGTH, answer.length - FrameDescriptor.LENGTH, StandardCharsets.ISO_8859_1);
        assertTrue(body.endsWith(end), body);
    }

    /** A delete adds nothing to the set before it. */
    @ParameterizedTest
    @CsvSource({
        "set k 7 0 5; hello, STORED",
        "replace k 7 0 5; hello, STORED",
        "add k 7 0 5; hello, NOT_STORED",
        "ms k 5 F7; hello, HD",
        "incr n 0, 12",
        "ma n D0 v, VA 2; 12",
        "incr none 1, NOT_FOUND", // a Rewrite
        "ma none, NF",
        "set k 7 0 5; hello; delete k, STORED; DELETED",
        "ms k 5 F7; hello; md k, HD; HD",
    })
    void shouldAllocateForNothingButTheItemThatTextStores(String request, String answer) {
        double allocated = allocated(text(request), STORED_BYTES);
        assertEquals(answer + "; ", lines(client.answer()));
        assertTrue(allocated <= STORED_BYTES, () -> request + ": " + allocated);
    }

    @ParameterizedTest
    @CsvSource({BinaryClient.SET + ", k, hello", BinaryClient.INCREMENT + ", n, ''"})
    void shouldAllocateForNothingButTheItemThatBinaryStores(int opcode, String key, String value) {
        double allocated = allocated(binary(opcode, key, value), STORED_BYTES);
        requireAnswer(0, "");
        assertTrue(allocated <= STORED_BYTES, () -> opcode + ": " + allocated);
    }
}
