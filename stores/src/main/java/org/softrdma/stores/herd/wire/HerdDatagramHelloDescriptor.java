package org.softrdma.stores.herd.wire;

import java.lang.foreign.MemorySegment;
import org.softrdma.verbs.QueuePairAddress;

/**
 * The first message of a client without a connection: a datagram, little endian, 8-byte aligned. The client writes it, and
 * sends it until it is answered ({@link HerdDatagramWelcomeDescriptor}).
 *
 * <pre>
 * +---------------------------------------------------------------+
 * |  {@link HerdHelloDescriptor}                                  |   0
 * +---------------------------------------------------------------+
 * |  from where requests come ({@link HerdAddressDescriptor})     |  16
 * +---------------------------------------------------------------+
 * |  where answers go, with its key                               |  48
 * +---------------------------------------------------------------+
 * </pre>
 */
public final class HerdDatagramHelloDescriptor {
    /** Where the address of the queue pair begins that WRITEs requests. */
    public static final int WRITER_OFFSET = HerdHelloDescriptor.LENGTH;

    /** Where that of the queue pair begins that takes answers. */
    public static final int TAKER_OFFSET = WRITER_OFFSET + HerdAddressDescriptor.LENGTH;

    /** Bytes of it. */
    public static final int LENGTH = TAKER_OFFSET + HerdAddressDescriptor.LENGTH;

    private HerdDatagramHelloDescriptor() {}

    /**
     * Writes it.
     *
     * @param client as it names itself
     * @param writer from where requests come
     * @param taker where answers go
     * @param key that an answer must carry
     */
    public static void put(
            MemorySegment memory, long at, long client, QueuePairAddress writer, QueuePairAddress taker, int key) {
        HerdHelloDescriptor.put(memory, at, client);
        HerdAddressDescriptor.put(memory, at + WRITER_OFFSET, writer, 0);
        HerdAddressDescriptor.put(memory, at + TAKER_OFFSET, taker, key);
    }

    /** True if it is one, but for its addresses. Call it before anything else is believed. */
    public static boolean isValid(MemorySegment memory, long at, long available) {
        return available == LENGTH && HerdHelloDescriptor.isValid(memory, at, HerdHelloDescriptor.LENGTH);
    }
}
