package org.softrdma.sanitiser.watch;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.softrdma.sanitiser.finding.Finding;
import org.softrdma.verbs.CompletionOpcode;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.SendFlags;

/**
 * Follows the RECVs of a shared receive queue from post to completion, which comes on any of its queue pairs and in any
 * order: only its wrId tells of which RECV it is. If two have that wrId, or none, nothing is known any more. A lock
 * orders posts and completions; the provider is called under it, and it is taken under that of a queue pair.
 */
public final class SharedReceiveWatch {
    private final Watch watch;
    private final RegionTable regions;
    private final QueuePairRecord record;
    private final RequestRules rules;
    private final CallLock lock;

    // Under the lock.
    private final Map<Long, OutstandingRequest> outstanding = new HashMap<>();
    private boolean certain = true;

    private volatile boolean open = true;

    /**
     * Of a new queue.
     *
     * @param watch shared
     * @param device name of its device
     * @param regions those of its domain
     */
    public SharedReceiveWatch(Watch watch, String device, RegionTable regions) {
        this.watch = watch;
        this.regions = regions;
        lock = watch.callLock();
        record = QueuePairRecord.ofSharedQueue(device, () -> open);
        rules = new RequestRules(watch, record, 1);
    }

    /**
     * A RECV that is about to be posted; its local entries follow.
     *
     * @param wrId its number
     */
    public OutstandingRequest receive(long wrId) {
        return new OutstandingRequest(record, CompletionOpcode.RECEIVE, wrId, SendFlags.SIGNALLED);
    }

    /**
     * Adds a local entry by its key.
     *
     * @param request not posted yet
     * @param address first address
     * @param length bytes
     * @param lkey key of a region
     */
    public void add(OutstandingRequest request, long address, long length, int lkey) {
        regions.addTo(request, address, length, lkey);
    }

    /**
     * Posts a RECV.
     *
     * @param request what is posted
     * @param post has the provider post it
     */
    public PostStatus post(OutstandingRequest request, Supplier<PostStatus> post) {
        rules.checkBeforePost(request);
        List<Finding> found = new ArrayList<>();
        PostStatus status = PostStatus.QUEUE_FULL;
        lock.lock();
        try {
            Finding overlap = begin(request);
            try {
                status = post.get();
                return status;
            } finally {
                if (status != PostStatus.ACCEPTED) {
                    withdraw(request);
                } else if (overlap != null) {
                    found.add(overlap);
                }
            }
        } finally {
            lock.unlock();
            watch.reporter().report(found);
        }
    }

    private @Nullable Finding begin(OutstandingRequest request) {
        if (!certain || outstanding.containsKey(request.wrId())) {
            forgetAll();
            return null;
        }
        OutstandingRequest shared = watch.memory().claim(request);
        outstanding.put(request.wrId(), request);
        return shared != null && rules.bothAlive(shared) ? rules.overlap(request, shared) : null;
    }

    private void withdraw(OutstandingRequest request) {
        if (outstanding.remove(request.wrId(), request)) {
            watch.memory().release(request);
        }
    }

    /** True if a failed completion with this number may be of a RECV of this queue. */
    boolean mayHave(long wrId) {
        lock.lock();
        try {
            return !certain || outstanding.containsKey(wrId);
        } finally {
            lock.unlock();
        }
    }

    /**
     * A RECV has completed.
     *
     * @param wrId its number
     * @param moved bytes that the device has written to its buffers, from their start; negative after a failure, where
     *     that is not known
     * @param found takes findings
     * @return what it was; null if that is not known
     */
    @Nullable
    OutstandingRequest completed(long wrId, long moved, List<Finding> found) {
        lock.lock();
        try {
            OutstandingRequest request = outstanding.remove(wrId);
            if (request == null) {
                forgetAll();
                return null;
            }
            if (moved >= 0) {
                rules.checkContent(request, moved, found);
            }
            watch.memory().release(request);
            return request;
        } finally {
            lock.unlock();
        }
    }

    /** Completions were lost, or it is not certain of what they are. */
    void forget() {
        lock.lock();
        try {
            forgetAll();
        } finally {
            lock.unlock();
        }
    }

    private void forgetAll() {
        certain = false;
        outstanding.values().forEach(watch.memory()::release);
        outstanding.clear();
    }

    /** It was closed. */
    public void closed() {
        open = false;
        forget();
    }
}
