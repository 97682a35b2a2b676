package org.softrdma.net.kernel;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Whether transparent huge pages are worth asking for. They are not in a virtual machine whose hypervisor does not use its
 * page tables but copies them (shadow paging), page by page as they are touched. There, a process that had some huge pages
 * lost the copies for its other pages about twice a second, at 1 to 3 microseconds for each page that was touched again, and
 * gained next to nothing (docs/studies/performance.md).
 *
 * <p>How such a machine is found: the kernel makes some pages and their page tables before the first access
 * (MADV_POPULATE_WRITE, from Linux 5.14 on). The first access then costs tens of nanoseconds, as any other, unless the
 * hypervisor has to copy: then it costs 4 to 10 microseconds.
 *
 * <p>Any thread.
 */
public final class HugePages {
    private static final Logger LOG = LoggerFactory.getLogger(HugePages.class);
    private static final String SETTINGS = "/sys/kernel/mm/transparent_hugepage/";
    private static final int PAGES = 64;
    private static final long COPIED_NS = 1000;
    private static final int PROT_READ_WRITE = 3;
    private static final int MAP_PRIVATE_ANONYMOUS = 0x2 | 0x20;
    private static final int MADV_NOHUGEPAGE = 15;
    private static final int MADV_POPULATE_WRITE = 23;

    private static final boolean WORTHWHILE = !isCopied();
    private static final long BYTES = WORTHWHILE ? bytesOfKernel() : 0;

    private HugePages() {}

    /** False if huge pages cost more than they gain here; the kernel may have none, all the same. */
    public static boolean areWorthwhile() {
        return WORTHWHILE;
    }

    /** Bytes of the kernel's huge pages; 0 if it makes none, or they are not worthwhile. */
    public static long bytes() {
        return BYTES;
    }

    /** Why they are not worthwhile; empty if they are. */
    public static Optional<String> obstacle() {
        return WORTHWHILE ? Optional.empty() : Optional.of("the hypervisor copies this machine's page tables");
    }

    /** 0 also if the administrator has disabled them, which MADV_COLLAPSE would ignore. */
    private static long bytesOfKernel() {
        try {
            List<String> enabled = ProcFile.lines(SETTINGS + "enabled");
            List<String> bytes = ProcFile.lines(SETTINGS + "hpage_pmd_size");
            return enabled.isEmpty() || bytes.isEmpty() || enabled.getFirst().contains("[never]")
                    ? 0
                    : Long.parseLong(bytes.getFirst().trim());
        } catch (RuntimeException | Error e) { // the class must be there all the same
            LOG.debug("huge pages are taken to be of no known size", e);
            return 0;
        }
    }

    /** True if the first access to a page that is there already costs much more than the next. False if that cannot be told. */
    private static boolean isCopied() {
        try (Arena arena = Arena.ofConfined()) {
            return !ProcFile.lines(SETTINGS + "enabled").isEmpty() // else no huge pages, or no Linux
                    && isCopied(arena);
        } catch (Throwable e) {
            LOG.debug("huge pages are asked for, because nothing is known of this machine's page tables", e);
            return false;
        }
    }

    private static boolean isCopied(Arena arena) throws Throwable {
        ValueLayout.OfLong number = ValueLayout.JAVA_LONG;
        ValueLayout.OfInt small = ValueLayout.JAVA_INT;
        MethodHandle pageBytes = SystemCalls.function("getpagesize", FunctionDescriptor.of(small));
        MethodHandle map = SystemCalls.function(
                "mmap", FunctionDescriptor.of(number, number, number, small, small, small, number));
        MethodHandle unmap = SystemCalls.function("munmap", FunctionDescriptor.of(small, number, number));
        MethodHandle advise = SystemCalls.function("madvise", FunctionDescriptor.of(small, number, number, small));
        int page = (int) pageBytes.invokeExact();
        long length = (long) PAGES * page;
        long address = (long) map.invokeExact(0L, length, PROT_READ_WRITE, MAP_PRIVATE_ANONYMOUS, -1, 0L);
        if (address == -1) {
            return false;
        }
        try {
            int ignored = (int) advise.invokeExact(address, length, MADV_NOHUGEPAGE);
            return (int) advise.invokeExact(address, length, MADV_POPULATE_WRITE) == 0
                    && isCopied(segment(address, length, arena), page);
        } finally {
            int ignored = (int) unmap.invokeExact(address, length);
        }
    }

    @SuppressWarnings("restricted")
    private static MemorySegment segment(long address, long length, Arena arena) {
        return MemorySegment.ofAddress(address).reinterpret(length, arena, null);
    }

    /** Both accesses in one loop, so that the compiler has done the same to both. */
    private static boolean isCopied(MemorySegment pages, int page) {
        long[] first = new long[PAGES];
        long[] second = new long[PAGES];
        for (int i = 0; i < PAGES; i++) {
            long at = (long) i * page;
            long startNs = System.nanoTime();
            pages.set(ValueLayout.JAVA_BYTE, at, (byte) 1);
            long middleNs = System.nanoTime();
            pages.set(ValueLayout.JAVA_BYTE, at, (byte) 2);
            second[i] = System.nanoTime() - middleNs;
            first[i] = middleNs - startNs;
        }
        return isCopied(first, second);
    }

    /** By the medians of nanoseconds: single accesses take long when the thread was interrupted, or its code is new. */
    static boolean isCopied(long[] first, long[] second) {
        return median(first) - median(second) > COPIED_NS;
    }

    private static long median(long[] times) {
        long[] sorted = times.clone();
        Arrays.sort(sorted);
        return sorted[sorted.length / 2];
    }
}
