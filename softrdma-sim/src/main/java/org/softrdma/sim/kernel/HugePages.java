package org.softrdma.sim.kernel;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Whether transparent huge pages are worth asking for. They are not if the administrator has disabled them, and not in a
 * virtual machine whose page tables the hypervisor does not use but copies (shadow paging), page by page as they are
 * touched. There, a process that had some huge pages lost the copies of all its other pages about twice a second, at
 * 1 to 3 microseconds for each page that was touched again, and gained nothing (docs/studies/performance.md).
 *
 * <p>How such a machine is found: the kernel fills new pages and their page tables before the first access (MAP_POPULATE).
 * So that access costs tens of nanoseconds, as any other, unless the hypervisor has to copy: then it costs 4 to 10
 * microseconds.
 *
 * <p>Any thread.
 */
public final class HugePages {
    private static final String SETTINGS = "/sys/kernel/mm/transparent_hugepage/";
    private static final int PAGES = 64;
    private static final long COPIED_NS = 1000;
    private static final int PROT_READ_WRITE = 3;
    private static final int MAP_PRIVATE_ANONYMOUS_POPULATE = 0x2 | 0x20 | 0x8000;

    private static final @Nullable String OBSTACLE = findObstacle();
    private static final long BYTES = OBSTACLE == null
            ? Long.parseLong(
                    ProcFile.lines(SETTINGS + "hpage_pmd_size").getFirst().trim())
            : 0;

    private HugePages() {}

    /** Bytes of a huge page; 0 if none should be asked for. */
    public static long bytes() {
        return BYTES;
    }

    /** Why none should be asked for; empty if they should. */
    public static Optional<String> obstacle() {
        return Optional.ofNullable(OBSTACLE);
    }

    private static @Nullable String findObstacle() {
        List<String> enabled = ProcFile.lines(SETTINGS + "enabled");
        if (enabled.isEmpty() || ProcFile.lines(SETTINGS + "hpage_pmd_size").isEmpty()) {
            return "the kernel has none";
        }
        if (enabled.getFirst().contains("[never]")) {
            return SETTINGS + "enabled says never";
        }
        return isCopied() ? "the hypervisor copies page tables, which huge pages make dearer" : null;
    }

    /** True if the first access to a page that is there already costs much more than the next. */
    private static boolean isCopied() {
        try (Arena arena = Arena.ofConfined()) {
            ValueLayout.OfLong number = ValueLayout.JAVA_LONG;
            ValueLayout.OfInt small = ValueLayout.JAVA_INT;
            MethodHandle pageBytes = SystemCalls.function("getpagesize", FunctionDescriptor.of(small));
            MethodHandle map = SystemCalls.function(
                    "mmap", FunctionDescriptor.of(number, number, number, small, small, small, number));
            MethodHandle unmap = SystemCalls.function("munmap", FunctionDescriptor.of(small, number, number));
            int page = (int) pageBytes.invokeExact();
            long length = (long) PAGES * page;
            long address = (long) map.invokeExact(0L, length, PROT_READ_WRITE, MAP_PRIVATE_ANONYMOUS_POPULATE, -1, 0L);
            if (address == -1) {
                return false;
            }
            try {
                MemorySegment pages = segment(address, length, arena);
                return isCopied(touch(pages, page), touch(pages, page));
            } finally {
                int ignored = (int) unmap.invokeExact(address, length);
            }
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException("a system call failed", e);
        }
    }

    @SuppressWarnings("restricted")
    private static MemorySegment segment(long address, long length, Arena arena) {
        return MemorySegment.ofAddress(address).reinterpret(length, arena, null);
    }

    /** Nanoseconds for writing a byte of each page. */
    private static long[] touch(MemorySegment pages, int page) {
        long[] times = new long[PAGES];
        for (int i = 0; i < PAGES; i++) {
            long startNs = System.nanoTime();
            pages.set(ValueLayout.JAVA_BYTE, (long) i * page, (byte) 1);
            times[i] = System.nanoTime() - startNs;
        }
        return times;
    }

    /** By the medians: single accesses take long when the thread was interrupted, or its code is new. */
    static boolean isCopied(long[] first, long[] second) {
        return median(first) - median(second) > COPIED_NS;
    }

    private static long median(long[] times) {
        long[] sorted = times.clone();
        Arrays.sort(sorted);
        return sorted[sorted.length / 2];
    }
}
