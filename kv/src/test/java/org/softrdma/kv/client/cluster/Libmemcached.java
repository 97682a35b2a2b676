package org.softrdma.kv.client.cluster;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.List;
import org.junit.jupiter.api.Assumptions;

/**
 * The real libmemcached, asked where keys live; the test is skipped if it is not installed. It connects to nobody. The
 * names are its own, the numbers from its {@code constants.h}.
 */
final class Libmemcached implements AutoCloseable {
    private static final String LIBRARY = "libmemcached.so.11";
    private static final int BEHAVIOR_KETAMA_WEIGHTED = 16;

    private static final Linker LINKER = Linker.nativeLinker();

    private final Arena arena = Arena.ofConfined();
    private final SymbolLookup library;
    private final MemorySegment memcached;
    private final MethodHandle serverByKey;
    private final MethodHandle serverPort;

    Libmemcached(List<ClusterServer> servers) throws Throwable {
        library = load(arena);
        memcached = (MemorySegment)
                function("memcached_create", FunctionDescriptor.of(ValueLayout.ADDRESS, ValueLayout.ADDRESS))
                        .invokeExact(MemorySegment.NULL);
        int ok = (int) function(
                        "memcached_behavior_set",
                        FunctionDescriptor.of(
                                ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG))
                .invokeExact(memcached, BEHAVIOR_KETAMA_WEIGHTED, 1L);
        MethodHandle add = function(
                "memcached_server_add_with_weight",
                FunctionDescriptor.of(
                        ValueLayout.JAVA_INT,
                        ValueLayout.ADDRESS,
                        ValueLayout.ADDRESS,
                        ValueLayout.JAVA_SHORT,
                        ValueLayout.JAVA_INT));
        for (ClusterServer server : servers) {
            ok |= (int) add.invokeExact(
                    memcached, arena.allocateFrom(server.host()), (short) server.port(), server.weight());
        }
        if (ok != 0) {
            throw new IllegalStateException("libmemcached refuses " + servers);
        }
        serverByKey = function(
                "memcached_server_by_key",
                FunctionDescriptor.of(
                        ValueLayout.ADDRESS,
                        ValueLayout.ADDRESS,
                        ValueLayout.ADDRESS,
                        ValueLayout.JAVA_LONG,
                        ValueLayout.ADDRESS));
        serverPort =
                function("memcached_server_port", FunctionDescriptor.of(ValueLayout.JAVA_SHORT, ValueLayout.ADDRESS));
    }

    @SuppressWarnings("restricted")
    private static SymbolLookup load(Arena arena) {
        try {
            return SymbolLookup.libraryLookup(LIBRARY, arena);
        } catch (IllegalArgumentException e) {
            return Assumptions.abort(LIBRARY + " is not installed; ./ci/install installs it");
        }
    }

    @SuppressWarnings("restricted")
    private MethodHandle function(String name, FunctionDescriptor descriptor) {
        return LINKER.downcallHandle(library.find(name).orElseThrow(), descriptor);
    }

    /** Port of the server that a key lives on. */
    int port(byte[] key) throws Throwable {
        try (Arena call = Arena.ofConfined()) {
            MemorySegment text = call.allocateFrom(ValueLayout.JAVA_BYTE, key);
            MemorySegment error = call.allocate(ValueLayout.JAVA_INT);
            MemorySegment server = (MemorySegment) serverByKey.invokeExact(memcached, text, (long) key.length, error);
            return Short.toUnsignedInt((short) serverPort.invokeExact(server));
        }
    }

    @Override
    public void close() {
        try {
            function("memcached_free", FunctionDescriptor.ofVoid(ValueLayout.ADDRESS))
                    .invokeExact(memcached);
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
        arena.close();
    }
}
