package org.softrdma.sim.pinning;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.softrdma.net.kernel.HugePages;
import org.softrdma.net.kernel.ProcFile;
import org.softrdma.net.kernel.SystemCalls;

/** Page locks by Linux's mlock(2), mlock2(2) and munlock(2). */
public final class KernelPageLocks implements PageLocks {
    private static final int MLOCK_ONFAULT = 1;
    private static final int MADV_COLLAPSE = 25;
    private static final int RLIMIT_MEMLOCK = 8;
    private static final int CAP_IPC_LOCK = 14;
    private static final int KIB = 1024;
    private static final int HEX = 16;
    /** The kernel's default of vm.max_map_count, for when it cannot be read. */
    private static final long DEFAULT_MAP_COUNT = 65_530;
    /** A locked range may split a mapping in three, and the rest of the process needs mappings, too. */
    private static final int SHARE_OF_MAPPINGS = 4;

    private static final String STATUS = "/proc/self/status";
    private static final String CAPABILITIES = "CapEff:";

    private final MethodHandle mlock;
    private final MethodHandle mlock2;
    private final MethodHandle munlock;
    private final MethodHandle getrlimit;
    private final MethodHandle madvise;
    private final int pageBytes;
    private final long hugePageBytes = HugePages.bytes();
    private final MemorySegment state = SystemCalls.newState(Arena.ofAuto());

    private KernelPageLocks() throws Throwable {
        ValueLayout.OfLong number = ValueLayout.JAVA_LONG;
        ValueLayout.OfInt small = ValueLayout.JAVA_INT;
        FunctionDescriptor range = FunctionDescriptor.of(small, number, number);
        FunctionDescriptor rangeAndFlag = FunctionDescriptor.of(small, number, number, small);
        mlock = SystemCalls.withErrno("mlock", range);
        munlock = SystemCalls.withErrno("munlock", range);
        mlock2 = SystemCalls.withErrno("mlock2", rangeAndFlag);
        getrlimit = SystemCalls.function("getrlimit", FunctionDescriptor.of(small, small, ValueLayout.ADDRESS));
        madvise = SystemCalls.function("madvise", rangeAndFlag);
        pageBytes = (int) SystemCalls.function("getpagesize", FunctionDescriptor.of(small))
                .invokeExact();
    }

    /** The kernel's locks; where they are missing, a stand-in that only accounts and says why. */
    public static PageLocks find() {
        if (!Files.isReadable(Path.of(STATUS))) {
            return new AccountedPageLocks("this platform is not Linux, or has no /proc");
        }
        try {
            return new KernelPageLocks();
        } catch (Throwable e) {
            return new AccountedPageLocks("the C library lacks mlock2: " + e);
        }
    }

    @Override
    public int lock(long address, long length) {
        try {
            return result((int) mlock.invokeExact(state, address, length));
        } catch (Throwable e) {
            throw SystemCalls.failed("mlock", e);
        }
    }

    @Override
    public int lockOnFault(long address, long length) {
        try {
            return result((int) mlock2.invokeExact(state, address, length, MLOCK_ONFAULT));
        } catch (Throwable e) {
            throw SystemCalls.failed("mlock2", e);
        }
    }

    @Override
    public int unlock(long address, long length) {
        try {
            return result((int) munlock.invokeExact(state, address, length));
        } catch (Throwable e) {
            throw SystemCalls.failed("munlock", e);
        }
    }

    private int result(int returned) {
        return returned == 0 ? OK : SystemCalls.errno(state);
    }

    /** By MADV_COLLAPSE, which kernels before 6.1 lack. */
    @Override
    public void joinHugePage(long address) {
        try {
            int ignored = (int) madvise.invokeExact(address, hugePageBytes, MADV_COLLAPSE);
        } catch (Throwable e) {
            throw SystemCalls.failed("madvise", e);
        }
    }

    @Override
    public long hugePageBytes() {
        return hugePageBytes;
    }

    @Override
    public long limitBytes() {
        if (mayLockAnything()) {
            return UNLIMITED;
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment limits = arena.allocate(ValueLayout.JAVA_LONG, 2);
            if ((int) getrlimit.invokeExact(RLIMIT_MEMLOCK, limits) != 0) {
                return 0;
            }
            long soft = limits.get(ValueLayout.JAVA_LONG, 0);
            return soft < 0 ? UNLIMITED : soft; // RLIM_INFINITY is all ones
        } catch (Throwable e) {
            throw SystemCalls.failed("getrlimit", e);
        }
    }

    private static boolean mayLockAnything() {
        return ProcFile.lines(STATUS).stream()
                .filter(line -> line.startsWith(CAPABILITIES))
                .map(line -> line.substring(CAPABILITIES.length()).trim())
                .anyMatch(hex -> ((Long.parseUnsignedLong(hex, HEX) >>> CAP_IPC_LOCK) & 1) != 0);
    }

    @Override
    public long lockedBytes() {
        return ProcFile.numbers(STATUS).getOrDefault("VmLck", 0L) * KIB;
    }

    @Override
    public long maxRanges() {
        List<String> lines = ProcFile.lines("/proc/sys/vm/max_map_count");
        return (lines.isEmpty()
                        ? DEFAULT_MAP_COUNT
                        : Long.parseLong(lines.getFirst().trim()))
                / SHARE_OF_MAPPINGS;
    }

    @Override
    public int pageBytes() {
        return pageBytes;
    }

    @Override
    public String missing() {
        return "";
    }
}
