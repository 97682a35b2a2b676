package org.softrdma.sim.memory;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;

/**
 * Page-aligned zeroed memory whose pages cost nothing until they are touched: mmap(2) on Linux, an ordinary allocation (which
 * touches every page) elsewhere. From 2 MiB on it asks for transparent huge pages (madvise(2), MADV_HUGEPAGE), because random
 * accesses to small pages miss the TLB twice, here and in the kernel's copy; a machine without them gives small ones.
 */
final class PageMemory implements AutoCloseable {
    private static final long PAGE = 4096;
    private static final int PROT_READ_WRITE = 0x3;
    private static final long HUGE_PAGE = 2 << 20;
    private static final int MAP_PRIVATE_ANONYMOUS_NORESERVE = 0x02 | 0x20 | 0x4000;
    private static final int MADV_HUGEPAGE = 14;
    private static final long MOST_BYTES = Long.MAX_VALUE - HUGE_PAGE - PAGE;
    private static final StructLayout STATE_LAYOUT = Linker.Option.captureStateLayout();
    private static final String ERRNO = "errno";
    private static final VarHandle ERRNO_VALUE =
            STATE_LAYOUT.varHandle(MemoryLayout.PathElement.groupElement(ERRNO)).withInvokeExactBehavior();
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
     * @throws VerbsException {@code NO_RESOURCES} if the machine has not that much
     */
    static PageMemory allocate(long length) {
        if (length > MOST_BYTES) {
            throw noMemory(length, "more than any address space has");
        }
        return CALLS.map(calls -> calls.allocate(length)).orElseGet(() -> {
            Arena arena = Arena.ofShared();
            try {
                return new PageMemory(arena.allocate(length, PAGE), arena::close);
            } catch (OutOfMemoryError e) {
                arena.close();
                throw noMemory(length, String.valueOf(e.getMessage()));
            }
        });
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

    /** The system calls. */
    private record Calls(MethodHandle mmap, MethodHandle munmap, MethodHandle madvise) {
        @SuppressWarnings("restricted")
        static Optional<Calls> find() {
            if (!Files.isDirectory(Path.of("/proc/self"))) {
                return Optional.empty();
            }
            Linker linker = Linker.nativeLinker();
            MethodHandle mmap = linker.downcallHandle(
                    linker.defaultLookup().findOrThrow("mmap"),
                    FunctionDescriptor.of(
                            ValueLayout.JAVA_LONG,
                            ValueLayout.JAVA_LONG,
                            ValueLayout.JAVA_LONG,
                            ValueLayout.JAVA_INT,
                            ValueLayout.JAVA_INT,
                            ValueLayout.JAVA_INT,
                            ValueLayout.JAVA_LONG),
                    Linker.Option.captureCallState(ERRNO));
            MethodHandle munmap = linker.downcallHandle(
                    linker.defaultLookup().findOrThrow("munmap"),
                    FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG));
            MethodHandle madvise = linker.downcallHandle(
                    linker.defaultLookup().findOrThrow("madvise"),
                    FunctionDescriptor.of(
                            ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG, ValueLayout.JAVA_INT));
            return Optional.of(new Calls(mmap, munmap, madvise));
        }

        PageMemory allocate(long length) {
            boolean huge = length >= HUGE_PAGE;
            // Older kernels do not align it by themselves; what is not touched costs nothing.
            long mapped = Math.ceilDiv(length, PAGE) * PAGE + (huge ? HUGE_PAGE : 0);
            long address;
            int errno;
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment state = arena.allocate(STATE_LAYOUT);
                address = (long)
                        mmap.invokeExact(state, 0L, mapped, PROT_READ_WRITE, MAP_PRIVATE_ANONYMOUS_NORESERVE, -1, 0L);
                errno = (int) ERRNO_VALUE.get(state, 0L);
            } catch (Throwable e) {
                throw new IllegalStateException("mmap of " + mapped + " bytes", e);
            }
            if (address == -1) {
                throw noMemory(length, "errno " + errno);
            }
            long start = huge ? Math.ceilDiv(address, HUGE_PAGE) * HUGE_PAGE : address;
            if (huge) {
                adviseHugePages(start, length);
            }
            return new PageMemory(NativeMemory.segment(start, length), () -> unmap(address, mapped));
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
    }
}
