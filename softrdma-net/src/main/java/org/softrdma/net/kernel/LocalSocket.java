package org.softrdma.net.kernel;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A Unix socket that keeps messages apart (SOCK_SEQPACKET), with a name in the abstract namespace: it reaches processes
 * of the same kernel and network namespace only. Each message has one length, {@link #MESSAGE_BYTES}, and may carry a
 * descriptor.
 *
 * <p>Linux only: elsewhere this class cannot be loaded. One thread at a time, but {@link #shutdown} may come from any.
 */
public final class LocalSocket implements AutoCloseable {
    /** Bytes of a message. */
    public static final int MESSAGE_BYTES = 128;

    /** No descriptor. */
    public static final int NONE = -1;

    private static final long WITHOUT_LIMIT = Long.MAX_VALUE;

    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    private static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT;
    private static final short AF_UNIX = 1;
    private static final int SEQPACKET_CLOEXEC = 5 | 02000000;
    private static final int SOL_SOCKET = 1;
    private static final int SO_PEERCRED = 17;
    private static final int SO_RCVTIMEO = 20;
    private static final int SO_SNDTIMEO = 21;
    private static final int SCM_RIGHTS = 1;
    private static final int MSG_DONTWAIT_NOSIGNAL = 0x40 | 0x4000;
    private static final int MSG_NOSIGNAL = 0x4000;
    private static final int MSG_CMSG_CLOEXEC = 0x40000000;
    private static final int SHUT_RDWR = 2;
    private static final int SOCK_CLOEXEC = 02000000;
    private static final short POLLIN = 1;
    private static final int POLL_BYTES = 8;
    private static final int POLL_REVENTS = 6;
    // struct msghdr and struct cmsghdr of 64-bit Linux.
    private static final int HEADER_BYTES = 56;
    private static final int IOV_OFFSET = 16;
    private static final int IOV_COUNT_OFFSET = 24;
    private static final int CONTROL_OFFSET = 32;
    private static final int CONTROL_LENGTH_OFFSET = 40;
    private static final int CONTROL_BYTES = 24;
    /** With one descriptor. */
    private static final int CONTROL_USED = 20;

    private static final int FLAGS_OFFSET = 48;
    private static final int MSG_CTRUNC = 8;
    private static final int CONTROL_LEVEL_OFFSET = 8;
    private static final int CONTROL_TYPE_OFFSET = 12;
    private static final int CONTROL_DATA_OFFSET = 16;
    private static final int UID_OFFSET = 4;
    private static final int CREDENTIAL_BYTES = 12;
    private static final int NANOS_PER_MICRO = 1000;
    private static final int MICROS_PER_SECOND = 1_000_000;

    private static final MethodHandle SOCKET =
            SystemCalls.withErrno("socket", FunctionDescriptor.of(INT, INT, INT, INT));
    private static final MethodHandle BIND = withAddress("bind");
    private static final MethodHandle CONNECT = withAddress("connect");
    private static final MethodHandle LISTEN = SystemCalls.withErrno("listen", FunctionDescriptor.of(INT, INT, INT));
    private static final MethodHandle ACCEPT =
            SystemCalls.withErrno("accept4", FunctionDescriptor.of(INT, INT, LONG, LONG, INT));
    private static final MethodHandle SHUTDOWN =
            SystemCalls.withErrno("shutdown", FunctionDescriptor.of(INT, INT, INT));
    private static final MethodHandle GETSOCKOPT = SystemCalls.withErrno(
            "getsockopt", FunctionDescriptor.of(INT, INT, INT, INT, ValueLayout.ADDRESS, ValueLayout.ADDRESS));
    private static final MethodHandle SETSOCKOPT =
            SystemCalls.withErrno("setsockopt", FunctionDescriptor.of(INT, INT, INT, INT, ValueLayout.ADDRESS, INT));
    private static final MethodHandle SENDMSG =
            SystemCalls.withErrno("sendmsg", FunctionDescriptor.of(LONG, INT, ValueLayout.ADDRESS, INT));
    private static final MethodHandle RECVMSG =
            SystemCalls.withErrno("recvmsg", FunctionDescriptor.of(LONG, INT, ValueLayout.ADDRESS, INT));
    private static final MethodHandle POLL =
            SystemCalls.withErrno("poll", FunctionDescriptor.of(INT, ValueLayout.ADDRESS, LONG, INT));
    private static final MethodHandle GETEUID = SystemCalls.function("geteuid", FunctionDescriptor.of(INT));

    private final int descriptor;
    /** Most for each message; {@link #WITHOUT_LIMIT} for a socket that only does what it need not wait for. */
    private final long timeoutNs;

    private final ReentrantLock closing = new ReentrantLock();
    private boolean closed;

    private LocalSocket(int descriptor, long timeoutNs) {
        this.descriptor = descriptor;
        this.timeoutNs = timeoutNs;
    }

    private static MethodHandle withAddress(String name) {
        return SystemCalls.withErrno(name, FunctionDescriptor.of(INT, INT, ValueLayout.ADDRESS, INT));
    }

    /** The user that this process acts as. */
    public static int effectiveUser() {
        return run((state, arena) -> (int) GETEUID.invokeExact());
    }

    /**
     * Listens.
     *
     * @param name in the abstract namespace
     * @param backlog connections that may wait
     * @throws IOException if the name is in use
     */
    public static LocalSocket listen(String name, int backlog) throws IOException {
        return opened(WITHOUT_LIMIT, (state, arena, file) -> {
            MemorySegment address = address(arena, name);
            required("bind", (int) BIND.invokeExact(state, file, address, (int) address.byteSize()), state);
            required("listen", (int) LISTEN.invokeExact(state, file, backlog), state);
        });
    }

    /**
     * Connects.
     *
     * @param name in the abstract namespace
     * @param timeoutNs most for this call, and for each message from here on; twice as much if signals come meanwhile
     * @throws IOException if nobody listens there, or not in time
     */
    public static LocalSocket connect(String name, long timeoutNs) throws IOException {
        return opened(timeoutNs, (state, arena, file) -> {
            long micros = Math.max(1, timeoutNs / NANOS_PER_MICRO);
            MemorySegment time = arena.allocate(LONG, 2);
            time.setAtIndex(LONG, 0, micros / MICROS_PER_SECOND);
            time.setAtIndex(LONG, 1, micros % MICROS_PER_SECOND);
            int size = (int) time.byteSize();
            required(
                    "SO_RCVTIMEO",
                    (int) SETSOCKOPT.invokeExact(state, file, SOL_SOCKET, SO_RCVTIMEO, time, size),
                    state);
            required(
                    "SO_SNDTIMEO",
                    (int) SETSOCKOPT.invokeExact(state, file, SOL_SOCKET, SO_SNDTIMEO, time, size),
                    state);
            MemorySegment address = address(arena, name);
            long result = again(
                    timeoutNs, state, () -> (int) CONNECT.invokeExact(state, file, address, (int) address.byteSize()));
            required("connect", result, state);
        });
    }

    private static LocalSocket opened(long timeoutNs, Setup setup) throws IOException {
        return tried((state, arena) -> {
            int file = (int) SOCKET.invokeExact(state, (int) AF_UNIX, SEQPACKET_CLOEXEC, 0);
            required("socket", file, state);
            try {
                setup.run(state, arena, file);
                return new LocalSocket(file, timeoutNs);
            } catch (Throwable e) {
                Descriptor.close(file);
                throw e;
            }
        });
    }

    /** struct sockaddr_un, cut behind the name. */
    private static MemorySegment address(Arena arena, String name) {
        byte[] bytes = name.getBytes(StandardCharsets.US_ASCII);
        MemorySegment address = arena.allocate(Short.BYTES + 1 + bytes.length, Long.BYTES);
        address.set(SHORT, 0, AF_UNIX);
        MemorySegment.copy(bytes, 0, address, ValueLayout.JAVA_BYTE, Short.BYTES + 1, bytes.length);
        return address;
    }

    /** The next connection of a listener. */
    public LocalSocket accept() throws IOException {
        return tried((state, arena) -> {
            long file =
                    again(timeoutNs, state, () -> (int) ACCEPT.invokeExact(state, descriptor, 0L, 0L, SOCK_CLOEXEC));
            required("accept", file, state);
            return new LocalSocket((int) file, WITHOUT_LIMIT);
        });
    }

    /** Who was at the other end when it connected, or began to listen; as the kernel says. */
    public Peer peer() throws IOException {
        return tried((state, arena) -> {
            MemorySegment credentials = arena.allocate(CREDENTIAL_BYTES, Integer.BYTES);
            MemorySegment length = arena.allocateFrom(INT, CREDENTIAL_BYTES);
            required(
                    "SO_PEERCRED",
                    (int) GETSOCKOPT.invokeExact(state, descriptor, SOL_SOCKET, SO_PEERCRED, credentials, length),
                    state);
            return new Peer(credentials.get(INT, 0), credentials.get(INT, UID_OFFSET));
        });
    }

    /**
     * Who is at the other end.
     *
     * @param process its number as seen from here, 0 if it cannot be seen
     * @param user its effective user
     */
    public record Peer(int process, int user) {}

    /**
     * Sends a message.
     *
     * @param message of {@link #MESSAGE_BYTES}
     * @param file goes with it, or {@link #NONE}
     * @param wait false to fail if there is no room for it
     */
    public void send(byte[] message, int file, boolean wait) throws IOException {
        boolean ignored = tried((state, arena) -> {
            MemorySegment header = header(arena, message, file != NONE);
            if (file != NONE) {
                MemorySegment control = arena.allocate(CONTROL_BYTES, Long.BYTES);
                control.set(LONG, 0, CONTROL_USED);
                control.set(INT, CONTROL_LEVEL_OFFSET, SOL_SOCKET);
                control.set(INT, CONTROL_TYPE_OFFSET, SCM_RIGHTS);
                control.set(INT, CONTROL_DATA_OFFSET, file);
                header.set(LONG, CONTROL_OFFSET, control.address());
            }
            int flags = wait ? MSG_NOSIGNAL : MSG_DONTWAIT_NOSIGNAL;
            long sent = again(timeoutNs, state, () -> (long) SENDMSG.invokeExact(state, descriptor, header, flags));
            required("sendmsg", sent, state);
            return true;
        });
    }

    /**
     * Receives a message.
     *
     * @param message of {@link #MESSAGE_BYTES}
     * @return the descriptor that came with it, which is the caller's from now on, or {@link #NONE}
     * @throws IOException also at the end of the connection, if the message has another length, and if more came with it than
     *     one descriptor, or one that this process had no room for
     */
    public int receive(byte[] message) throws IOException {
        return tried((state, arena) -> {
            MemorySegment header = header(arena, message, true);
            MemorySegment control = arena.allocate(CONTROL_BYTES, Long.BYTES);
            header.set(LONG, CONTROL_OFFSET, control.address());
            long got = again(
                    timeoutNs, state, () -> (long) RECVMSG.invokeExact(state, descriptor, header, MSG_CMSG_CLOEXEC));
            required("recvmsg", got, state);
            boolean cut = (header.get(INT, FLAGS_OFFSET) & MSG_CTRUNC) != 0;
            boolean carries = header.get(LONG, CONTROL_LENGTH_OFFSET) >= CONTROL_USED
                    && control.get(INT, CONTROL_LEVEL_OFFSET) == SOL_SOCKET
                    && control.get(INT, CONTROL_TYPE_OFFSET) == SCM_RIGHTS;
            int file = carries ? control.get(INT, CONTROL_DATA_OFFSET) : NONE;
            if (got != MESSAGE_BYTES || cut) {
                if (file != NONE) {
                    Descriptor.close(file);
                }
                throw new IOException(
                        got == 0
                                ? "the peer has closed"
                                : "a message of " + got + " bytes" + (cut ? " with too many descriptors" : ""));
            }
            MemorySegment.copy(body(header), ValueLayout.JAVA_BYTE, 0, message, 0, MESSAGE_BYTES);
            return file;
        });
    }

    private static MemorySegment header(Arena arena, byte[] message, boolean control) {
        if (message.length != MESSAGE_BYTES) {
            throw new IllegalArgumentException("length=" + message.length + ": expected " + MESSAGE_BYTES);
        }
        MemorySegment body = arena.allocateFrom(ValueLayout.JAVA_BYTE, message);
        MemorySegment vector = arena.allocate(LONG, 2);
        vector.setAtIndex(LONG, 0, body.address());
        vector.setAtIndex(LONG, 1, MESSAGE_BYTES);
        MemorySegment header = arena.allocate(HEADER_BYTES, Long.BYTES);
        header.set(LONG, IOV_OFFSET, vector.address());
        header.set(LONG, IOV_COUNT_OFFSET, 1);
        header.set(LONG, CONTROL_LENGTH_OFFSET, control ? CONTROL_USED : 0); // no room for a second descriptor
        return header;
    }

    @SuppressWarnings("restricted")
    private static MemorySegment body(MemorySegment header) {
        MemorySegment vector =
                MemorySegment.ofAddress(header.get(LONG, IOV_OFFSET)).reinterpret(2L * Long.BYTES);
        return MemorySegment.ofAddress(vector.get(LONG, 0)).reinterpret(MESSAGE_BYTES);
    }

    /**
     * Waits until one of them has something: a message, a connection, or its end.
     *
     * @param sockets open
     * @param timeoutMs most; negative for no limit
     * @return for each, whether it has
     */
    public static boolean[] await(List<LocalSocket> sockets, int timeoutMs) throws IOException {
        return tried((state, arena) -> {
            MemorySegment polled = arena.allocate((long) sockets.size() * POLL_BYTES, Long.BYTES);
            for (int i = 0; i < sockets.size(); i++) {
                polled.set(INT, (long) i * POLL_BYTES, sockets.get(i).descriptor);
                polled.set(SHORT, (long) i * POLL_BYTES + Integer.BYTES, POLLIN);
            }
            int ignored = (int) POLL.invokeExact(state, polled, (long) sockets.size(), timeoutMs);
            boolean[] ready = new boolean[sockets.size()];
            for (int i = 0; i < ready.length; i++) {
                ready[i] = polled.get(SHORT, (long) i * POLL_BYTES + POLL_REVENTS) != 0;
            }
            return ready;
        });
    }

    /** Ends the connection, or the listening, for whoever waits on it. Any thread. */
    public void shutdown() {
        closing.lock();
        try {
            if (!closed) {
                int ignored = run((state, arena) -> (int) SHUTDOWN.invokeExact(state, descriptor, SHUT_RDWR));
            }
        } finally {
            closing.unlock();
        }
    }

    @Override
    public void close() {
        closing.lock();
        try {
            if (!closed) {
                closed = true;
                Descriptor.close(descriptor);
            }
        } finally {
            closing.unlock();
        }
    }

    private static void required(String what, long result, MemorySegment state) throws IOException {
        if (result < 0) {
            throw new SystemCallException(what, SystemCalls.errno(state));
        }
    }

    /**
     * A call that waits, and is made again when a signal comes: the kernel does not do so by itself where there is a time limit.
     *
     * @param timeoutNs the kernel counts it anew at each call, so what is over is asked here, too
     */
    private static long again(long timeoutNs, MemorySegment state, Waiting call) throws Throwable {
        long startNs = System.nanoTime();
        long result = call.run();
        while (result < 0 && SystemCalls.errno(state) == SystemCalls.EINTR && System.nanoTime() - startNs < timeoutNs) {
            result = call.run();
        }
        return result;
    }

    private static <T> T run(Call<T> call) {
        try {
            return tried(call);
        } catch (IOException e) {
            throw new IllegalStateException("a system call failed", e);
        }
    }

    private static <T> T tried(Call<T> call) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            return call.run(SystemCalls.newState(arena), arena);
        } catch (IOException | RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException("a system call failed", e);
        }
    }

    /** System calls through method handles, which may throw anything. */
    @FunctionalInterface
    private interface Call<T> {
        T run(MemorySegment state, Arena arena) throws Throwable;
    }

    /** One that waits: its result, negative for an error. */
    @FunctionalInterface
    private interface Waiting {
        long run() throws Throwable;
    }

    /** What a new socket is used for. */
    @FunctionalInterface
    private interface Setup {
        void run(MemorySegment state, Arena arena, int file) throws Throwable;
    }
}
