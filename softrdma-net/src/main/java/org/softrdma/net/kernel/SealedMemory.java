package org.softrdma.net.kernel;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/**
 * Memory that one process writes and others can only read (memfd_create(2)). Its owner maps it writable first and then
 * seals it: F_SEAL_FUTURE_WRITE refuses every later way to write it, also to the owner, F_SEAL_SHRINK and F_SEAL_GROW
 * keep its length, so that no reader meets the end of the file (SIGBUS), F_SEAL_SEAL keeps the seals. What is handed
 * over is a descriptor opened for reading only.
 *
 * <p>Linux only: elsewhere this class cannot be loaded. Any thread; close once.
 */
public final class SealedMemory implements AutoCloseable {
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    private static final int PAGE = 4096;
    private static final int MFD_CLOEXEC_ALLOW_SEALING = 1 | 2;
    private static final int O_RDONLY_CLOEXEC = 02000000;
    private static final int PROT_READ = 1;
    private static final int PROT_READ_WRITE = 3;
    private static final int MAP_SHARED = 1;
    private static final int MAP_SHARED_NORESERVE = MAP_SHARED | 0x4000;
    private static final int F_ADD_SEALS = 1033;
    private static final int F_GET_SEALS = 1034;
    private static final int F_SEAL_SEAL = 1;
    private static final int F_SEAL_SHRINK = 2;
    private static final int F_SEAL_GROW = 4;
    private static final int F_SEAL_FUTURE_WRITE = 16;
    private static final int SEALS = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE;
    private static final int SEEK_END = 2;
    /** Bytes of a {@code struct statfs}, which begins with the type of the file system, and room behind it. */
    private static final int FILE_SYSTEM_BYTES = 256;

    /** Of shared memory in the machine's ordinary pages. */
    private static final long TMPFS_MAGIC = 0x0102_1994;

    private static final int NONE = -1;

    private static final MethodHandle MEMFD =
            SystemCalls.withErrno("memfd_create", FunctionDescriptor.of(INT, ValueLayout.ADDRESS, INT));
    private static final MethodHandle FTRUNCATE =
            SystemCalls.withErrno("ftruncate", FunctionDescriptor.of(INT, INT, LONG));
    private static final MethodHandle MMAP =
            SystemCalls.withErrno("mmap", FunctionDescriptor.of(LONG, LONG, LONG, INT, INT, INT, LONG));
    private static final MethodHandle MUNMAP = SystemCalls.withErrno("munmap", FunctionDescriptor.of(INT, LONG, LONG));
    private static final MethodHandle FCNTL = SystemCalls.withErrno(
            "fcntl", FunctionDescriptor.of(INT, INT, INT, INT), Linker.Option.firstVariadicArg(2));
    private static final MethodHandle OPEN = SystemCalls.withErrno(
            "open", FunctionDescriptor.of(INT, ValueLayout.ADDRESS, INT, INT), Linker.Option.firstVariadicArg(2));
    private static final MethodHandle LSEEK =
            SystemCalls.withErrno("lseek", FunctionDescriptor.of(LONG, INT, LONG, INT));
    private static final MethodHandle FSTATFS =
            SystemCalls.withErrno("fstatfs", FunctionDescriptor.of(INT, INT, ValueLayout.ADDRESS));

    private final long address;
    private final long mapped;
    private final int descriptor;

    private SealedMemory(long address, long mapped, int descriptor) {
        this.address = address;
        this.mapped = mapped;
        this.descriptor = descriptor;
    }

    /**
     * Makes zeroed memory that only this mapping can write. Its pages cost nothing until they are touched.
     *
     * @param name in /proc/PID/maps
     * @param length bytes, at least 1
     */
    public static SealedMemory create(String name, long length) throws IOException {
        long whole = Math.ceilDiv(length, PAGE) * (long) PAGE;
        return run((state, arena) -> {
            int file = (int) required(
                    "memfd_create",
                    (int) MEMFD.invokeExact(state, arena.allocateFrom(name), MFD_CLOEXEC_ALLOW_SEALING),
                    state);
            try {
                long ignored = required("ftruncate", (int) FTRUNCATE.invokeExact(state, file, whole), state);
                long at = map(state, file, whole, PROT_READ_WRITE, MAP_SHARED_NORESERVE);
                try {
                    ignored = required("F_ADD_SEALS", (int) FCNTL.invokeExact(state, file, F_ADD_SEALS, SEALS), state);
                    MemorySegment path = arena.allocateFrom("/proc/self/fd/" + file);
                    int reading = (int) OPEN.invokeExact(state, path, O_RDONLY_CLOEXEC, 0);
                    return new SealedMemory(at, whole, (int) required("open of " + name, reading, state));
                } catch (Throwable e) {
                    unmap(at, whole);
                    throw e;
                }
            } finally {
                Descriptor.close(file);
            }
        });
    }

    /**
     * Maps memory of another process for reading.
     *
     * @param file its descriptor, which this call closes in any case
     * @param length bytes that it must have
     * @throws IOException also if it is shorter, or could become so, or if it is in huge pages, which the machine need not
     *     have: whoever reads it would meet SIGBUS
     */
    public static SealedMemory open(int file, long length) throws IOException {
        return run((state, arena) -> {
            try {
                int seals = (int) FCNTL.invokeExact(state, file, F_GET_SEALS, 0);
                if (seals < 0 || (seals & F_SEAL_SHRINK) == 0) { // first: other files might answer late
                    throw new IOException("seals " + seals + ": expected shared memory that cannot become shorter");
                }
                long bytes = required("lseek", (long) LSEEK.invokeExact(state, file, 0L, SEEK_END), state);
                if (length < 1 || bytes < length) {
                    throw new IOException(
                            "shared memory of " + bytes + " bytes: expected at least " + length + " bytes");
                }
                MemorySegment system = arena.allocate(FILE_SYSTEM_BYTES, Long.BYTES);
                long ignored = required("fstatfs", (int) FSTATFS.invokeExact(state, file, system), state);
                if (system.get(LONG, 0) != TMPFS_MAGIC) {
                    throw new IOException("shared memory of file system " + Long.toHexString(system.get(LONG, 0))
                            + ": expected ordinary pages (" + Long.toHexString(TMPFS_MAGIC) + ")");
                }
                return new SealedMemory(map(state, file, length, PROT_READ, MAP_SHARED_NORESERVE), length, NONE);
            } finally {
                Descriptor.close(file);
            }
        });
    }

    /** First address. */
    public long address() {
        return address;
    }

    /** Bytes that may be used. */
    public long length() {
        return mapped;
    }

    /** The descriptor to hand over, for reading only; of memory that was made here. */
    public int descriptor() {
        return descriptor;
    }

    @Override
    public void close() {
        unmap(address, mapped);
        if (descriptor != NONE) {
            Descriptor.close(descriptor);
        }
    }

    private static void unmap(long address, long length) {
        try {
            boolean ignored = run((state, arena) -> (int) MUNMAP.invokeExact(state, address, length) == 0);
        } catch (IOException e) {
            throw new IllegalStateException("munmap", e);
        }
    }

    private static long map(MemorySegment state, int file, long length, int protection, int flags) throws Throwable {
        return required("mmap", (long) MMAP.invokeExact(state, 0L, length, protection, flags, file, 0L), state);
    }

    private static long required(String what, long result, MemorySegment state) throws IOException {
        if (result == -1) {
            throw new SystemCallException(what, SystemCalls.errno(state));
        }
        return result;
    }

    private static <T> T run(Call<T> call) throws IOException {
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
}
