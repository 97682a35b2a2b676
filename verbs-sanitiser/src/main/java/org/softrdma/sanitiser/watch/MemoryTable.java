package org.softrdma.sanitiser.watch;

import java.lang.foreign.MemorySegment;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Who may write to which bytes of this process: peers, into regions that let them; the device, into the sinks of
 * outstanding requests. The rest belongs to the program, so that a change there is the program's.
 *
 * <p>One lock. It covers all devices of a sanitiser, because they share the memory.
 */
public final class MemoryTable {
    private final ReentrantLock lock = new ReentrantLock();
    private final RangeIndex<RegionRecord> writtenByPeers = new RangeIndex<>();
    private final RangeIndex<OutstandingRequest> sinks = new RangeIndex<>();
    private final RangeIndex<OutstandingRequest> sources = new RangeIndex<>();
    private final Map<RegionRecord, Runnable> regionClaims = new HashMap<>();
    private final Map<RegionRecord, Set<OutstandingRequest>> outstanding = new HashMap<>();

    MemoryTable() {}

    /** A region was registered. */
    public void opened(RegionRecord region) {
        MemorySegment memory = region.memory();
        if (memory == null || !region.isWrittenByPeers()) {
            return;
        }
        lock.lock();
        try {
            regionClaims.put(region, writtenByPeers.add(memory.address(), memory.byteSize(), region));
            mayChange(sources.overlapping(memory.address(), memory.byteSize()));
            mayChange(sinks.overlapping(memory.address(), memory.byteSize()));
        } finally {
            lock.unlock();
        }
    }

    /** A region is about to be closed. */
    void closed(RegionRecord region) {
        lock.lock();
        try {
            Runnable claim = regionClaims.remove(region);
            if (claim != null) {
                claim.run();
            }
            region.nowNames(null);
        } finally {
            lock.unlock();
        }
    }

    /** Two regions have exchanged their memory. What is outstanding on them may see both. */
    void swapped(RegionRecord one, RegionRecord other) {
        lock.lock();
        try {
            MemorySegment memory = one.memory();
            one.nowNames(other.memory());
            other.nowNames(memory);
            mayChange(outstanding.getOrDefault(one, Set.of()));
            mayChange(outstanding.getOrDefault(other, Set.of()));
        } finally {
            lock.unlock();
        }
    }

    /**
     * A request is about to be posted. Remembers what its buffers contain, unless somebody else may write there.
     *
     * @param request about to be posted
     * @return an outstanding request with which it shares a byte of a sink, and should not; null if there is none
     */
    @Nullable
    OutstandingRequest claim(OutstandingRequest request) {
        OutstandingRequest shared = null;
        lock.lock();
        try {
            for (BufferRange buffer : request.buffers()) {
                MemorySegment memory = buffer.memory();
                if (memory != null) {
                    OutstandingRequest other = claim(request, memory.address(), memory.byteSize());
                    shared = shared == null ? other : shared;
                    outstanding
                            .computeIfAbsent(buffer.region(), region -> new LinkedHashSet<>())
                            .add(request);
                }
            }
        } finally {
            lock.unlock();
        }
        remember(request);
        return shared;
    }

    private @Nullable OutstandingRequest claim(OutstandingRequest request, long start, long length) {
        List<OutstandingRequest> writers = sinks.overlapping(start, length);
        writers.remove(request);
        if (!writers.isEmpty() || !writtenByPeers.overlapping(start, length).isEmpty()) {
            request.contentMayChange();
        }
        if (!request.isSink()) {
            request.claims().add(sources.add(start, length, request));
            return null;
        }
        request.claims().add(sinks.add(start, length, request));
        mayChange(writers);
        mayChange(sources.overlapping(start, length));
        for (OutstandingRequest writer : writers) {
            if (!request.maySinkWith(writer)) {
                return writer;
            }
        }
        return null;
    }

    /** Outside of the lock: memory can be long. What fills all of its sink leaves nothing to compare. */
    private static void remember(OutstandingRequest request) {
        if (request.isFetch()) {
            return;
        }
        for (BufferRange buffer : request.buffers()) {
            MemorySegment memory = buffer.memory();
            ContentPrint print = memory == null || request.mayContentChange() ? null : ContentPrint.of(memory);
            if (print == null) {
                request.prints().clear();
                return;
            }
            request.prints().add(print);
        }
    }

    /** A request has completed, or was not accepted. */
    void release(OutstandingRequest request) {
        lock.lock();
        try {
            request.claims().forEach(Runnable::run);
            request.claims().clear();
            for (BufferRange buffer : request.buffers()) {
                outstanding.computeIfPresent(buffer.region(), (region, requests) -> {
                    requests.remove(request);
                    return requests.isEmpty() ? null : requests;
                });
            }
        } finally {
            lock.unlock();
        }
    }

    /** The requests that name a region and have not completed, in posting order. */
    List<OutstandingRequest> outstandingOn(RegionRecord region) {
        lock.lock();
        try {
            return List.copyOf(outstanding.getOrDefault(region, Set.of()));
        } finally {
            lock.unlock();
        }
    }

    private static void mayChange(Collection<OutstandingRequest> requests) {
        requests.forEach(OutstandingRequest::contentMayChange);
    }
}
