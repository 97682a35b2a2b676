package org.softrdma.stores.herd.wire;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.function.IntUnaryOperator;
import org.softrdma.verbs.QueuePairAddress;

/**
 * The answer to {@link HerdDatagramHelloDescriptor}: a datagram, little endian, 8-byte aligned. The server writes it. A hello
 * that comes again is answered by the same bytes.
 *
 * <pre>
 * +---------------------------------------------------------------+
 * |  {@link HerdWelcomeDescriptor}                                |   0
 * +---------------------------------------------------------------+
 * |  the client whom it is for, 64 bits                           |  56
 * +---------------------------------------------------------------+
 * |  where requests go ({@link HerdAddressDescriptor})            |  64
 * +---------------------------------------------------------------+
 * |  the queue pair whose answers are of the first worker         |  96
 * +---------------------------------------------------------------+
 * |  that of the second one, and so on                            | 100
 * +---------------------------------------------------------------+
 * </pre>
 */
public final class HerdDatagramWelcomeDescriptor {
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    static final int CLIENT_OFFSET = HerdWelcomeDescriptor.LENGTH;

    /** Where the address of the queue pair begins that takes requests. */
    public static final int TAKER_OFFSET = CLIENT_OFFSET + Long.BYTES;

    static final int WORKERS_OFFSET = TAKER_OFFSET + HerdAddressDescriptor.LENGTH;

    private HerdDatagramWelcomeDescriptor() {}

    /** Bytes of it, of a server with so many workers. */
    public static int length(int workers) {
        return WORKERS_OFFSET + workers * Integer.BYTES;
    }

    /**
     * Writes it.
     *
     * @param welcome what the client is told
     * @param client whom it is for
     * @param taker where requests go
     * @param workers tells the queue pair of a worker's answers
     */
    public static void put(
            MemorySegment memory,
            long at,
            HerdWelcome welcome,
            long client,
            QueuePairAddress taker,
            IntUnaryOperator workers) {
        HerdWelcomeDescriptor.put(memory, at, welcome);
        memory.set(LONG, at + CLIENT_OFFSET, client);
        HerdAddressDescriptor.put(memory, at + TAKER_OFFSET, taker, 0);
        for (int worker = 0; worker < welcome.shape().workers(); worker++) {
            memory.set(INT, at + WORKERS_OFFSET + (long) worker * Integer.BYTES, workers.applyAsInt(worker));
        }
    }

    /** The queue pair whose answers are of a worker. */
    public static int worker(MemorySegment memory, long at, int worker) {
        return memory.get(INT, at + WORKERS_OFFSET + (long) worker * Integer.BYTES);
    }

    /** True if it is one for this client, but for its address. Call it before anything else is believed. */
    public static boolean isValid(MemorySegment memory, long at, long available, long client) {
        return available >= length(1)
                && HerdWelcomeDescriptor.isValid(memory, at, HerdWelcomeDescriptor.LENGTH)
                && available
                        == length(HerdWelcomeDescriptor.get(memory, at).shape().workers())
                && memory.get(LONG, at + CLIENT_OFFSET) == client;
    }
}
