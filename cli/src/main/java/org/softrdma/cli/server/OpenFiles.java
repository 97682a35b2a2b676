package org.softrdma.cli.server;

import com.sun.management.UnixOperatingSystemMXBean;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.util.Optional;

/**
 * The limit of open files, as memcached treats it: raised to what the connections need if the process may, which takes
 * root. The JVM itself has raised the soft limit to the hard one already. No state.
 */
final class OpenFiles {
    /** The JVM's, the device's and the listening sockets. */
    private static final int OWN = 100;

    private static final int PER_THREAD = 8;

    /** A connection and its queue pair. */
    private static final int PER_CLIENT = 2;

    /** RLIMIT_NOFILE of Linux on the processors that Java runs on. */
    private static final int NUMBER_OF_FILES = 7;

    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;

    private OpenFiles() {}

    /**
     * Raises the limit if it is too low.
     *
     * @param connections that clients may have
     * @param threads that serve them
     * @return a sentence if it still is too low
     */
    static Optional<String> makeRoom(int connections, int threads) {
        long needed = needed(connections, threads);
        long limit = limit();
        return limit >= needed || raise(needed) ? Optional.empty() : Optional.of(warning(connections, needed, limit));
    }

    static long needed(int connections, int threads) {
        return (long) PER_CLIENT * connections + (long) PER_THREAD * threads + OWN;
    }

    static String warning(int connections, long needed, long limit) {
        return "-c " + connections + " with a queue pair for each connection needs up to " + needed
                + " open files, and the limit is " + limit
                + ": clients beyond it wait until others leave. Raise it (ulimit -n " + needed + "), or lower -c.";
    }

    /** That of the process; no limit where the system does not tell. */
    private static long limit() {
        return ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean system
                ? system.getMaxFileDescriptorCount()
                : Long.MAX_VALUE;
    }

    /** False if the process may not. */
    @SuppressWarnings("restricted")
    private static boolean raise(long needed) {
        try (Arena arena = Arena.ofConfined()) {
            Linker linker = Linker.nativeLinker();
            Optional<MemorySegment> function = linker.defaultLookup().find("setrlimit");
            if (function.isEmpty() || !"Linux".equals(System.getProperty("os.name"))) {
                return false;
            }
            MemorySegment softAndHard = arena.allocateFrom(LONG, needed, needed);
            return (int) linker.downcallHandle(function.get(), FunctionDescriptor.of(INT, INT, ValueLayout.ADDRESS))
                            .invokeExact(NUMBER_OF_FILES, softAndHard)
                    == 0;
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException(e); // it throws nothing
        }
    }
}
