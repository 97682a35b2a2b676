package org.softrdma.run.rxe;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.softrdma.sim.roce.wire.Gid;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.SendWorkRequest;

/**
 * A request of a send queue, {@code struct rxe_send_wqe}, in the machine's order but for the immediate. The program writes it.
 *
 * <pre>
 *     0  number of the request, wr_id         8 bytes
 *    12  operation, as verbs number it        4
 *    16  flags: fence, signalled, solicited,
 *        inline (1, 2, 4, 8)                  4
 *    20  immediate, in network order, or
 *        a key to invalidate                  4
 *    24  WRITE, READ: address there (8), rkey (4)
 *        atomics: address there (8), compare or add (8), swap (8), rkey (4)
 *        datagrams: number of the queue pair there (4), its key (4), nothing (4), number of the address
 *        handle (4), or 0: then the handle itself is in the request, as old drivers have it:
 *    64  GID there (16), flow label (4), index of the own GID (1)
 *   184  length of all                        4
 *   196  count of pieces                      4
 *   208  pieces, 16 each, or inline bytes
 *   208  address (8), length (4), lkey (4)
 * </pre>
 */
public final class SendElement {
    /** Bytes without pieces. */
    public static final int LENGTH = 208;

    /** Bytes of a piece. */
    public static final int PIECE_LENGTH = 16;

    private static final int OPERATION_OFFSET = 12;
    private static final int FLAGS_OFFSET = 16;
    private static final int IMMEDIATE_OFFSET = 20;
    private static final int REMOTE_OFFSET = 24;
    private static final int REMOTE_KEY_OFFSET = 32;
    private static final int COMPARE_OFFSET = 32;
    private static final int SWAP_OFFSET = 40;
    private static final int ATOMIC_KEY_OFFSET = 48;
    private static final int PAIR_OFFSET = 24;
    private static final int QUEUE_KEY_OFFSET = 28;
    private static final int HANDLE_OFFSET = 36;
    private static final int GID_OFFSET = 64;
    private static final int OWN_GID_OFFSET = 84;
    private static final int TOTAL_OFFSET = 184;
    private static final int COUNT_OFFSET = 196;

    private static final int WRITE = 0;
    private static final int WRITE_IMMEDIATE = 1;
    private static final int SEND = 2;
    private static final int SEND_IMMEDIATE = 3;
    private static final int READ = 4;
    private static final int COMPARE_AND_SWAP = 5;
    private static final int FETCH_AND_ADD = 6;
    private static final int INVALIDATE = 7;
    private static final int SEND_INVALIDATE = 9;

    /** A completion's operation of a bind. */
    public static final int COMPLETED_BIND = 5;

    /** Completions' operations, by those of requests: SEND 0, WRITE 1, READ 2, atomics 3 and 4, bind 5, invalidate 6. */
    private static final int[] COMPLETED = {1, 1, 0, 0, 2, 3, 4, 6, 5, 0};

    private static final int KNOWN_FLAGS =
            SendFlags.FENCE | SendFlags.SIGNALLED | SendFlags.SOLICITED | SendFlags.INLINE;

    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;
    private static final ValueLayout.OfInt INT_BE = ValueLayout.JAVA_INT.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfLong LONG_BE = ValueLayout.JAVA_LONG.withOrder(ByteOrder.BIG_ENDIAN);
    private static final long UNSIGNED = 0xFFFF_FFFFL;
    private static final int NUMBER_MASK = 0xFF_FFFF;

    private SendElement() {}

    /** The number of a request. */
    public static long number(MemorySegment ring, long at) {
        return ring.get(LONG, at);
    }

    /** What it does, as verbs number it. */
    static int operation(MemorySegment ring, long at) {
        return ring.get(INT, at + OPERATION_OFFSET);
    }

    /** Whether it waits for READs before it. */
    public static boolean isFenced(MemorySegment ring, long at) {
        return (ring.get(INT, at + FLAGS_OFFSET) & SendFlags.FENCE) != 0;
    }

    /** Whether the program wants a completion of it. */
    public static boolean isSignalled(MemorySegment ring, long at) {
        return (ring.get(INT, at + FLAGS_OFFSET) & SendFlags.SIGNALLED) != 0;
    }

    /** What its completion calls the operation; that of a SEND for one that is none. */
    public static int completed(MemorySegment ring, long at) {
        int operation = operation(ring, at);
        return operation >= 0 && operation < COMPLETED.length ? COMPLETED[operation] : 0;
    }

    /** Bytes of its message. */
    public static int total(MemorySegment ring, long at) {
        return ring.get(INT, at + TOTAL_OFFSET);
    }

    /**
     * Reads a request. Each of its fields is read once: the program may change them meanwhile.
     *
     * @param at where it begins
     * @param most bytes behind {@link #LENGTH} that an element has
     * @param into what to fill; its number is that of the request's place
     * @param number by which its completion names it
     * @return false if it is none that can be done
     */
    public static boolean read(MemorySegment ring, long at, int most, SendWorkRequest into, long number) {
        int flags = ring.get(INT, at + FLAGS_OFFSET) & KNOWN_FLAGS;
        long remote = ring.get(LONG, at + REMOTE_OFFSET);
        int key = ring.get(INT, at + REMOTE_KEY_OFFSET);
        switch (operation(ring, at)) {
            case WRITE -> into.write(number, remote, key, without(flags, SendFlags.SOLICITED));
            case WRITE_IMMEDIATE -> into.writeImmediate(number, remote, key, immediate(ring, at), flags);
            case SEND -> into.send(number, flags);
            case SEND_IMMEDIATE -> into.sendImmediate(number, immediate(ring, at), flags);
            case SEND_INVALIDATE -> into.sendInvalidate(number, ring.get(INT, at + IMMEDIATE_OFFSET), flags);
            case READ -> into.read(number, remote, key, answered(flags));
            case COMPARE_AND_SWAP ->
                into.compareAndSwap(
                        number,
                        remote,
                        ring.get(INT, at + ATOMIC_KEY_OFFSET),
                        ring.get(LONG, at + COMPARE_OFFSET),
                        ring.get(LONG, at + SWAP_OFFSET),
                        answered(flags));
            case FETCH_AND_ADD ->
                into.fetchAndAdd(
                        number,
                        remote,
                        ring.get(INT, at + ATOMIC_KEY_OFFSET),
                        ring.get(LONG, at + COMPARE_OFFSET),
                        answered(flags));
            case INVALIDATE -> {
                into.invalidate(number, ring.get(INT, at + IMMEDIATE_OFFSET), answered(flags));
                return true;
            }
            default -> {
                return false;
            }
        }
        return (into.flags() & SendFlags.INLINE) != 0
                ? addInline(ring, at, most, into)
                : addPieces(ring, at, most, into);
    }

    /** The queue pair that a datagram goes to. */
    public static int pair(MemorySegment ring, long at) {
        return ring.get(INT, at + PAIR_OFFSET) & NUMBER_MASK;
    }

    /** The key that a datagram carries. */
    public static int queueKey(MemorySegment ring, long at) {
        return ring.get(INT, at + QUEUE_KEY_OFFSET);
    }

    /** The number of a datagram's address handle; 0 if the request has the handle itself. */
    public static int handle(MemorySegment ring, long at) {
        return ring.get(INT, at + HANDLE_OFFSET);
    }

    /** The host that a request's own handle leads to. */
    public static Gid gid(MemorySegment ring, long at) {
        return new Gid(ring.get(LONG_BE, at + GID_OFFSET), ring.get(LONG_BE, at + GID_OFFSET + Long.BYTES));
    }

    /** Index of the own GID of a request's own handle. */
    public static int ownGid(MemorySegment ring, long at) {
        return ring.get(ValueLayout.JAVA_BYTE, at + OWN_GID_OFFSET) & 0xFF;
    }

    private static int immediate(MemorySegment ring, long at) {
        return ring.get(INT_BE, at + IMMEDIATE_OFFSET);
    }

    /** What brings something has nothing to send, and nobody to wake. */
    private static int answered(int flags) {
        return without(flags, SendFlags.SOLICITED | SendFlags.INLINE);
    }

    private static int without(int flags, int unwanted) {
        return flags & ~unwanted;
    }

    private static boolean addInline(MemorySegment ring, long at, int most, SendWorkRequest into) {
        long length = ring.get(INT, at + TOTAL_OFFSET) & UNSIGNED;
        if (length > most) {
            return false;
        }
        into.add(ring.address() + at + LENGTH, length, 0);
        return true;
    }

    private static boolean addPieces(MemorySegment ring, long at, int most, SendWorkRequest into) {
        int count = ring.get(INT, at + COUNT_OFFSET);
        if (count < 0 || count > most / PIECE_LENGTH) {
            return false;
        }
        for (long piece = at + LENGTH; piece < at + LENGTH + (long) count * PIECE_LENGTH; piece += PIECE_LENGTH) {
            into.add(
                    ring.get(LONG, piece),
                    ring.get(INT, piece + Long.BYTES) & UNSIGNED,
                    ring.get(INT, piece + Long.BYTES + Integer.BYTES));
        }
        return true;
    }
}
