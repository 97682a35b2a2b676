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
import org.softrdma.net.kernel.HugePages;
import org.softrdma.net.kernel.ProcFile;
import org.softrdma.net.kernel.SystemCalls;
import org.softrdma.net.memory.NativeMemory;
import org.softrdma.verbs.MemorySource;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;

/**
 * Page-aligned zeroed memory whose pages cost nothing until they are touched: mmap(2) on Linux, an ordinary anonymous
 * allocation elsewhere, which touches every page. Anonymous memory of 2 MiB and more asks for transparent huge pages
 * (madvise(2), MADV_HUGEPAGE) where they are worthwhile ({@link HugePages}), and refuses them elsewhere, because random accesses to small pages miss
 * the TLB twice, here and in the kernel's copy. A machine without huge pages gives small ones.
 */
public final class PageMemory implements AutoCloseable {
    private static final long PAGE = 4096;
    private static final int PROT_READ_WRITE = 0x3;
    private static final long HUGE_PAGE = 2 << 20;
    private static final int MAP_SHARED = 0x01;
    private static final int MAP_PRIVATE_ANONYMOUS = 0x02 | 0x20;
    private static final int MAP_NORESERVE = 0x4000;
    private static final int MAP_HUGETLB = 0x40000;
    private static final int MADV_HUGEPAGE = 14;
    private static final int MADV_NOHUGEPAGE = 15;
    private static final int NO_FILE = -1;
    /** Above this, rounding up overflows a long. */
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
     * @param place where anonymous or shared memory is to begin if nothing else is there, 0 for anywhere
     * @throws VerbsException {@code NO_RESOURCES} if the machine has not that much, {@code NOT_SUPPORTED} if it has
     *     none of that kind
     */
    public static PageMemory allocate(long length, MemorySource source, long place) {
        if (length > MOST_BYTES) {
            throw noMemory(length, "more than an address space can hold");
        }
        if (CALLS.isPresent()) {
            return switch (source) {
                case MemorySource.Anonymous anonymous -> CALLS.get().anonymous(length, place);
                case MemorySource.HugePages huge -> CALLS.get().hugePages(length);
                case MemorySource.SharedMemory shared -> CALLS.get().sharedMemory(length, place);
                case MemorySource.Shareable shareable -> throw notShareable();
                case MemorySource.File file -> CALLS.get().file(length, file.path());
            };
        }
        if (source instanceof MemorySource.Shareable) {
            throw notShareable();
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

    private static VerbsException notShareable() {
        return new VerbsException(
                VerbsErrorCode.NOT_SUPPORTED,
                "this device shows its memory to no other process; open it with same-host=auto, on Linux");
    }

    private static VerbsException noMemory(long length, String why) {
        return new VerbsException(
                VerbsErrorCode.NO_RESOURCES,
                "cannot map " + length + " bytes: " + why + "; request less, or check ulimit -v and vm.max_map_count");
    }

    /** All of it. */
    public MemorySegment segment() {
        return segment;
    }

    @Override
    public void close() {
        release.run();
    }

    /**
     * The system calls. Those that set errno take the place for it first; posix_fallocate returns its error.
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
        /** Attempts. A signal ends each, and older kernels then begin from the start. */
        private static final int RESERVATIONS = 10;

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

        PageMemory anonymous(long length, long place) {
            boolean huge = length >= HUGE_PAGE;
            int advice = huge && HugePages.areWorthwhile() ? MADV_HUGEPAGE : MADV_NOHUGEPAGE;
            // Older kernels do not align it; memory that is not touched costs nothing.
            long mapped = roundUp(length, PAGE) + (huge ? HUGE_PAGE : 0);
            long address = map(length, mapped, MAP_PRIVATE_ANONYMOUS | MAP_NORESERVE, NO_FILE, place);
            long start = huge ? roundUp(address, HUGE_PAGE) : address;
            if (huge) {
                advise(start, length, advice);
            }
            return mapped(start, length, () -> unmap(address, mapped));
        }

        PageMemory hugePages(long length) {
            long mapped = roundUp(length, hugePageBytes());
            try {
                return mapped(length, mapped, MAP_PRIVATE_ANONYMOUS | MAP_HUGETLB, NO_FILE, 0);
            } catch (VerbsException e) {
                throw new VerbsException(
                        e.code(),
                        e.getMessage() + "; for huge pages raise vm.nr_hugepages by " + mapped / hugePageBytes(),
                        e);
            }
        }

        PageMemory sharedMemory(long length, long place) {
            return withErrno((errno, arena) -> {
                int file = (int) memfd.invokeExact(errno, arena.allocateFrom("softrdma"), MFD_CLOEXEC);
                if (file < 0) {
                    throw noMemory(length, "memfd_create: " + text(errno));
                }
                try {
                    if ((int) ftruncate.invokeExact(errno, file, roundUp(length, PAGE)) != 0) {
                        throw noMemory(length, "ftruncate: " + text(errno));
                    }
                    return mapped(length, roundUp(length, PAGE), MAP_SHARED | MAP_NORESERVE, file, place);
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
                                    + "; expected a file that does not exist, in a writable directory");
                }
                try {
                    int ignored = (int) unlink.invokeExact(name);
                    int error = SystemCalls.EINTR;
                    for (int i = 0; i < RESERVATIONS && error == SystemCalls.EINTR; i++) {
                        error = (int) fallocate.invokeExact(file, 0L, roundUp(length, PAGE));
                    }
                    if (error != 0) {
                        throw new VerbsException(
                                VerbsErrorCode.NO_RESOURCES,
                                "cannot reserve " + length + " bytes for " + path + ": errno " + error
                                        + "; expected that much free space on its disk");
                    }
                    return mapped(length, roundUp(length, PAGE), MAP_SHARED, file, 0);
                } finally {
                    int ignored = (int) close.invokeExact(file);
                }
            });
        }

        private PageMemory mapped(long length, long mapped, int flags, int file, long place) {
            long address = map(length, mapped, flags, file, place);
            return mapped(address, length, () -> unmap(address, mapped));
        }

        /** A segment that becomes unusable when it is unmapped. */
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

        private long map(long length, long mapped, int flags, int file, long place) {
            return withErrno((errno, arena) -> {
                long address = (long) mmap.invokeExact(errno, place, mapped, PROT_READ_WRITE, flags, file, 0L);
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
                throw SystemCalls.failed("a system call", e);
            }
        }

        private void advise(long start, long length, int advice) {
            try {
                // A kernel without huge pages returns EINVAL, which costs nothing but speed.
                int ignored = (int) madvise.invokeExact(start, length, advice);
            } catch (Throwable e) {
                throw SystemCalls.failed("madvise", e);
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
                throw SystemCalls.failed("munmap", e);
            }
        }

        /** Size of the machine's huge pages in bytes. */
        private static long hugePageBytes() {
            return ProcFile.numbers("/proc/meminfo").getOrDefault("Hugepagesize", HUGE_PAGE / 1024) * 1024;
        }
    }

    /** A system call through a method handle, which may throw anything. */
    @FunctionalInterface
    private interface SystemCall<T> {
        T run(MemorySegment errno, Arena arena) throws Throwable;
    }
}
