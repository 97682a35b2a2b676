package org.softrdma.sim.peer;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.softrdma.net.transport.EveryTransport;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.ConnectionRequest;
import org.softrdma.verbs.cm.Connector;

/**
 * A thread polls memory while a peer WRITEs numbered messages of many lengths and alignments into it, and relies on
 * nothing but what {@link MemoryRegion#coherentUnit()} promises.
 *
 * <p>Every word of message n is the word of n, at whatever address; the poller has zeroed the range before, so no byte
 * of a message is 0 there. While it waits for the last word, it looks at random words, which must be 0 or whole.
 */
class PolledMemoryStressTest {
    private static final long SEED = Long.getLong("softrdma.test.seed", 20_261_122L);
    private static final int WORD = 8;
    private static final int SLOTS = 4;
    private static final int LONGEST = 200_000;
    private static final int LEAST_MESSAGES = 200;
    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();
    private static final VarHandle BYTE = ValueLayout.JAVA_BYTE.varHandle();

    /** Where a message goes and what it holds: both sides draw the same. */
    private record Message(long number, int offset, int length) {
        static Message draw(long number, Random random) {
            int length = switch (random.nextInt(4)) {
                case 0 -> 1 + random.nextInt(24);
                case 1 -> 1 + random.nextInt(300);
                case 2 -> 1 + random.nextInt(10_000);
                default -> 1 + random.nextInt(LONGEST);
            };
            return new Message(number, random.nextInt(WORD + 1), length);
        }

        int end() {
            return offset + length;
        }

        /** Offset of the last word, or -1. */
        int lastWord() {
            int word = end() / WORD * WORD - WORD;
            return word >= offset ? word : -1;
        }

        /** No byte of it is 0. */
        long word() {
            return (number * 0x9E37_79B9_7F4A_7C15L) | 0x0101_0101_0101_0101L;
        }

        byte at(int position) {
            int index = position % WORD;
            int shift = java.nio.ByteOrder.nativeOrder() == java.nio.ByteOrder.LITTLE_ENDIAN ? index : WORD - 1 - index;
            return (byte) (word() >>> (Byte.SIZE * shift));
        }

        @Override
        public String toString() {
            return "message " + number + " of " + length + " bytes at " + offset;
        }
    }

    @ParameterizedTest
    @CsvSource({
        "epoll,engine,off",
        "epoll,engine,on",
        "epoll,manual,off",
        "uring,engine,off",
        "uring,manual,on",
        "nio,engine,off",
        "nio,manual,on"
    })
    @ExtendWith(EveryTransport.SkipUnavailable.class)
    void shouldSeeAllOfAMessageWhoseLastWordItSees(String transport, String progress, String crc) throws Exception {
        run(transport, progress, crc, Integer.getInteger("softrdma.test.stress.seconds", 1));
    }

    @Tag("slow")
    @ParameterizedTest
    @CsvSource({"epoll,engine,off", "epoll,manual,off", "uring,engine,off", "uring,manual,off"})
    @ExtendWith(EveryTransport.SkipUnavailable.class)
    void shouldSeeAllOfAMessageWhoseLastWordItSeesForLong(String transport, String progress, String crc)
            throws Exception {
        run(transport, progress, crc, Boolean.getBoolean("softrdma.slow.short") ? 5 : 30);
    }

    private static void run(String transport, String progress, String crc, int seconds) throws Exception {
        try (TestDevice server = new TestDevice("transport", transport, "progress", progress, "crc", crc);
                TestDevice client = new TestDevice("transport", transport, "crc", crc)) {
            new Run(server, client).run(TimeUnit.SECONDS.toNanos(seconds));
        } catch (AssertionError | Exception e) {
            throw new AssertionError("seed " + SEED + " (-Dsoftrdma.test.seed): " + e.getMessage(), e);
        }
    }

    /** A writer, a poller, and the thread of the test, which drives the poller's device if it must. */
    private static final class Run {
        private final TestDevice server;
        private final TestDevice client;
        private final MemoryRegion[] targets = new MemoryRegion[SLOTS];
        /** Messages that the poller has checked, and whose slots it has zeroed. */
        private final AtomicLong checked = new AtomicLong();

        private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
        private volatile boolean stopping;

        Run(TestDevice server, TestDevice client) {
            this.server = server;
            this.client = client;
            for (int i = 0; i < SLOTS; i++) {
                targets[i] = server.guarded(
                                LONGEST + 3 * WORD, AccessFlag.POLLED, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE)
                        .region();
                targets[i].memory().fill((byte) 0);
                assertEquals(WORD, targets[i].coherentUnit());
            }
        }

        void run(long durationNs) throws Exception {
            CompletableFuture<QueuePair> connecting = CompletableFuture.supplyAsync(this::connect);
            try (ConnectionRequest request = server.request()) {
                server.queuePair(request, QueuePairLimits.of(4, 4));
                request.accept(ConnectionParameters.ofReads(1));
            }
            TestDevice.await("the connection", () -> drive() && connecting.isDone());
            QueuePair pair = connecting.get();
            Thread poller = start("poller", this::pollAll);
            Thread writer = start("writer", () -> writeAll(pair));
            long startNs = System.nanoTime();
            while (failure.get() == null
                    && (System.nanoTime() - startNs < durationNs || checked.get() < LEAST_MESSAGES)) {
                if (System.nanoTime() - startNs > durationNs + TestDevice.DEADLINE_NS * 3) {
                    throw new AssertionError("no progress after " + checked.get() + " messages");
                }
                drive();
            }
            stopping = true;
            TestDevice.await("the threads to end", () -> drive() && !poller.isAlive() && !writer.isAlive());
            Throwable failed = failure.get();
            if (failed != null) {
                throw new AssertionError("after " + checked.get() + " messages: " + failed.getMessage(), failed);
            }
        }

        private boolean drive() {
            if (server.device().manualProgress()) {
                server.device().progress(0);
            } else {
                Thread.yield();
            }
            return true;
        }

        private Thread start(String name, Runnable work) {
            return Thread.ofPlatform().name(name).daemon().start(() -> {
                try {
                    work.run();
                } catch (Throwable e) {
                    failure.compareAndSet(null, e);
                }
            });
        }

        private QueuePair connect() {
            try (Connector connector = client.device().resolve(server.address(), TestDevice.DEADLINE_NS)) {
                QueuePair pair = client.own(connector.createQueuePair(
                        client.domain(), QueuePairAttributes.of(client.queue(), QueuePairLimits.of(2 * SLOTS, 4))));
                connector.connect(ConnectionParameters.ofReads(1), TestDevice.DEADLINE_NS);
                return pair;
            }
        }

        private void writeAll(QueuePair pair) {
            Random random = new Random(SEED);
            TestDevice.Guarded[] sources = new TestDevice.Guarded[SLOTS];
            for (int i = 0; i < SLOTS; i++) {
                sources[i] = client.guarded(LONGEST + 3 * WORD, AccessFlag.LOCAL_WRITE);
            }
            for (long number = 0; !stopping; number++) {
                long now = number;
                if (!await(() -> checked.get() + SLOTS > now)) {
                    return;
                }
                Message message = Message.draw(number, random);
                int slot = (int) (number % SLOTS);
                MemoryRegion target = targets[slot];
                TestDevice.Guarded source = sources[slot];
                byte[] bytes = new byte[message.length];
                for (int i = 0; i < bytes.length; i++) {
                    bytes[i] = message.at(message.offset + i);
                }
                int shift = (int) (number % 3); // the source is aligned otherwise
                source.put(shift, bytes);
                assertEquals(
                        PostStatus.ACCEPTED,
                        pair.postWrite(
                                number,
                                source.region(),
                                shift,
                                message.length,
                                target.address() + message.offset,
                                target.rkey(),
                                SendFlags.SIGNALLED));
                TestDevice.take(client.queue(), 1);
            }
        }

        private boolean await(java.util.function.BooleanSupplier condition) {
            while (!condition.getAsBoolean()) {
                if (stopping || failure.get() != null) {
                    return false;
                }
                Thread.onSpinWait();
            }
            return true;
        }

        private void pollAll() {
            Random random = new Random(SEED);
            Random looks = new Random(SEED + 1);
            for (long number = 0; ; number++) {
                Message message = Message.draw(number, random);
                MemorySegment memory = targets[(int) (number % SLOTS)].memory();
                if (!await(() -> hasCome(memory, message, looks))) {
                    return;
                }
                check(memory, message);
                for (int i = 0; i < memory.byteSize() / WORD; i++) {
                    LONG.setOpaque(memory, (long) i * WORD, 0L);
                }
                checked.setRelease(number + 1);
            }
        }

        /** What a poller does. */
        private static boolean hasCome(MemorySegment memory, Message message, Random looks) {
            int last = message.lastWord();
            if (last < 0) {
                return (byte) BYTE.getAcquire(memory, (long) message.end() - 1) == message.at(message.end() - 1);
            }
            int look = (last / WORD - looks.nextInt(last / WORD + 1)) * WORD;
            if (look >= message.offset) {
                long seen = (long) LONG.getOpaque(memory, (long) look);
                if (seen != 0 && seen != message.word()) {
                    throw new AssertionError(message + ": the word at " + look + " is " + Long.toHexString(seen)
                            + ", neither 0 nor " + Long.toHexString(message.word()));
                }
            }
            return (long) LONG.getAcquire(memory, (long) last) == message.word();
        }

        /** All of it is there, and nothing beside it. */
        private static void check(MemorySegment memory, Message message) {
            for (int at = 0; at < memory.byteSize(); ) {
                if (at % WORD == 0 && at >= message.offset && at + WORD <= message.end()) {
                    require(memory.get(ValueLayout.JAVA_LONG, at) == message.word(), message, memory, at);
                    at += WORD;
                } else {
                    boolean inside = at >= message.offset && at < message.end();
                    byte expected = inside ? message.at(at) : 0;
                    require(memory.get(ValueLayout.JAVA_BYTE, at) == expected, message, memory, at);
                    at++;
                }
            }
        }

        private static void require(boolean holds, Message message, MemorySegment memory, int at) {
            if (!holds) {
                int from = at / WORD * WORD;
                byte[] found = memory.asSlice(from, WORD).toArray(ValueLayout.JAVA_BYTE);
                throw new AssertionError(message + ": its last word is there, but at " + at + " stands "
                        + Arrays.toString(found) + ", expected words of " + Long.toHexString(message.word()));
            }
        }
    }
}
