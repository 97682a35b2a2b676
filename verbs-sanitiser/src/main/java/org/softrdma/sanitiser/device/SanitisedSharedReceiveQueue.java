package org.softrdma.sanitiser.device;

import org.jspecify.annotations.Nullable;
import org.softrdma.sanitiser.watch.OutstandingRequest;
import org.softrdma.sanitiser.watch.SharedReceiveWatch;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.ReceiveWorkRequest;
import org.softrdma.verbs.ScatterGatherList;
import org.softrdma.verbs.SharedReceiveQueue;

/** A shared receive queue. Any thread, as the provider's. */
final class SanitisedSharedReceiveQueue implements SharedReceiveQueue {
    private final SharedReceiveQueue queue;
    private final ProtectionDomain domain;
    private final SharedReceiveWatch watch;
    private final Wrappers wrappers;
    private final Lifetime lifetime;

    SanitisedSharedReceiveQueue(
            SharedReceiveQueue queue,
            ProtectionDomain domain,
            SharedReceiveWatch watch,
            Wrappers wrappers,
            Lifetime lifetime) {
        this.queue = queue;
        this.domain = domain;
        this.watch = watch;
        this.wrappers = wrappers;
        this.lifetime = lifetime;
        wrappers.add(queue, this);
    }

    /** The provider's queue; null for none. */
    static @Nullable SharedReceiveQueue bare(@Nullable SharedReceiveQueue queue) {
        return queue instanceof SanitisedSharedReceiveQueue sanitised ? sanitised.queue : queue;
    }

    SharedReceiveWatch watch() {
        return watch;
    }

    @Override
    public ProtectionDomain protectionDomain() {
        return domain;
    }

    @Override
    public int maxWorkRequests() {
        return queue.maxWorkRequests();
    }

    @Override
    public int maxScatterGather() {
        return queue.maxScatterGather();
    }

    @Override
    public PostStatus postReceive(long wrId, MemoryRegion local, long offset, long length) {
        OutstandingRequest request = watch.receive(wrId).add(SanitisedRegion.record(local), offset, length);
        return watch.post(request, () -> queue.postReceive(wrId, SanitisedRegion.bare(local), offset, length));
    }

    @Override
    public PostStatus post(ReceiveWorkRequest request) {
        OutstandingRequest posted = watch.receive(request.wrId());
        ScatterGatherList local = request.local();
        for (int i = 0; i < local.size(); i++) {
            watch.add(posted, local.address(i), local.length(i), local.lkey(i));
        }
        return watch.post(posted, () -> queue.post(request));
    }

    @Override
    public void arm(int limit) {
        queue.arm(limit);
    }

    @Override
    public void close() {
        queue.close();
        wrappers.remove(queue);
        if (lifetime.end()) {
            watch.closed();
        }
    }

    @Override
    public String toString() {
        return queue.toString();
    }
}
