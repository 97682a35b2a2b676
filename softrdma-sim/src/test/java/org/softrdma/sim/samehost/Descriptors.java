package org.softrdma.sim.samehost;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.softrdma.net.kernel.Descriptor;
import org.softrdma.net.kernel.SystemCalls;

/** What a peer that means harm does with descriptors. */
final class Descriptors {
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;
    private static final MethodHandle MEMFD =
            SystemCalls.function("memfd_create", FunctionDescriptor.of(INT, ValueLayout.ADDRESS, INT));
    private static final MethodHandle FTRUNCATE =
            SystemCalls.withErrno("ftruncate", FunctionDescriptor.of(INT, INT, LONG));
    private static final MethodHandle OPEN = SystemCalls.withErrno(
            "open", FunctionDescriptor.of(INT, ValueLayout.ADDRESS, INT, INT), Linker.Option.firstVariadicArg(2));
    private static final MethodHandle MMAP =
            SystemCalls.withErrno("mmap", FunctionDescriptor.of(LONG, LONG, LONG, INT, INT, INT, LONG));
    private static final MethodHandle PWRITE =
            SystemCalls.withErrno("pwrite", FunctionDescriptor.of(LONG, INT, ValueLayout.ADDRESS, LONG, LONG));
    private static final MethodHandle FALLOCATE =
            SystemCalls.withErrno("fallocate", FunctionDescriptor.of(INT, INT, INT, LONG, LONG));
    private static final MethodHandle MPROTECT =
            SystemCalls.withErrno("mprotect", FunctionDescriptor.of(INT, LONG, LONG, INT));
    private static final MethodHandle FCNTL = SystemCalls.withErrno(
            "fcntl", FunctionDescriptor.of(INT, INT, INT, INT), Linker.Option.firstVariadicArg(2));
    private static final int O_RDWR = 2;
    private static final int PROT_READ_WRITE = 3;
    private static final int MAP_SHARED = 1;
    private static final int PUNCH_HOLE_KEEP_SIZE = 2 | 1;
    private static final int F_ADD_SEALS = 1033;
    private static final int F_SEAL_WRITE = 8;

    private static final int F_SEAL_SHRINK = 2;
    private static final int MFD_ALLOW_SEALING = 2;
    private static final int MFD_HUGETLB = 4;
    private static final int HUGE_PAGE = 2 << 20;
    private static final int PROT_READ = 1;
    private static final int MAP_SHARED_FIXED = 0x11;

    private Descriptors() {}

    /** Memory that cannot become shorter, in huge pages; or -1. Touching it is SIGBUS where the machine has none. */
    static int inHugePages() {
        return (int) call((state, arena) -> {
            int file = (int) MEMFD.invokeExact(arena.allocateFrom("huge"), MFD_ALLOW_SEALING | MFD_HUGETLB);
            boolean made = file >= 0
                    && (int) FTRUNCATE.invokeExact(state, file, (long) HUGE_PAGE) == 0
                    && (int) FCNTL.invokeExact(state, file, F_ADD_SEALS, F_SEAL_SHRINK) == 0;
            return made ? file : -1L;
        });
    }

    /** Replaces a mapping of this process by one whose pages cannot be had: touching it is SIGBUS. */
    static void lose(long address, long length) {
        int empty = unsealed(0);
        long mapped = call((state, arena) ->
                (long) MMAP.invokeExact(state, address, length, PROT_READ, MAP_SHARED_FIXED, empty, 0L));
        Descriptor.close(empty);
        if (mapped != address) {
            throw new AssertionError("mmap at " + address + ": " + mapped);
        }
    }

    /** Does so with all mappings for reading only whose name has a word in it; returns how many there were. */
    static int loseMappings(String name) throws IOException {
        int count = 0;
        for (String line : Files.readAllLines(Path.of("/proc/self/maps"))) {
            if (line.contains(name) && line.contains(" r--s ")) {
                String[] ends = line.substring(0, line.indexOf(' ')).split("-", 2);
                long start = Long.parseUnsignedLong(ends[0], 16);
                lose(start, Long.parseUnsignedLong(ends[1], 16) - start);
                count++;
            }
        }
        return count;
    }

    /** The number of open descriptors of this process whose file has a word in its name. */
    static int open(String name) throws IOException {
        int count = 0;
        try (Stream<Path> all = Files.list(Path.of("/proc/self/fd"))) {
            for (Path descriptor : all.toList()) {
                try {
                    count += Files.readSymbolicLink(descriptor).toString().contains(name) ? 1 : 0;
                } catch (NoSuchFileException e) {
                    // closed meanwhile by somebody else
                }
            }
        }
        return count;
    }

    /** Memory without a seal. */
    static int unsealed(long length) {
        return (int) call((state, arena) -> {
            int file = (int) MEMFD.invokeExact(arena.allocateFrom("page"), 2);
            return (long) (int) FTRUNCATE.invokeExact(state, file, length) == 0 ? file : -1L;
        });
    }

    /** Opens what a descriptor of this process names for writing, too; or -1. */
    static int reopened(int file) {
        return (int) call((state, arena) ->
                (long) (int) OPEN.invokeExact(state, arena.allocateFrom("/proc/self/fd/" + file), O_RDWR, 0));
    }

    /** The errno of a shared mapping that could be written, or 0. */
    static int mapWritable(int file, long length) {
        return errno(
                (state, arena) -> (long) MMAP.invokeExact(state, 0L, length, PROT_READ_WRITE, MAP_SHARED, file, 0L));
    }

    /** The errno of making a mapping writable, or 0. */
    static int makeWritable(long address, long length) {
        return errno((state, arena) -> (long) (int) MPROTECT.invokeExact(state, address, length, PROT_READ_WRITE));
    }

    /** The errno of writing, or 0. */
    static int write(int file) {
        return errno((state, arena) -> (long) PWRITE.invokeExact(state, file, arena.allocateFrom("x"), 1L, 0L));
    }

    /** The errno of making it shorter, or 0. */
    static int shorten(int file) {
        return errno((state, arena) -> (long) (int) FTRUNCATE.invokeExact(state, file, 0L));
    }

    /** The errno of giving pages back, or 0. */
    static int punchHole(int file, long length) {
        return errno(
                (state, arena) -> (long) (int) FALLOCATE.invokeExact(state, file, PUNCH_HOLE_KEEP_SIZE, 0L, length));
    }

    /** The errno of a further seal, or 0. */
    static int seal(int file) {
        return errno((state, arena) -> (long) (int) FCNTL.invokeExact(state, file, F_ADD_SEALS, F_SEAL_WRITE));
    }

    private static int errno(Call call) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = SystemCalls.newState(arena);
            return call.run(state, arena) == -1 ? SystemCalls.errno(state) : 0;
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    private static long call(Call call) {
        try (Arena arena = Arena.ofConfined()) {
            return call.run(SystemCalls.newState(arena), arena);
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /** A system call. */
    @FunctionalInterface
    private interface Call {
        long run(MemorySegment state, Arena arena) throws Throwable;
    }
}
