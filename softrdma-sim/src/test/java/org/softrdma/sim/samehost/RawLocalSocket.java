package org.softrdma.sim.samehost;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.charset.StandardCharsets;
import org.softrdma.net.kernel.Descriptor;
import org.softrdma.net.kernel.LocalSocket;
import org.softrdma.net.kernel.SystemCalls;

/** A Unix socket by which a peer that means harm sends messages of any length, with any number of descriptors. */
final class RawLocalSocket implements AutoCloseable {
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;
    private static final short AF_UNIX = 1;
    private static final int SEQPACKET_CLOEXEC = 5 | 02000000;
    private static final int SOL_SOCKET = 1;
    private static final int SCM_RIGHTS = 1;
    private static final int MSG_NOSIGNAL = 0x4000;
    private static final int HEADER_BYTES = 56;
    private static final int CONTROL_BYTES = 16;

    private static final FunctionDescriptor WITH_ADDRESS = FunctionDescriptor.of(INT, INT, ValueLayout.ADDRESS, INT);
    private static final MethodHandle SOCKET =
            SystemCalls.function("socket", FunctionDescriptor.of(INT, INT, INT, INT));
    private static final MethodHandle CONNECT = SystemCalls.function("connect", WITH_ADDRESS);
    private static final MethodHandle BIND = SystemCalls.function("bind", WITH_ADDRESS);
    private static final MethodHandle LISTEN = SystemCalls.function("listen", FunctionDescriptor.of(INT, INT, INT));
    private static final MethodHandle ACCEPT =
            SystemCalls.function("accept", FunctionDescriptor.of(INT, INT, LONG, LONG));
    private static final MethodHandle SENDMSG =
            SystemCalls.function("sendmsg", FunctionDescriptor.of(LONG, INT, ValueLayout.ADDRESS, INT));
    private static final MethodHandle RECV =
            SystemCalls.function("recv", FunctionDescriptor.of(LONG, INT, ValueLayout.ADDRESS, LONG, INT));

    private final int descriptor;

    private RawLocalSocket(int descriptor) {
        this.descriptor = descriptor;
    }

    static RawLocalSocket connect(String name) throws IOException {
        return opened(name, CONNECT);
    }

    static RawLocalSocket listen(String name) throws IOException {
        RawLocalSocket socket = opened(name, BIND);
        required("listen", call(arena -> (long) (int) LISTEN.invokeExact(socket.descriptor, 8)));
        return socket;
    }

    private static RawLocalSocket opened(String name, MethodHandle call) throws IOException {
        long file = call(arena -> (long) (int) SOCKET.invokeExact((int) AF_UNIX, SEQPACKET_CLOEXEC, 0));
        RawLocalSocket socket = new RawLocalSocket((int) required("socket", file));
        required(name, call(arena -> {
            byte[] bytes = name.getBytes(StandardCharsets.US_ASCII);
            MemorySegment address = arena.allocate(Short.BYTES + 1 + bytes.length, Long.BYTES);
            address.set(ValueLayout.JAVA_SHORT, 0, AF_UNIX);
            MemorySegment.copy(bytes, 0, address, ValueLayout.JAVA_BYTE, Short.BYTES + 1, bytes.length);
            return (long) (int) call.invokeExact(socket.descriptor, address, (int) address.byteSize());
        }));
        return socket;
    }

    RawLocalSocket accept() throws IOException {
        return new RawLocalSocket((int) required(
                "accept", call(arena -> (long) (int) ACCEPT.invokeExact(descriptor, 0L, 0L))));
    }

    /** Sends a message with copies of descriptors. */
    void send(byte[] message, int... files) throws IOException {
        required("sendmsg", call(arena -> {
            MemorySegment vector = arena.allocate(LONG, 2);
            vector.setAtIndex(
                    LONG, 0, arena.allocateFrom(ValueLayout.JAVA_BYTE, message).address());
            vector.setAtIndex(LONG, 1, message.length);
            MemorySegment header = arena.allocate(HEADER_BYTES, Long.BYTES);
            header.set(LONG, 16, vector.address());
            header.set(LONG, 24, 1);
            if (files.length > 0) {
                long used = CONTROL_BYTES + (long) files.length * Integer.BYTES;
                MemorySegment control = arena.allocate(used + Integer.BYTES, Long.BYTES);
                control.set(LONG, 0, used);
                control.set(INT, 8, SOL_SOCKET);
                control.set(INT, 12, SCM_RIGHTS);
                for (int i = 0; i < files.length; i++) {
                    control.set(INT, CONTROL_BYTES + (long) i * Integer.BYTES, files[i]);
                }
                header.set(LONG, 32, control.address());
                header.set(LONG, 40, used);
            }
            return (long) SENDMSG.invokeExact(descriptor, header, MSG_NOSIGNAL);
        }));
    }

    /** The next message, without what comes with it. */
    byte[] receive() throws IOException {
        byte[] message = new byte[LocalSocket.MESSAGE_BYTES];
        long got = required("recv", call(arena -> {
            MemorySegment bytes = arena.allocate(message.length);
            long length = (long) RECV.invokeExact(descriptor, bytes, bytes.byteSize(), 0);
            MemorySegment.copy(bytes, ValueLayout.JAVA_BYTE, 0, message, 0, message.length);
            return length;
        }));
        if (got == 0) {
            throw new IOException("the peer has closed");
        }
        return message;
    }

    @Override
    public void close() {
        Descriptor.close(descriptor);
    }

    private static long required(String what, long result) throws IOException {
        if (result < 0) {
            throw new IOException(what + " failed");
        }
        return result;
    }

    private static long call(Call call) {
        try (Arena arena = Arena.ofConfined()) {
            return call.run(arena);
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /** A system call. */
    @FunctionalInterface
    private interface Call {
        long run(Arena arena) throws Throwable;
    }
}
