package org.softrdma.net.uring;

import org.softrdma.net.memory.NativeMemory;

/**
 * An entry of the submission queue, {@code struct io_uring_sqe} of 64 bytes, in the machine's order. This process writes
 * it; the kernel reads it in io_uring_enter, once.
 *
 * <pre>
 *   opcode, 1 | flags, 1 | priority, 2 | descriptor, 4      0
 *   offset, 8                                               8
 *   address, 8                                             16
 *   length, 4 | flags of the operation, 4                  24
 *   user data, 8                                           32
 *   buffer group, 2 | ...                                  40
 *   ...                                                    48
 * </pre>
 *
 * One thread.
 */
final class SubmissionEntry {
    static final int BYTES = 64;

    private static final int OPCODE_OFFSET = 0;
    private static final int OFFSET_OFFSET = OPCODE_OFFSET + Long.BYTES;
    private static final int ADDRESS_OFFSET = OFFSET_OFFSET + Long.BYTES;
    private static final int LENGTH_OFFSET = ADDRESS_OFFSET + Long.BYTES;
    private static final int USER_DATA_OFFSET = LENGTH_OFFSET + Long.BYTES;
    private static final int GROUP_OFFSET = USER_DATA_OFFSET + Long.BYTES;
    private static final int REST_OFFSET = GROUP_OFFSET + Long.BYTES;
    private static final int LAST_OFFSET = REST_OFFSET + Long.BYTES;

    private static final int FLAGS_SHIFT = 8;
    private static final int PRIORITY_SHIFT = 16;
    private static final int HIGH_WORD = 32;
    private static final long LOW_WORD = 0xFFFF_FFFFL;

    private static final int POLL_ADD = 6;
    private static final int SENDMSG = 9;
    private static final int ASYNC_CANCEL = 14;
    private static final int SEND = 26;
    private static final int RECV = 27;

    /** The kernel chooses one of the provided buffers (IOSQE_BUFFER_SELECT). */
    private static final int BUFFER_SELECT = 1 << 5;
    /** IORING_RECVSEND_POLL_FIRST: it was found empty just now. */
    private static final int POLL_FIRST = 1;

    private static final int RECV_MULTISHOT = 1 << 1;
    /** In the length of a poll (IORING_POLL_ADD_MULTI); edge triggered. */
    private static final int POLL_MULTISHOT = 1;

    /** MSG_DONTWAIT: the send is over when it is submitted, complete or not. */
    static final int SEND_DONTWAIT = 0x40;

    /** MSG_NOSIGNAL. */
    static final int SEND_NOSIGNAL = 0x4000;

    private SubmissionEntry() {}

    /** Raises an event for each edge of some conditions. */
    static void poll(long at, int descriptor, int conditions, long userData) {
        put(at, POLL_ADD, descriptor, 0, POLL_MULTISHOT, conditions, userData);
    }

    /** Receives whatever comes into provided buffers. */
    static void receive(long at, int descriptor, int group, long userData) {
        put(
                at,
                RECV | BUFFER_SELECT << FLAGS_SHIFT | (POLL_FIRST | RECV_MULTISHOT) << PRIORITY_SHIFT,
                descriptor,
                0,
                0,
                0,
                userData);
        NativeMemory.putNativeLong(at + GROUP_OFFSET, group);
    }

    /** Sends one piece of memory. */
    static void send(long at, int descriptor, long address, int length, int flags, long userData) {
        put(at, SEND, descriptor, address, length, flags, userData);
    }

    /** Sends the pieces of a {@link MessageHeader}. */
    static void sendMessage(long at, int descriptor, long header, int flags, long userData) {
        put(at, SENDMSG, descriptor, header, 1, flags, userData);
    }

    /** Ends the request that has some user data. */
    static void cancel(long at, long target, long userData) {
        put(at, ASYNC_CANCEL, -1, target, 0, 0, userData);
    }

    private static void put(
            long at, int operation, int descriptor, long address, int length, int flags, long userData) {
        NativeMemory.putNativeLong(at, (operation & LOW_WORD) | (long) descriptor << HIGH_WORD);
        NativeMemory.putNativeLong(at + OFFSET_OFFSET, 0);
        NativeMemory.putNativeLong(at + ADDRESS_OFFSET, address);
        NativeMemory.putNativeLong(at + LENGTH_OFFSET, (length & LOW_WORD) | (long) flags << HIGH_WORD);
        NativeMemory.putNativeLong(at + USER_DATA_OFFSET, userData);
        NativeMemory.putNativeLong(at + GROUP_OFFSET, 0);
        NativeMemory.putNativeLong(at + REST_OFFSET, 0);
        NativeMemory.putNativeLong(at + LAST_OFFSET, 0);
    }
}
