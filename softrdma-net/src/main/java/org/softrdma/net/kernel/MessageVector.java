package org.softrdma.net.kernel;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.ByteOrder;
import java.util.Objects;

/**
 * Datagrams for sendmmsg(2) and recvmmsg(2): a {@code struct mmsghdr[]}, and for each entry its name (SocketName), the
 * {@code struct iovec} and the control messages that it points to. In the machine's byte order but for port and address. The
 * kernel writes what was received; this class writes the rest. Linux of 64 bits.
 *
 * <pre>
 *   struct mmsghdr                                             control, {level 4, type 4} behind the length
 *   |  address of the name, SocketName                  |   0   |  length of this message with its header             |   0
 *   |  bytes of the name       |  0                     |   8   |  level: 17, UDP; 0, IP; 41, IPv6                    |   8
 *   |  address of the iovec                             |  16   |  type: 103, 104; 1; 67                              |  12
 *   |  1                                                |  24   |  segment 2 or 4; type of service 1 or 4             |  16
 *   |  address of the control messages                  |  32
 *   |  bytes of the control messages                    |  40
 *   |  flags                   |  0                     |  48
 *   |  bytes of the datagram   |  0                     |  56
 * </pre>
 *
 * <p>A datagram with a segment is a train: datagrams of so many bytes each, the last of which may be shorter, as one. One thread.
 */
public final class MessageVector {
    private static final ValueLayout.OfByte BYTE = ValueLayout.JAVA_BYTE;
    private static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;

    /** Level of options and control messages: IPv4. */
    static final int IPPROTO_IP = 0;
    /** UDP. */
    static final int IPPROTO_UDP = 17;
    /** IPv6. */
    static final int IPPROTO_IPV6 = 41;
    /** Type of a control message, and name of an option: bytes of each datagram of a train that is sent. */
    static final int UDP_SEGMENT = 103;
    /** The same of a train that is received; as an option, whether trains arrive as such. */
    static final int UDP_GRO = 104;

    private static final int IP_TOS = 1;
    private static final int IPV6_TCLASS = 67;

    // struct mmsghdr
    private static final int NAME_OFFSET = 0;
    private static final int NAME_LENGTH_OFFSET = 8;
    private static final int VECTOR_OFFSET = 16;
    private static final int VECTOR_COUNT_OFFSET = 24;
    private static final int CONTROL_OFFSET = 32;
    private static final int CONTROL_LENGTH_OFFSET = 40;
    private static final int LENGTH_OFFSET = 56;
    private static final int HEADER_BYTES = 64;

    private static final int IOVEC_BYTES = 16;

    // struct cmsghdr
    private static final int LEVEL_OFFSET = 8;
    private static final int TYPE_OFFSET = 12;
    private static final int DATA_OFFSET = 16;
    private static final int SEGMENT_CONTROL_BYTES = DATA_OFFSET + Short.BYTES;
    private static final int CONTROL_ROOM = 64;

    private static final int MSG_TRUNC = 0x20;
    private static final int MSG_DONTWAIT = 0x40;
    private static final int MSG_NOSIGNAL = 0x4000;

    private static final MethodHandle SENDMMSG =
            SystemCalls.withErrno("sendmmsg", FunctionDescriptor.of(INT, INT, LONG, INT, INT));
    private static final MethodHandle RECVMMSG =
            SystemCalls.withErrno("recvmmsg", FunctionDescriptor.of(INT, INT, LONG, INT, INT, LONG));

    private final int capacity;
    private final MemorySegment state;
    private final MemorySegment headers;
    private final MemorySegment names;
    private final MemorySegment vectors;
    private final MemorySegment controls;

    /**
     * Entries that say nothing yet.
     *
     * @param capacity how many
     */
    public MessageVector(int capacity) {
        this.capacity = capacity;
        Arena arena = Arena.ofAuto();
        state = SystemCalls.newState(arena);
        headers = arena.allocate((long) capacity * HEADER_BYTES, Long.BYTES);
        names = arena.allocate((long) capacity * SocketName.ROOM, Long.BYTES);
        vectors = arena.allocate((long) capacity * IOVEC_BYTES, Long.BYTES);
        controls = arena.allocate((long) capacity * CONTROL_ROOM, Long.BYTES);
        for (int i = 0; i < capacity; i++) {
            headers.set(LONG, header(i) + NAME_OFFSET, names.address() + name(i));
            headers.set(LONG, header(i) + VECTOR_OFFSET, vectors.address() + vector(i));
            headers.set(LONG, header(i) + VECTOR_COUNT_OFFSET, 1);
            headers.set(LONG, header(i) + CONTROL_OFFSET, controls.address() + control(i));
        }
    }

    /** Number of entries. */
    public int capacity() {
        return capacity;
    }

    private static long header(int index) {
        return (long) index * HEADER_BYTES;
    }

    private static long name(int index) {
        return (long) index * SocketName.ROOM;
    }

    private static long vector(int index) {
        return (long) index * IOVEC_BYTES;
    }

    private static long control(int index) {
        return (long) index * CONTROL_ROOM;
    }

    // ---- sending

    /**
     * A datagram that is to be sent; {@link #setPeer} says where to.
     *
     * @param index of the entry
     * @param address of its bytes
     * @param length bytes
     * @param segment bytes of each datagram of a train; 0 if it is a datagram by itself
     */
    public void setDatagram(int index, long address, int length, int segment) {
        Objects.checkIndex(index, capacity);
        vectors.set(LONG, vector(index), address);
        vectors.set(LONG, vector(index) + Long.BYTES, length);
        if (segment == 0) {
            headers.set(LONG, header(index) + CONTROL_LENGTH_OFFSET, 0);
            return;
        }
        long control = control(index);
        controls.set(LONG, control, SEGMENT_CONTROL_BYTES);
        controls.set(INT, control + LEVEL_OFFSET, IPPROTO_UDP);
        controls.set(INT, control + TYPE_OFFSET, UDP_SEGMENT);
        controls.set(SHORT, control + DATA_OFFSET, (short) segment);
        headers.set(LONG, header(index) + CONTROL_LENGTH_OFFSET, SEGMENT_CONTROL_BYTES);
    }

    /**
     * Says where an entry goes.
     *
     * @param index of the entry
     * @param ipv6 the family of the socket that sends it; one of IPv4 takes only ::ffff:a.b.c.d
     * @param high first half of the peer's address, big endian
     * @param low second half
     * @param port of the peer
     * @param scope of an address of IPv6
     */
    public void setPeer(int index, boolean ipv6, long high, long low, int port, int scope) {
        Objects.checkIndex(index, capacity);
        headers.set(
                INT,
                header(index) + NAME_LENGTH_OFFSET,
                SocketName.put(names, name(index), ipv6, high, low, port, scope));
    }

    /**
     * Sends some entries.
     *
     * @param descriptor a non-blocking socket
     * @param from the first
     * @param count how many, more than 0
     * @return how many were sent, or the negative errno of the first
     */
    public int send(int descriptor, int from, int count) {
        Objects.checkFromIndexSize(from, count, capacity);
        int result;
        try {
            result = (int) SENDMMSG.invokeExact(
                    state, descriptor, headers.address() + header(from), count, MSG_DONTWAIT | MSG_NOSIGNAL);
        } catch (Throwable e) {
            throw SystemCalls.failed("sendmmsg", e);
        }
        return result < 0 ? -SystemCalls.errno(state) : result;
    }

    // ---- receiving

    /**
     * A buffer for a datagram, or for a train.
     *
     * @param index of the entry
     * @param address of the buffer
     * @param room bytes
     */
    public void setBuffer(int index, long address, int room) {
        Objects.checkIndex(index, capacity);
        vectors.set(LONG, vector(index), address);
        vectors.set(LONG, vector(index) + Long.BYTES, room);
        headers.set(INT, header(index) + NAME_LENGTH_OFFSET, SocketName.ROOM);
        headers.set(LONG, header(index) + CONTROL_LENGTH_OFFSET, CONTROL_ROOM);
    }

    /**
     * Receives into the first entries.
     *
     * @param descriptor a non-blocking socket
     * @param count entries, more than 0
     * @return how many datagrams came, or the negative errno
     */
    public int receive(int descriptor, int count) {
        Objects.checkFromIndexSize(0, count, capacity);
        int result;
        try {
            result = (int)
                    RECVMMSG.invokeExact(state, descriptor, headers.address(), count, MSG_DONTWAIT | MSG_TRUNC, 0L);
        } catch (Throwable e) {
            throw SystemCalls.failed("recvmmsg", e);
        }
        return result < 0 ? -SystemCalls.errno(state) : result;
    }

    /** Bytes that came, also those for which there was no room. */
    public int length(int index) {
        return headers.get(INT, header(index) + LENGTH_OFFSET);
    }

    /** Bytes of each datagram of the train that came; 0 if a datagram came by itself. */
    public int segment(int index) {
        long message = find(index, IPPROTO_UDP, UDP_GRO);
        return message < 0 ? 0 : controls.get(INT, message + DATA_OFFSET);
    }

    /** Type of service or traffic class, 0 to 255. */
    public int typeOfService(int index) {
        long message = find(index, IPPROTO_IP, IP_TOS);
        if (message < 0) {
            message = find(index, IPPROTO_IPV6, IPV6_TCLASS);
        }
        return message < 0 ? 0 : Byte.toUnsignedInt(controls.get(BYTE, message + classByte(message)));
    }

    /** Where the byte is: of IPv4's message it is the only one, of IPv6's the lowest of an int. */
    private long classByte(long message) {
        boolean isInt = controls.get(LONG, message) >= DATA_OFFSET + Integer.BYTES;
        return isInt && ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN ? DATA_OFFSET + Integer.BYTES - 1 : DATA_OFFSET;
    }

    /** Where a control message of an entry is; negative if there is none. */
    private long find(int index, int level, int type) {
        Objects.checkIndex(index, capacity);
        long at = control(index);
        long end = at + Math.min(CONTROL_ROOM, headers.get(LONG, header(index) + CONTROL_LENGTH_OFFSET));
        while (at + DATA_OFFSET <= end) {
            if (controls.get(INT, at + LEVEL_OFFSET) == level && controls.get(INT, at + TYPE_OFFSET) == type) {
                return at;
            }
            long length = Math.max(DATA_OFFSET, controls.get(LONG, at));
            at += (length + Long.BYTES - 1) & -Long.BYTES;
        }
        return -1;
    }

    /** First half of the sender's address, big endian. */
    public long high(int index) {
        return SocketName.high(names, name(index));
    }

    /** Second half of the sender's address; of an IPv4 address that of ::ffff:a.b.c.d. */
    public long low(int index) {
        return SocketName.low(names, name(index));
    }

    /** The sender's port. */
    public int port(int index) {
        return SocketName.port(names, name(index));
    }

    /** Scope of the sender's address, 0 if it needs none. */
    public int scope(int index) {
        return SocketName.scope(names, name(index));
    }
}
