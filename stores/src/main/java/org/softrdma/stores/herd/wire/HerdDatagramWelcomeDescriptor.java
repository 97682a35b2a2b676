package org.softrdma.stores.herd.wire;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
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
 * </pre>
 */
public final class HerdDatagramWelcomeDescriptor {
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    static final int CLIENT_OFFSET = HerdWelcomeDescriptor.LENGTH;

    /** Where the address of the queue pair begins that takes requests. */
    public static final int TAKER_OFFSET = CLIENT_OFFSET + Long.BYTES;

    /** Bytes of it. */
    public static final int LENGTH = TAKER_OFFSET + HerdAddressDescriptor.LENGTH;

    private HerdDatagramWelcomeDescriptor() {}

    /**
     * Writes it.
     *
     * @param welcome what the client is told
     * @param client whom it is for
     * @param taker where requests go
     */
    public static void put(MemorySegment memory, long at, HerdWelcome welcome, long client, QueuePairAddress taker) {
        HerdWelcomeDescriptor.put(memory, at, welcome);
        memory.set(LONG, at + CLIENT_OFFSET, client);
        HerdAddressDescriptor.put(memory, at + TAKER_OFFSET, taker, 0);
    }

    /** True if it is one for this client, but for its address. Call it before anything else is believed. */
    public static boolean isValid(MemorySegment memory, long at, long available, long client) {
        return available == LENGTH
                && HerdWelcomeDescriptor.isValid(memory, at, HerdWelcomeDescriptor.LENGTH)
                && memory.get(LONG, at + CLIENT_OFFSET) == client;
    }
}
