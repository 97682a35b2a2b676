package org.softrdma.sim.samehost;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.softrdma.net.kernel.SealedMemory;
import org.softrdma.net.memory.NativeMemory;
import org.softrdma.verbs.HostMemory;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.provider.HostMemories;

/** The memory that a device has allocated as shareable, by address. Thread-safe. */
final class ShareableMemory {
    private final SharedFiles files;
    private final AtomicInteger next = new AtomicInteger();
    private final ConcurrentSkipListMap<Long, SharedFiles.Item> allocations = new ConcurrentSkipListMap<>();

    ShareableMemory(SharedFiles files) {
        this.files = files;
    }

    /**
     * Allocates zeroed memory for the application.
     *
     * @param length bytes, at least 1
     * @throws VerbsException {@code NO_RESOURCES} if the machine has not that much
     */
    HostMemory allocate(long length) {
        if (length < 1) {
            throw new IllegalArgumentException("length=" + length + ": expected at least 1");
        }
        SealedMemory memory;
        try {
            memory = SealedMemory.create("softrdma", length);
        } catch (IOException e) {
            throw new VerbsException(
                    VerbsErrorCode.NO_RESOURCES, "cannot map " + length + " shareable bytes: " + e.getMessage(), e);
        }
        SharedFiles.Item item = new SharedFiles.Item(true, next.getAndIncrement(), memory);
        Arena arena = Arena.ofShared();
        MemorySegment segment = segment(memory.address(), length, arena, item);
        allocations.put(memory.address(), item);
        files.add(item);
        return HostMemories.add(segment, false, arena::close);
    }

    /** A segment that becomes unusable when the memory is freed. */
    @SuppressWarnings("restricted")
    private MemorySegment segment(long address, long length, Arena arena, SharedFiles.Item item) {
        return NativeMemory.segment(address, length).reinterpret(arena, ended -> free(item));
    }

    private void free(SharedFiles.Item item) {
        allocations.remove(item.memory().address());
        files.remove(item);
        item.memory().close();
    }

    /** The allocation in which some memory lies, or null. */
    SharedFiles.@Nullable Item find(long address, long length) {
        Map.Entry<Long, SharedFiles.Item> entry = allocations.floorEntry(address);
        if (entry == null) {
            return null;
        }
        SealedMemory memory = entry.getValue().memory();
        long offset = address - memory.address();
        return offset + length <= memory.length() ? entry.getValue() : null;
    }
}
