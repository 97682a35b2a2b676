package org.softrdma.suites.kv;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import org.softrdma.fabric.FabricNode;
import org.softrdma.fabric.scheduler.Scheduler;
import org.softrdma.net.transport.EventLoop;
import org.softrdma.net.transport.IoVectors;
import org.softrdma.net.transport.SocketEvents;
import org.softrdma.net.transport.StreamSocket;
import org.softrdma.net.transport.Transport;
import org.softrdma.sim.memory.MemoryOperations;

/**
 * A client that sends requests one behind the other without waiting for answers, reads these at its leisure, and ends its stream
 * behind the last request: by {@code quit}, or by shutting its sending side down. One thread.
 */
final class PipelinedClient implements SocketEvents {
    private static final int KEYS = 3;
    private static final int LEAST_REQUESTS = 4;
    private static final int MOST_REQUESTS = 20;
    private static final int READ_BYTES = 3000;
    private static final long WAIT_NS = TimeUnit.SECONDS.toNanos(1);
    private static final long LONGEST_REST_NS = TimeUnit.MILLISECONDS.toNanos(1);

    private final Scheduler scheduler;
    private final FabricNode node;
    private final String name;
    private final RandomGenerator random;
    private final byte[][] stored = new byte[KEYS][];
    private final ByteArrayOutputStream requests = new ByteArrayOutputStream();
    private final ByteArrayOutputStream expected = new ByteArrayOutputStream();
    private final ByteArrayOutputStream answers = new ByteArrayOutputStream();
    private final boolean quits;

    /** What it will ask, and what it is to be answered. */
    PipelinedClient(Scheduler scheduler, FabricNode node, String name, RandomGenerator random) {
        this.scheduler = scheduler;
        this.node = node;
        this.name = name;
        this.random = random;
        for (int i = random.nextInt(LEAST_REQUESTS, MOST_REQUESTS); i > 0; i--) {
            int key = random.nextInt(KEYS);
            if (random.nextInt(3) == 0) {
                store(key);
            } else {
                ask("get " + name + key + "\r\n");
                byte[] value = stored[key];
                if (value != null) {
                    answer("VALUE " + name + key + " 0 " + value.length + "\r\n");
                    expected.writeBytes(value);
                    answer("\r\n");
                }
                answer("END\r\n");
            }
        }
        quits = random.nextBoolean();
        if (quits) {
            ask("quit\r\n");
        }
    }

    private void store(int key) {
        boolean silent = random.nextBoolean();
        byte[] value = new byte[length()];
        random.nextBytes(value);
        stored[key] = value;
        ask("set " + name + key + " 0 0 " + value.length + (silent ? " noreply" : "") + "\r\n");
        requests.writeBytes(value);
        ask("\r\n");
        if (!silent) {
            answer("STORED\r\n");
        }
    }

    /** Most are copied into an answer; long ones are sent from where they are. */
    private int length() {
        return switch (random.nextInt(4)) {
            case 0 -> random.nextInt(17_000, 40_000);
            case 1 -> random.nextInt(5_000);
            default -> random.nextInt(100);
        };
    }

    private void ask(String text) {
        requests.writeBytes(text.getBytes(StandardCharsets.US_ASCII));
    }

    private void answer(String text) {
        expected.writeBytes(text.getBytes(StandardCharsets.US_ASCII));
    }

    byte[] expected() {
        return expected.toByteArray();
    }

    byte[] answers() {
        return answers.toByteArray();
    }

    /**
     * Connects, sends, reads to the end.
     *
     * @param server the memcached port
     * @param patience bytes of answers after which it resets the connection
     */
    void run(InetSocketAddress server, int patience) throws IOException {
        Transport sockets = node.ownSockets();
        try (Arena arena = Arena.ofConfined()) {
            EventLoop loop = sockets.loops().getFirst();
            StreamSocket socket = loop.connect(server, this);
            while (!socket.finishConnect()) {
                int ignored = loop.run(WAIT_NS);
            }
            MemorySegment output = arena.allocate(requests.size());
            MemorySegment.copy(requests.toByteArray(), 0, output, ValueLayout.JAVA_BYTE, 0, requests.size());
            IoVectors vectors = new IoVectors(new MemoryOperations(), 1);
            long sent = 0;
            boolean over = false;
            while (!over) {
                sent += send(socket, vectors, output.asSlice(sent));
                over = receive(socket, arena) || answers.size() >= patience;
                int ignored = loop.run(over ? 0 : WAIT_NS);
            }
            if (answers.size() >= patience) {
                socket.abort();
            } else {
                socket.close();
            }
        } finally {
            sockets.close();
        }
    }

    private long send(StreamSocket socket, IoVectors vectors, MemorySegment rest) throws IOException {
        if (rest.byteSize() == 0) {
            return 0;
        }
        long wanted = 1 + random.nextLong(rest.byteSize());
        vectors.set(0, rest.address(), wanted);
        long sent = socket.gather(vectors, 0, 1);
        if (sent < wanted) {
            socket.awaitRoom();
        } else {
            socket.rearm();
        }
        if (sent == rest.byteSize() && !quits) {
            socket.shutdownOutput();
        }
        return sent;
    }

    /** True at the end. */
    private boolean receive(StreamSocket socket, Arena arena) throws IOException {
        if (random.nextInt(4) == 0) {
            scheduler.sleep(random.nextLong(LONGEST_REST_NS));
        }
        MemorySegment input = arena.allocate(READ_BYTES);
        int count = socket.receive(input.address(), READ_BYTES);
        if (count > 0) {
            answers.writeBytes(input.asSlice(0, count).toArray(ValueLayout.JAVA_BYTE));
            socket.rearm();
        }
        return count < 0;
    }

    @Override
    public void ready(boolean writable) {
        // Whoever runs the loop tries again.
    }
}
