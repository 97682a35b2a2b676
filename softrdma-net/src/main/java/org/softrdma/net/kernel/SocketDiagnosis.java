package org.softrdma.net.kernel;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.ByteOrder;
import java.util.OptionalLong;

/**
 * Asks the kernel about one TCP socket (sock_diag(7), {@code struct inet_diag_req_v2}), instead of reading the table of
 * all of them. Linux only: elsewhere this class cannot be loaded. Any thread.
 */
public final class SocketDiagnosis {
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;
    private static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT;
    private static final ValueLayout.OfLong NETWORK_LONG =
            ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfShort NETWORK_SHORT = ValueLayout.JAVA_SHORT.withOrder(ByteOrder.BIG_ENDIAN);
    private static final int AF_NETLINK = 16;
    private static final int RAW_CLOEXEC = 3 | 02000000;
    private static final int NETLINK_SOCK_DIAG = 4;
    private static final int MSG_DONTWAIT = 0x40;
    private static final short SOCK_DIAG_BY_FAMILY = 20;
    private static final short NLM_F_REQUEST = 1;
    private static final byte AF_INET6 = 10;
    private static final byte IPPROTO_TCP = 6;
    // struct nlmsghdr, and behind it the request or the answer; both have the same struct inet_diag_sockid.
    private static final int HEADER_BYTES = 16;
    private static final int TYPE_OFFSET = 4;
    private static final int FLAGS_OFFSET = 6;
    private static final int PROTOCOL_OFFSET = HEADER_BYTES + 1;
    private static final int STATES_OFFSET = HEADER_BYTES + 4;
    private static final int REQUEST_BYTES = HEADER_BYTES + 56;
    private static final int REQUEST_ID_OFFSET = HEADER_BYTES + 8;
    private static final int ANSWER_ID_OFFSET = HEADER_BYTES + 4;
    private static final int INODE_OFFSET = HEADER_BYTES + 68;
    private static final int ANSWER_BYTES = HEADER_BYTES + 72;
    private static final int ROOM = 4096;
    // struct inet_diag_sockid
    private static final int REMOTE_PORT_OFFSET = 2;
    private static final int LOCAL_OFFSET = 4;
    private static final int REMOTE_OFFSET = 20;
    private static final int INTERFACE_OFFSET = 36;
    private static final int COOKIE_OFFSET = 40;
    private static final int PORTS_BYTES = 4;

    private static final MethodHandle SOCKET =
            SystemCalls.function("socket", FunctionDescriptor.of(INT, INT, INT, INT));
    private static final MethodHandle SEND =
            SystemCalls.function("send", FunctionDescriptor.of(LONG, INT, ValueLayout.ADDRESS, LONG, INT));
    private static final MethodHandle RECV =
            SystemCalls.function("recv", FunctionDescriptor.of(LONG, INT, ValueLayout.ADDRESS, LONG, INT));

    private SocketDiagnosis() {}

    /**
     * The inode of the socket of one end of a connection in this network namespace. Addresses are 16 bytes in two halves,
     * IPv4 as {@code ::ffff:a.b.c.d}.
     *
     * @param localHigh first half of the end's own address
     * @param localLow second half
     * @param localPort its port
     * @param remoteHigh first half of the other end's address
     * @param remoteLow second half
     * @param remotePort its port
     * @return empty if the kernel knows no such connection, or does not answer such questions
     */
    public static OptionalLong inode(
            long localHigh, long localLow, int localPort, long remoteHigh, long remoteLow, int remotePort) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment request = arena.allocate(REQUEST_BYTES, Long.BYTES);
            request.set(INT, 0, REQUEST_BYTES);
            request.set(SHORT, TYPE_OFFSET, SOCK_DIAG_BY_FAMILY);
            request.set(SHORT, FLAGS_OFFSET, NLM_F_REQUEST);
            request.set(ValueLayout.JAVA_BYTE, HEADER_BYTES, AF_INET6);
            request.set(ValueLayout.JAVA_BYTE, PROTOCOL_OFFSET, IPPROTO_TCP);
            request.set(INT, STATES_OFFSET, -1);
            MemorySegment id = request.asSlice(REQUEST_ID_OFFSET);
            id.set(NETWORK_SHORT, 0, (short) localPort);
            id.set(NETWORK_SHORT, REMOTE_PORT_OFFSET, (short) remotePort);
            id.set(NETWORK_LONG, LOCAL_OFFSET, localHigh);
            id.set(NETWORK_LONG, LOCAL_OFFSET + Long.BYTES, localLow);
            id.set(NETWORK_LONG, REMOTE_OFFSET, remoteHigh);
            id.set(NETWORK_LONG, REMOTE_OFFSET + Long.BYTES, remoteLow);
            id.set(INT, INTERFACE_OFFSET, 0);
            id.set(LONG, COOKIE_OFFSET, -1); // none
            MemorySegment answer = arena.allocate(ROOM, Long.BYTES);
            return exchange(request, answer) && isAbout(answer, id)
                    ? OptionalLong.of(Integer.toUnsignedLong(answer.get(INT, INODE_OFFSET)))
                    : OptionalLong.empty();
        }
    }

    /** The kernel answers before send returns, so nothing waits. False if there is no answer. */
    private static boolean exchange(MemorySegment request, MemorySegment answer) {
        try {
            int socket = (int) SOCKET.invokeExact(AF_NETLINK, RAW_CLOEXEC, NETLINK_SOCK_DIAG);
            if (socket < 0) {
                return false;
            }
            try {
                return (long) SEND.invokeExact(socket, request, request.byteSize(), MSG_DONTWAIT) == REQUEST_BYTES
                        && (long) RECV.invokeExact(socket, answer, answer.byteSize(), MSG_DONTWAIT) >= ANSWER_BYTES;
            } finally {
                Descriptor.close(socket);
            }
        } catch (Error | RuntimeException e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException("a function of the C library throws nothing", e);
        }
    }

    /** True if it is no error, and about the ports that were asked for. */
    private static boolean isAbout(MemorySegment answer, MemorySegment id) {
        return answer.get(SHORT, TYPE_OFFSET) == SOCK_DIAG_BY_FAMILY
                && answer.asSlice(ANSWER_ID_OFFSET, PORTS_BYTES).mismatch(id.asSlice(0, PORTS_BYTES)) < 0;
    }
}
