package org.softrdma.sanitiser.watch;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.softrdma.sanitiser.finding.BufferName;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.MemoryRegion;

/**
 * A region as the sanitiser remembers it, also once it is closed. It holds the memory only while the region is open, so
 * that the sanitiser keeps nobody's memory from the garbage collector. Thread-safe.
 */
public final class RegionRecord {
    private final String name;
    private final long address;
    private final long length;
    private final int lkey;
    private final Set<AccessFlag> asked;
    private final @Nullable StackTraceElement registeredAt = CallSite.line();

    /** What its keys name; null once it is closed. */
    private volatile @Nullable MemorySegment memory;

    /**
     * Of a region that was just registered.
     *
     * @param region the provider's
     * @param memory what was registered
     * @param asked the rights and intents that the program asked for
     */
    public RegionRecord(MemoryRegion region, MemorySegment memory, Set<AccessFlag> asked) {
        this.memory = memory;
        this.asked = Set.copyOf(asked);
        address = region.address();
        length = region.length();
        lkey = region.lkey();
        name = "the region with lkey 0x" + Integer.toHexString(lkey) + ", rkey 0x" + Integer.toHexString(region.rkey())
                + " and " + length + " bytes, registered at " + registeredAt;
    }

    /** The key for local entries. */
    public int lkey() {
        return lkey;
    }

    /** Its keys, its length and where it was registered, for people. */
    @Override
    public String toString() {
        return name;
    }

    long address() {
        return address;
    }

    /** True once it is closed. */
    boolean isClosed() {
        return memory == null;
    }

    /** True if its memory was freed although it is open. */
    boolean isMemoryGone() {
        MemorySegment current = memory;
        return current != null && !current.scope().isAlive();
    }

    /** The rights and intents that the program asked for. */
    public Set<AccessFlag> asked() {
        return asked;
    }

    /** True if peers may change it, by a window perhaps, so that its bytes may change at any time. */
    boolean isWrittenByPeers() {
        return asked.contains(AccessFlag.REMOTE_WRITE)
                || asked.contains(AccessFlag.REMOTE_ATOMIC)
                || (asked.contains(AccessFlag.BIND_WINDOWS) && asked.contains(AccessFlag.LOCAL_WRITE));
    }

    /** True if the program said that READs put their data here. */
    boolean isReadSink() {
        return asked.contains(AccessFlag.READ_SINK) || asked.contains(AccessFlag.REMOTE_WRITE);
    }

    BufferName part(long offset, long bytes) {
        return new BufferName(name, offset, bytes);
    }

    /** The memory of a part; null if the region is closed or the part is not inside it. */
    @Nullable
    MemorySegment slice(long offset, long bytes) {
        MemorySegment current = memory;
        boolean inside = offset >= 0 && bytes >= 0 && offset <= length - bytes;
        return current == null || !inside ? null : current.asSlice(offset, bytes);
    }

    /** The memory of all of it; null if it is closed. */
    @Nullable
    MemorySegment memory() {
        return memory;
    }

    void nowNames(@Nullable MemorySegment other) {
        memory = other;
    }
}
