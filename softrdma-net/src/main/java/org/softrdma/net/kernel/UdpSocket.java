package org.softrdma.net.kernel;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.net.InetAddress;

/**
 * Opens and tunes a UDP socket, and asks about it. Non-blocking, closed when a program is started, and alone on its port:
 * neither SO_REUSEADDR nor SO_REUSEPORT is set, unless it is for a group ({@link #share}). Datagrams go and come through a
 * {@link MessageVector}. Whoever opens it closes the descriptor. Linux only: elsewhere this class cannot be loaded. One thread.
 */
public final class UdpSocket {
    private static final int IPPROTO_IP = MessageVector.IPPROTO_IP;
    private static final int IPPROTO_UDP = MessageVector.IPPROTO_UDP;
    private static final int IPPROTO_IPV6 = MessageVector.IPPROTO_IPV6;

    private static final int AF_INET = 2;
    private static final int AF_INET6 = 10;
    private static final int DATAGRAM_NONBLOCK_CLOEXEC = 2 | 04000 | 02000000;
    private static final int SOL_SOCKET = 1;
    private static final int SO_REUSEADDR = 2;
    private static final int SO_SNDBUF = 7;
    private static final int SO_RCVBUF = 8;
    private static final int SO_MEMINFO = 55;
    private static final int IP_MTU_DISCOVER = 10;
    private static final int IP_RECVTOS = 13;
    private static final int IP_MULTICAST_IF = 32;
    private static final int IP_ADD_MEMBERSHIP = 35;
    private static final int IPV6_MULTICAST_IF = 17;
    private static final int IPV6_JOIN_GROUP = 20;
    private static final int IPV6_MTU_DISCOVER = 23;
    private static final int IPV6_RECVTCLASS = 66;
    private static final int PMTUDISC_DO = 2;
    private static final int UDP_NO_CHECK6_RX = 102;

    /** Of SO_MEMINFO: which word counts what the socket had no room for, and how many words there are. */
    private static final int MEMINFO_DROPS = 8;

    private static final int MEMINFO_WORDS = 9;

    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    private static final MethodHandle SOCKET =
            SystemCalls.withErrno("socket", FunctionDescriptor.of(INT, INT, INT, INT));
    private static final MethodHandle BIND =
            SystemCalls.withErrno("bind", FunctionDescriptor.of(INT, INT, ValueLayout.ADDRESS, INT));
    private static final MethodHandle GETSOCKNAME = SystemCalls.withErrno(
            "getsockname", FunctionDescriptor.of(INT, INT, ValueLayout.ADDRESS, ValueLayout.ADDRESS));
    private static final MethodHandle GETSOCKOPT = SystemCalls.withErrno(
            "getsockopt", FunctionDescriptor.of(INT, INT, INT, INT, ValueLayout.ADDRESS, ValueLayout.ADDRESS));
    private static final MethodHandle SETSOCKOPT =
            SystemCalls.withErrno("setsockopt", FunctionDescriptor.of(INT, INT, INT, INT, ValueLayout.ADDRESS, INT));

    private final int descriptor;
    private final boolean ipv6;
    private final MemorySegment state;
    private final MemorySegment words;
    private final MemorySegment size;
    private final MemorySegment name;
    private int lastDrops;
    private long drops;

    private UdpSocket(int descriptor, boolean ipv6, Arena arena) {
        this.descriptor = descriptor;
        this.ipv6 = ipv6;
        state = SystemCalls.newState(arena);
        words = arena.allocate((long) MEMINFO_WORDS * Integer.BYTES, Integer.BYTES);
        size = arena.allocate(INT);
        name = arena.allocate(SocketName.ROOM, Long.BYTES);
    }

    /**
     * Opens one that is bound to nothing.
     *
     * @param ipv6 its family
     * @throws SystemCallException if there is none, for example no descriptor
     */
    public static UdpSocket open(boolean ipv6) throws SystemCallException {
        Arena arena = Arena.ofAuto();
        MemorySegment state = SystemCalls.newState(arena);
        int descriptor;
        try {
            descriptor =
                    (int) SOCKET.invokeExact(state, ipv6 ? AF_INET6 : AF_INET, DATAGRAM_NONBLOCK_CLOEXEC, IPPROTO_UDP);
        } catch (Throwable e) {
            throw SystemCalls.failed("socket", e);
        }
        if (descriptor < 0) {
            throw new SystemCallException("socket", SystemCalls.errno(state));
        }
        try {
            return new UdpSocket(descriptor, ipv6, arena);
        } catch (Error e) {
            Descriptor.close(descriptor);
            throw e;
        }
    }

    /** The descriptor. */
    public int descriptor() {
        return descriptor;
    }

    /** Its family. */
    public boolean isIpv6() {
        return ipv6;
    }

    // ---- options

    /**
     * Datagrams are never cut into fragments, neither here nor on the way (DF), the type of service is told of what arrives,
     * trains arrive as such, and over IPv6 datagrams without a checksum arrive, too: RoCE's senders leave it out.
     *
     * @throws SystemCallException if datagrams could be cut
     */
    public void tune() throws SystemCallException {
        if (ipv6) {
            set("IPV6_MTU_DISCOVER", IPPROTO_IPV6, IPV6_MTU_DISCOVER, PMTUDISC_DO);
            offer(IPPROTO_IPV6, IPV6_RECVTCLASS, 1);
            offer(IPPROTO_UDP, UDP_NO_CHECK6_RX, 1);
        }
        set("IP_MTU_DISCOVER", IPPROTO_IP, IP_MTU_DISCOVER, PMTUDISC_DO); // of IPv6, too, for its IPv4 peers
        offer(IPPROTO_IP, IP_RECVTOS, 1);
        offer(IPPROTO_UDP, MessageVector.UDP_GRO, 1);
    }

    /** Asks for a buffer for what arrives; the kernel may give less ({@link #receiveBuffer}). */
    public void askReceiveBuffer(int bytes) {
        offer(SOL_SOCKET, SO_RCVBUF, bytes);
    }

    /** Asks for a buffer for what is sent; the kernel may give less. */
    public void askSendBuffer(int bytes) {
        offer(SOL_SOCKET, SO_SNDBUF, bytes);
    }

    /**
     * Other sockets may be bound to the same group and port; each gets what comes. Before {@link #bind}.
     *
     * @throws SystemCallException if they may not
     */
    public void share() throws SystemCallException {
        set("SO_REUSEADDR", SOL_SOCKET, SO_REUSEADDR, 1);
    }

    /**
     * Takes what comes to a group by the interface of an address.
     *
     * @param group to whose address it is bound
     * @param local address of this host, of the same family
     * @param index of its interface
     * @return false if that interface cannot
     */
    public boolean join(InetAddress group, InetAddress local, int index) {
        MemorySegment.copy(group.getAddress(), 0, words, ValueLayout.JAVA_BYTE, 0, group.getAddress().length);
        if (ipv6) {
            words.set(INT, group.getAddress().length, index);
            return offer(IPPROTO_IPV6, IPV6_JOIN_GROUP, words, group.getAddress().length + Integer.BYTES);
        }
        byte[] own = local.getAddress();
        MemorySegment.copy(own, 0, words, ValueLayout.JAVA_BYTE, own.length, own.length);
        return offer(IPPROTO_IP, IP_ADD_MEMBERSHIP, words, 2 * own.length);
    }

    /**
     * What goes to groups leaves by the interface of an address, whatever the routes say.
     *
     * @param local to which it is bound
     * @param index of its interface
     */
    public void sendToGroupsBy(InetAddress local, int index) {
        if (ipv6) {
            offer(IPPROTO_IPV6, IPV6_MULTICAST_IF, index);
        } else {
            MemorySegment.copy(local.getAddress(), 0, words, ValueLayout.JAVA_BYTE, 0, Integer.BYTES);
            offer(IPPROTO_IP, IP_MULTICAST_IF, words, Integer.BYTES);
        }
    }

    private void set(String what, int level, int option, int value) throws SystemCallException {
        if (!offer(level, option, value)) {
            throw new SystemCallException(what, SystemCalls.errno(state));
        }
    }

    /** Sets an option that not every kernel knows; false if this one does not. */
    private boolean offer(int level, int option, int value) {
        words.set(INT, 0, value);
        return offer(level, option, words, Integer.BYTES);
    }

    private boolean offer(int level, int option, MemorySegment value, int bytes) {
        try {
            return (int) SETSOCKOPT.invokeExact(state, descriptor, level, option, value, bytes) == 0;
        } catch (Throwable e) {
            throw SystemCalls.failed("setsockopt", e);
        }
    }

    /** Reads an option into the words; false if the kernel does not know it, or tells less of it. */
    private boolean read(int level, int option, int bytes) {
        size.set(INT, 0, bytes);
        try {
            return (int) GETSOCKOPT.invokeExact(state, descriptor, level, option, words, size) == 0
                    && size.get(INT, 0) == bytes;
        } catch (Throwable e) {
            throw SystemCalls.failed("getsockopt", e);
        }
    }

    /** True if the kernel knows trains. */
    public boolean hasTrains() {
        return read(IPPROTO_UDP, MessageVector.UDP_SEGMENT, Integer.BYTES);
    }

    /** What the kernel counts for what has arrived and was not received: its own buffers, not bytes. 0 if it does not say. */
    public int receiveBuffer() {
        return read(SOL_SOCKET, SO_RCVBUF, Integer.BYTES) ? words.get(INT, 0) : 0;
    }

    /** Datagrams that have arrived and were dropped, most for want of room. 0 if the kernel does not count them. */
    public long drops() {
        if (read(SOL_SOCKET, SO_MEMINFO, MEMINFO_WORDS * Integer.BYTES)) {
            int now = words.get(INT, (long) MEMINFO_DROPS * Integer.BYTES);
            drops += Integer.toUnsignedLong(now - lastDrops);
            lastDrops = now;
        }
        return drops;
    }

    // ---- the address

    /**
     * Binds it. An IPv4 address is ::ffff:a.b.c.d.
     *
     * @param high first half of the address, big endian
     * @param low second half
     * @param port 0 for any
     * @param scope of an IPv6 address
     * @throws SystemCallException also if the port is taken
     */
    public void bind(long high, long low, int port, int scope) throws SystemCallException {
        int length = SocketName.put(name, 0, ipv6, high, low, port, scope);
        int result;
        try {
            result = (int) BIND.invokeExact(state, descriptor, name, length);
        } catch (Throwable e) {
            throw SystemCalls.failed("bind", e);
        }
        if (result < 0) {
            throw new SystemCallException("bind", SystemCalls.errno(state));
        }
        readName();
    }

    private void readName() throws SystemCallException {
        size.set(INT, 0, SocketName.ROOM);
        int result;
        try {
            result = (int) GETSOCKNAME.invokeExact(state, descriptor, name, size);
        } catch (Throwable e) {
            throw SystemCalls.failed("getsockname", e);
        }
        if (result < 0) {
            throw new SystemCallException("getsockname", SystemCalls.errno(state));
        }
    }

    /** First half of the address that it is bound to. */
    public long high() {
        return SocketName.high(name, 0);
    }

    /** Second half. */
    public long low() {
        return SocketName.low(name, 0);
    }

    /** The port that it is bound to. */
    public int port() {
        return SocketName.port(name, 0);
    }

    /** Scope of the address, 0 if it needs none. */
    public int scope() {
        return SocketName.scope(name, 0);
    }
}
