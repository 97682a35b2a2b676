package org.softrdma.sim.memory;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.softrdma.sim.kernel.ProcFile;
import org.softrdma.sim.kernel.SystemCalls;
import org.softrdma.verbs.MemorySource;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;

/**
 * Page-aligned zeroed memory whose pages cost nothing until they are touched: mmap(2) on Linux, an ordinary allocation (which
 * touches every page, and comes from nowhere else) elsewhere. Anonymous memory from 2 MiB on asks for transparent huge pages
 * (madvise(2), MADV_HUGEPAGE), because random accesses to small pages miss the TLB twice, here and in the kernel's copy; a
 * machine without them gives small ones.
 */
final class PageMemory implements AutoCloseable {
    private static final long PAGE = 4096;
    private static final int PROT_READ_WRITE = 0x3;
    private static final long HUGE_PAGE = 2 << 20;
    private static final int MAP_SHARED = 0x01;
    private static final int MAP_PRIVATE_ANONYMOUS = 0x02 | 0x20;
    private static final int MAP_NORESERVE = 0x4000;
    private static final int MAP_HUGETLB = 0x40000;
    private static final int MADV_HUGEPAGE = 14;
    private static final int NO_FILE = -1;
    /** Beyond this, rounding up leaves the range of a long. */
    private static final long MOST_BYTES = Long.MAX_VALUE - HUGE_PAGE - PAGE;

    private static final Optional<Calls> CALLS = Calls.find();

    private final MemorySegment segment;
    private final Runnable release;

    private PageMemory(MemorySegment segment, Runnable release) {
        this.segment = segment;
        this.release = release;
    }

    /**
     * Allocates.
     *
     * @param length bytes, at least 1
     * @param source where the pages come from
     * @throws VerbsException {@code NO_RESOURCES} if the machine has not that much, {@code NOT_SUPPORTED} if it has none of
     *     that kind
     */
    static PageMemory allocate(long length, MemorySource source) {
        if (length > MOST_BYTES) {
            throw noMemory(length, "more than any address space has");
        }
        if (CALLS.isPresent()) {
            return switch (source) {
                case MemorySource.Anonymous anonymous -> CALLS.get().anonymous(length);
                case MemorySource.HugePages huge -> CALLS.get().hugePages(length);
                case MemorySource.SharedMemory shared -> CALLS.get().sharedMemory(length);
                case MemorySource.File file -> CALLS.get().file(length, file.path());
            };
        }
        if (!(source instanceof MemorySource.Anonymous)) {
            throw new VerbsException(VerbsErrorCode.NOT_SUPPORTED, source + " needs Linux; use anonymous memory");
        }
        Arena arena = Arena.ofShared();
        try {
            return new PageMemory(arena.allocate(length, PAGE), arena::close);
        } catch (OutOfMemoryError e) {
            arena.close();
            throw noMemory(length, String.valueOf(e.getMessage()));
        }
    }

    private static VerbsException noMemory(long length, String why) {
        return new VerbsException(
                VerbsErrorCode.NO_RESOURCES,
                "cannot map " + length + " bytes: " + why
                        + "; ask for less, or look at ulimit -v and vm.max_map_count");
    }

    MemorySegment segment() {
        return segment;
    }

    @Override
    public void close() {
        release.run();
    }

    /**
     * The system calls. Those that say why they failed take the place for errno first, posix_fallocate returns it.
     *
     * @param fallocate posix_fallocate(3)
     */
    private record Calls(
            MethodHandle mmap,
            MethodHandle munmap,
            MethodHandle madvise,
            MethodHandle open,
            MethodHandle memfd,
            MethodHandle ftruncate,
            MethodHandle fallocate,
            MethodHandle close,
            MethodHandle unlink) {
        private static final int O_RDWR_CREAT_EXCL_CLOEXEC = 02 | 0100 | 0200 | 02000000;
        private static final int OWNER_ONLY = 0600;
        private static final int MFD_CLOEXEC = 1;

        static Optional<Calls> find() {
            if (!Files.isDirectory(Path.of("/proc/self"))) {
                return Optional.empty();
            }
            ValueLayout.OfLong number = ValueLayout.JAVA_LONG;
            ValueLayout.OfInt small = ValueLayout.JAVA_INT;
            ValueLayout text = ValueLayout.ADDRESS;
            return Optional.of(new Calls(
                    SystemCalls.withErrno(
                            "mmap", FunctionDescriptor.of(number, number, number, small, small, small, number)),
                    SystemCalls.function("munmap", FunctionDescriptor.of(small, number, number)),
                    SystemCalls.function("madvise", FunctionDescriptor.of(small, number, number, small)),
                    SystemCalls.withErrno(
                            "open",
                            FunctionDescriptor.of(small, text, small, small),
                            Linker.Option.firstVariadicArg(2)),
                    SystemCalls.withErrno("memfd_create", FunctionDescriptor.of(small, text, small)),
                    SystemCalls.withErrno("ftruncate", FunctionDescriptor.of(small, small, number)),
                    SystemCalls.function("posix_fallocate", FunctionDescriptor.of(small, small, number, number)),
                    SystemCalls.function("close", FunctionDescriptor.of(small, small)),
                    SystemCalls.function("unlink", FunctionDescriptor.of(small, text))));
        }

        PageMemory anonymous(long length) {
            boolean huge = length >= HUGE_PAGE;
            // Older kernels do not align it by themselves; what is not touched costs nothing.
            long mapped = roundUp(length, PAGE) + (huge ? HUGE_PAGE : 0);
            long address = map(length, mapped, MAP_PRIVATE_ANONYMOUS | MAP_NORESERVE, NO_FILE);
            long start = huge ? roundUp(address, HUGE_PAGE) : address;
            if (huge) {
                adviseHugePages(start, length);
            }
            return mapped(start, length, () -> unmap(address, mapped));
        }

        PageMemory hugePages(long length) {
            long mapped = roundUp(length, hugePageBytes());
            try {
                return mapped(length, mapped, MAP_PRIVATE_ANONYMOUS | MAP_HUGETLB, NO_FILE);
            } catch (VerbsException e) {
                throw new VerbsException(
                        e.code(),
                        e.getMessage() + "; for huge pages raise vm.nr_hugepages by " + mapped / hugePageBytes(),
                        e);
            }
        }

        PageMemory sharedMemory(long length) {
            return withErrno((errno, arena) -> {
                int file = (int) memfd.invokeExact(errno, arena.allocateFrom("softrdma"), MFD_CLOEXEC);
                if (file < 0) {
                    throw noMemory(length, "memfd_create: " + text(errno));
                }
                try {
                    if ((int) ftruncate.invokeExact(errno, file, roundUp(length, PAGE)) != 0) {
                        throw noMemory(length, "ftruncate: " + text(errno));
                    }
                    return mapped(length, roundUp(length, PAGE), MAP_SHARED | MAP_NORESERVE, file);
                } finally {
                    int ignored = (int) close.invokeExact(file);
                }
            });
        }

        PageMemory file(long length, Path path) {
            return withErrno((errno, arena) -> {
                MemorySegment name = arena.allocateFrom(path.toString());
                int file = (int) open.invokeExact(errno, name, O_RDWR_CREAT_EXCL_CLOEXEC, OWNER_ONLY);
                if (file < 0) {
                    throw new VerbsException(
                            VerbsErrorCode.NO_RESOURCES,
                            "cannot create " + path + ": " + text(errno)
                                    + "; expected a name that does not exist in a directory that can be written");
                }
                try {
                    int ignored = (int) unlink.invokeExact(name);
                    int error = (int) fallocate.invokeExact(file, 0L, roundUp(length, PAGE));
                    if (error != 0) {
                        throw new VerbsException(
                                VerbsErrorCode.NO_RESOURCES,
                                "cannot reserve " + length + " bytes for " + path + ": errno " + error
                                        + "; expected as much room on its disk");
                    }
                    return mapped(length, roundUp(length, PAGE), MAP_SHARED, file);
                } finally {
                    int ignored = (int) close.invokeExact(file);
                }
            });
        }

        private PageMemory mapped(long length, long mapped, int flags, int file) {
            long address = map(length, mapped, flags, file);
            return mapped(address, length, () -> unmap(address, mapped));
        }

        /** A segment that can no longer be used when it has been unmapped. */
        @SuppressWarnings("restricted")
        private static PageMemory mapped(long address, long length, Runnable unmap) {
            try {
                Arena arena = Arena.ofShared();
                MemorySegment segment = NativeMemory.segment(address, length).reinterpret(arena, ended -> unmap.run());
                return new PageMemory(segment, arena::close);
            } catch (Throwable e) {
                unmap.run();
                throw e;
            }
        }

        private long map(long length, long mapped, int flags, int file) {
            return withErrno((errno, arena) -> {
                long address = (long) mmap.invokeExact(errno, 0L, mapped, PROT_READ_WRITE, flags, file, 0L);
                if (address == -1) {
                    throw noMemory(length, text(errno));
                }
                return address;
            });
        }

        private static String text(MemorySegment state) {
            return "errno " + SystemCalls.errno(state);
        }

        private static long roundUp(long number, long unit) {
            return Math.ceilDiv(number, unit) * unit;
        }

        private static <T> T withErrno(SystemCall<T> call) {
            try (Arena arena = Arena.ofConfined()) {
                return call.run(SystemCalls.newState(arena), arena);
            } catch (RuntimeException e) {
                throw e;
            } catch (Throwable e) {
                throw new IllegalStateException("a system call", e);
            }
        }

        private void adviseHugePages(long start, long length) {
            try {
                // A kernel without them says EINVAL, and nothing is lost but speed.
                int ignored = (int) madvise.invokeExact(start, length, MADV_HUGEPAGE);
            } catch (Throwable e) {
                throw new IllegalStateException("madvise of " + length + " bytes", e);
            }
        }

        private void unmap(long address, long mapped) {
            try {
                int result = (int) munmap.invokeExact(address, mapped);
                if (result != 0) {
                    throw new IllegalStateException("munmap of " + mapped + " bytes failed");
                }
            } catch (RuntimeException e) {
                throw e;
            } catch (Throwable e) {
                throw new IllegalStateException("munmap of " + mapped + " bytes", e);
            }
        }

        /** Bytes of the machine's huge pages. */
        private static long hugePageBytes() {
            return ProcFile.numbers("/proc/meminfo").getOrDefault("Hugepagesize", HUGE_PAGE / 1024) * 1024;
        }
    }

    /** Something that calls the system and may throw what method handles throw. */
    @FunctionalInterface
    private interface SystemCall<T> {
        T run(MemorySegment errno, Arena arena) throws Throwable;
    }
}
