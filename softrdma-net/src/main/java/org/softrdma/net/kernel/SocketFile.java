package org.softrdma.net.kernel;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/**
 * The file of a Unix socket that listens (unix(7)). Linux only: elsewhere this class cannot be loaded. Stateless; any thread.
 *
 * <pre>
 *   struct sockaddr_un
 *   |  family  |   0, native byte order
 *   |  path    |   2, at most 107 bytes and a zero
 * </pre>
 */
public final class SocketFile {
    /** Bytes of a path: sun_path without its last zero. */
    public static final int MAX_PATH_BYTES = 107;

    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    private static final short AF_UNIX = 1;
    private static final MethodHandle BIND =
            SystemCalls.withErrno("bind", FunctionDescriptor.of(INT, INT, ValueLayout.ADDRESS, INT));

    private SocketFile() {}

    /**
     * Binds a socket to a file, which this makes.
     *
     * @param descriptor of the socket
     * @param file that does not exist; the kernel is given its path in UTF-8
     * @throws SystemCallException if the kernel refuses, for example because it exists
     * @throws IOException if the path has no bytes, or too many
     */
    public static void bind(int descriptor, Path file) throws IOException {
        byte[] path = file.toString().getBytes(StandardCharsets.UTF_8);
        if (path.length == 0 || path.length > MAX_PATH_BYTES) {
            throw new IOException("the path has " + path.length + " bytes: expected 1 to " + MAX_PATH_BYTES);
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment address = arena.allocate(Short.BYTES + path.length + 1, Short.BYTES);
            address.set(ValueLayout.JAVA_SHORT, 0, AF_UNIX);
            MemorySegment.copy(path, 0, address, ValueLayout.JAVA_BYTE, Short.BYTES, path.length);
            MemorySegment state = SystemCalls.newState(arena);
            if (bind(state, descriptor, address) < 0) {
                throw new SystemCallException("bind", SystemCalls.errno(state));
            }
        }
    }

    private static int bind(MemorySegment state, int descriptor, MemorySegment address) {
        try {
            return (int) BIND.invokeExact(state, descriptor, address, (int) address.byteSize());
        } catch (Throwable e) {
            throw SystemCalls.failed("bind", e);
        }
    }
}
