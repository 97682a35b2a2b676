package org.softrdma.sanitiser.device;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.softrdma.sanitiser.watch.OutstandingRequest;
import org.softrdma.sanitiser.watch.QueuePairWatch;
import org.softrdma.sanitiser.watch.RegionRecord;
import org.softrdma.sanitiser.watch.WatchedQueuePairs;
import org.softrdma.verbs.ConnectionCapabilities;
import org.softrdma.verbs.EndCause;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.ReceiveWorkRequest;
import org.softrdma.verbs.ScatterGatherList;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.SendOpcode;
import org.softrdma.verbs.SendWorkRequest;
import org.softrdma.verbs.SendWorkRequestList;

/** A queue pair. Any thread, as the provider's; a lock makes posts and the telling of completions take turns. */
final class SanitisedQueuePair implements QueuePair {
    private final QueuePair queuePair;
    private final ProtectionDomain domain;
    private final QueuePairWatch watch;
    private final WatchedQueuePairs siblings;
    private final Lifetime lifetime;

    SanitisedQueuePair(
            QueuePair queuePair,
            ProtectionDomain domain,
            QueuePairWatch watch,
            WatchedQueuePairs siblings,
            Lifetime lifetime) {
        this.queuePair = queuePair;
        this.domain = domain;
        this.watch = watch;
        this.siblings = siblings;
        this.lifetime = lifetime;
    }

    QueuePairWatch watch() {
        return watch;
    }

    // ---- posts with one local buffer

    @Override
    public PostStatus postRead(
            long wrId, MemoryRegion local, long offset, long length, long remoteAddress, int rkey, int flags) {
        return watch.send(
                request(SendOpcode.READ, wrId, local, offset, length, flags).readsFrom(remoteAddress, rkey),
                () -> queuePair.postRead(
                        wrId, SanitisedRegion.bare(local), offset, length, remoteAddress, rkey, flags));
    }

    @Override
    public PostStatus postWrite(
            long wrId, MemoryRegion local, long offset, long length, long remoteAddress, int rkey, int flags) {
        return watch.send(
                request(SendOpcode.WRITE, wrId, local, offset, length, flags),
                () -> queuePair.postWrite(
                        wrId, SanitisedRegion.bare(local), offset, length, remoteAddress, rkey, flags));
    }

    @Override
    public PostStatus postSend(long wrId, MemoryRegion local, long offset, long length, int flags) {
        return watch.send(
                request(SendOpcode.SEND, wrId, local, offset, length, flags),
                () -> queuePair.postSend(wrId, SanitisedRegion.bare(local), offset, length, flags));
    }

    @Override
    public PostStatus postReceive(long wrId, MemoryRegion local, long offset, long length) {
        OutstandingRequest request = watch.receive(wrId).add(record(local), offset, length);
        return watch.receive(request, () -> queuePair.postReceive(wrId, SanitisedRegion.bare(local), offset, length));
    }

    /** Inline data has left its buffer when the post returns. */
    private OutstandingRequest request(
            SendOpcode opcode, long wrId, MemoryRegion local, long offset, long length, int flags) {
        OutstandingRequest request = watch.request(opcode, wrId, flags);
        RegionRecord record = record(local);
        if ((flags & SendFlags.INLINE) == 0) {
            request.add(record, offset, length);
        } else if (record != null && length > 0) {
            watch.checkInline(request, record);
        }
        return request;
    }

    private static @Nullable RegionRecord record(MemoryRegion region) {
        return region instanceof SanitisedRegion sanitised ? sanitised.record() : null;
    }

    // ---- posts with any number of local buffers

    @Override
    public PostStatus post(SendWorkRequest request) {
        return watch.send(request(request), () -> queuePair.post(request));
    }

    @Override
    public PostStatus post(SendWorkRequestList requests) {
        List<OutstandingRequest> posted = new ArrayList<>(requests.size());
        for (int i = 0; i < requests.size(); i++) {
            posted.add(request(requests.get(i)));
        }
        return watch.send(posted, () -> queuePair.post(requests), status -> requests.accepted());
    }

    @Override
    public PostStatus post(ReceiveWorkRequest request) {
        OutstandingRequest posted = watch.receive(request.wrId());
        addEntries(posted, request.local());
        return watch.receive(posted, () -> queuePair.post(request));
    }

    private OutstandingRequest request(SendWorkRequest request) {
        OutstandingRequest posted = watch.request(request.opcode(), request.wrId(), request.flags());
        if ((request.flags() & SendFlags.INLINE) == 0) {
            addEntries(posted, request.local());
        }
        if (request.opcode() == SendOpcode.READ) {
            posted.readsFrom(request.remoteAddress(), request.rkey());
        }
        return posted;
    }

    private void addEntries(OutstandingRequest request, ScatterGatherList local) {
        for (int i = 0; i < local.size(); i++) {
            watch.add(request, local.address(i), local.length(i), local.lkey(i));
        }
    }

    // ---- the rest

    @Override
    public int number() {
        return queuePair.number();
    }

    @Override
    public QueuePairState state() {
        return queuePair.state();
    }

    @Override
    public ProtectionDomain protectionDomain() {
        return domain;
    }

    @Override
    public QueuePairLimits limits() {
        return queuePair.limits();
    }

    @Override
    public ConnectionCapabilities connectionCapabilities() {
        return queuePair.connectionCapabilities();
    }

    @Override
    public void disconnect() {
        queuePair.disconnect();
    }

    @Override
    public CompletionStage<String> disconnected() {
        return queuePair.disconnected();
    }

    @Override
    public EndCause endCause() {
        return queuePair.endCause();
    }

    @Override
    public void close() {
        siblings.closing(queuePair.number(), watch);
        queuePair.close();
        if (lifetime.end()) {
            watch.closed();
        }
    }

    @Override
    public String toString() {
        return queuePair.toString();
    }
}
