package org.softrdma.net.uring;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.ByteOrder;
import java.util.List;
import org.softrdma.net.kernel.ProcFile;
import org.softrdma.net.kernel.SystemCallException;
import org.softrdma.net.kernel.SystemCalls;
import org.softrdma.net.memory.BufferOperations;
import org.softrdma.net.memory.NativeMemory;

/**
 * Finds out by trying whether this process may use io_uring, and whether it does what the loop needs. Versions say
 * little: containers forbid the calls by seccomp, administrators by a sysctl, and distributions add features to old
 * kernels. Any thread, on Linux only.
 */
public final class RingTrial {
    private static final int EPERM = 1;
    private static final int ENOMEM = 12;
    private static final int EACCES = 13;
    private static final int EINVAL = 22;
    private static final int EMFILE = 24;
    private static final int ENFILE = 23;
    private static final int ENOSYS = 38;

    private static final String DISABLED = "/proc/sys/kernel/io_uring_disabled";

    private static final int AF_UNIX = 1;
    /** SOCK_STREAM, SOCK_NONBLOCK and SOCK_CLOEXEC. */
    private static final int SOCKET_TYPE = 0x80801;

    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;
    private static final MethodHandle SOCKETPAIR =
            SystemCalls.withErrno("socketpair", FunctionDescriptor.of(INT, INT, INT, INT, LONG));
    private static final MethodHandle WRITE =
            SystemCalls.function("write", FunctionDescriptor.of(LONG, INT, LONG, LONG));

    private static final int SUBMISSIONS = 8;
    private static final int COMPLETIONS = 32;
    private static final int BUFFERS = 2;
    private static final int BUFFER_BYTES = 64;
    private static final int MESSAGE_BYTES = 8;
    /** The same piece of memory this often: more than a socket takes. */
    private static final int PIECES = 256;

    private static final int PIECE_BYTES = 64 * 1024;

    private RingTrial() {}

    /**
     * Refuses if io_uring cannot be used here.
     *
     * @throws IOException says why
     */
    public static void require() throws IOException {
        if (ByteOrder.nativeOrder() != ByteOrder.LITTLE_ENDIAN) {
            throw new IOException("its layouts are written for little-endian machines");
        }
        try {
            tryIt();
        } catch (SystemCallException e) {
            throw new IOException(e.getMessage() + meaning(e.errno()), e);
        } catch (UncheckedIOException e) {
            throw e.getCause() instanceof SystemCallException refused
                    ? new IOException(refused.getMessage() + meaning(refused.errno()), refused)
                    : e.getCause();
        } catch (RuntimeException | LinkageError e) {
            throw new IOException("cannot call it: " + e, e);
        }
    }

    private static String meaning(int errno) {
        return switch (errno) {
            case EPERM, EACCES -> {
                List<String> disabled = ProcFile.lines(DISABLED);
                yield disabled.isEmpty() || disabled.getFirst().equals("0")
                        ? " (forbidden, most likely by the seccomp filter of a container)"
                        : " (sysctl kernel.io_uring_disabled=" + disabled.getFirst() + ")";
            }
            case ENOSYS -> " (this kernel has no io_uring)";
            case EINVAL -> " (this kernel's io_uring is too old: Linux 6.1 has what is needed)";
            case ENOMEM -> " (no memory for it; old kernels count it as locked memory, ulimit -l)";
            case EMFILE, ENFILE -> " (no descriptor is left)";
            default -> "";
        };
    }

    /** A short message is received ahead, and a send that does not fit is over when the call returns. */
    private static void tryIt() throws IOException {
        BufferOperations memory = new BufferOperations();
        try (Arena arena = Arena.ofShared();
                Ring ring = new Ring(RingCalls::new, memory, SUBMISSIONS, COMPLETIONS);
                ProvidedBuffers buffers = new ProvidedBuffers(memory, ring, BUFFERS, BUFFER_BYTES)) {
            ring.enable();
            MemorySegment pair = arena.allocate(INT, 2);
            MemorySegment state = SystemCalls.newState(arena);
            try {
                if ((int) SOCKETPAIR.invokeExact(state, AF_UNIX, SOCKET_TYPE, 0, pair.address()) < 0) {
                    throw new SystemCallException("socketpair", SystemCalls.errno(state));
                }
            } catch (IOException e) {
                throw e;
            } catch (Throwable e) {
                throw SystemCalls.failed("socketpair", e);
            }
            int here = pair.getAtIndex(INT, 0);
            int there = pair.getAtIndex(INT, 1);
            try {
                receive(ring, buffers, here, there, arena);
                send(ring, here, arena); // nobody receives at the other end
            } finally {
                ring.closeDescriptor(here);
                ring.closeDescriptor(there);
            }
        }
    }

    private static void receive(Ring ring, ProvidedBuffers buffers, int here, int there, Arena arena)
            throws IOException {
        SubmissionEntry.receive(ring.entry(), here, ProvidedBuffers.GROUP, 1);
        require(ring.submit(), "it takes no request");
        MemorySegment message = arena.allocate(MESSAGE_BYTES);
        long written;
        try {
            written = (long) WRITE.invokeExact(there, message.address(), (long) MESSAGE_BYTES);
        } catch (Throwable e) {
            throw SystemCalls.failed("write", e);
        }
        require(written == MESSAGE_BYTES && ring.submit(), "a message was not sent");
        int completion = ring.firstCompletion();
        require(completion != ring.lastCompletion(), "a message was not received");
        require(ring.result(completion) == MESSAGE_BYTES, "multishot receive failed: " + ring.result(completion));
        require((ring.flags(completion) & 2) != 0, "multishot receive ends after a message");
        buffers.taken(ring.flags(completion) >>> Short.SIZE, MESSAGE_BYTES);
        buffers.giveBack(ring.flags(completion) >>> Short.SIZE);
        ring.advance(completion + 1);
    }

    private static void send(Ring ring, int descriptor, Arena arena) throws IOException {
        long piece = arena.allocate(PIECE_BYTES).address();
        long vectors = arena.allocate(2L * PIECES * Long.BYTES, Long.BYTES).address();
        for (int i = 0; i < PIECES; i++) {
            NativeMemory.putNativeLong(vectors + 2L * i * Long.BYTES, piece);
            NativeMemory.putNativeLong(vectors + (2L * i + 1) * Long.BYTES, PIECE_BYTES);
        }
        long header = arena.allocate(MessageHeader.BYTES, Long.BYTES).address();
        MessageHeader.set(header, vectors, PIECES);
        for (int i = 0; i < 2; i++) {
            SubmissionEntry.sendMessage(ring.entry(), descriptor, header, SubmissionEntry.SEND_DONTWAIT, 2);
            require(ring.submit(), "it takes no request");
            int completion = ring.firstCompletion();
            require(completion != ring.lastCompletion(), "a send to a full socket is not over when the call returns");
            int expected = -RingCalls.EAGAIN;
            int result = ring.result(completion);
            require(
                    i == 0 ? result > 0 && result < PIECES * PIECE_BYTES : result == expected,
                    "a send to a full socket: " + result);
            ring.advance(completion + 1);
        }
    }

    private static void require(boolean condition, String otherwise) throws IOException {
        if (!condition) {
            throw new IOException(otherwise);
        }
    }
}
