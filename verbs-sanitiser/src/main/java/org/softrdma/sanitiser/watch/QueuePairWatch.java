package org.softrdma.sanitiser.watch;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;
import org.softrdma.sanitiser.finding.Finding;
import org.softrdma.verbs.CompletionOpcode;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairType;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.SendOpcode;
import org.softrdma.verbs.UnconnectedQueuePair;
import org.softrdma.verbs.WorkCompletion;

/**
 * Follows the requests of a queue pair from post to completion.
 *
 * <p>A request is remembered before the provider gets it, since its completion may be polled before the post returns,
 * and forgotten if the provider does not accept it. {@link RequestRules} judges it; what it finds is reported when the
 * lock is free again. A lock orders posts and completions; the provider is called under it.
 */
public final class QueuePairWatch {
    private final Watch watch;
    private final RegionTable regions;
    private final QueuePairRecord record;
    private final RequestRules rules;
    private final boolean signalAll;
    private final CallLock lock;
    private final WorkQueueRecord sends;
    private final WorkQueueRecord receives;
    private final @Nullable SharedReceiveWatch shared;

    /**
     * Of a new queue pair.
     *
     * @param watch shared
     * @param device name of its device
     * @param regions those of its domain
     * @param queuePair the provider's
     * @param completions what takes the completions of its queues
     */
    public QueuePairWatch(
            Watch watch, String device, RegionTable regions, QueuePair queuePair, CompletionRoutes completions) {
        this.watch = watch;
        lock = watch.callLock();
        this.regions = regions;
        record = new QueuePairRecord(device, queuePair.number(), queuePair::state);
        signalAll = completions.signalAll();
        sends = new WorkQueueRecord(completions.sends());
        receives = new WorkQueueRecord(completions.receives());
        shared = completions.shared();
        if (shared != null) {
            record.shareReceives();
        }
        if (queuePair.type() == QueuePairType.UNRELIABLE_DATAGRAM) {
            record.takesDatagrams(completions.queueKey());
            watch.datagrams().opened(((UnconnectedQueuePair) queuePair).address(), record);
        }
        rules = new RequestRules(watch, record, queuePair.limits().maxSendWorkRequests());
    }

    // ---- requests

    /**
     * A send work request that is about to be posted; its local entries follow.
     *
     * @param opcode what it does
     * @param wrId its number
     * @param flags its {@link SendFlags}
     */
    public OutstandingRequest request(SendOpcode opcode, long wrId, int flags) {
        int all = signalAll ? flags | SendFlags.SIGNALLED : flags;
        OutstandingRequest request = new OutstandingRequest(record, opcode.completion(), wrId, all);
        return opcode.consumesReceive() ? request.consumingReceive() : request;
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
     * Checks inline data, which the provider reads at the post by its address, or the region of a bind.
     *
     * @param request not posted yet
     * @param region the region that it lies in
     */
    public void checkInline(OutstandingRequest request, RegionRecord region) {
        rules.checkMemory(request, region.part(0, 0), region);
    }

    /**
     * Checks the region of a bind, which moves none of its bytes.
     *
     * @param request not posted yet
     * @param lkey key of the region
     */
    public void checkBound(OutstandingRequest request, int lkey) {
        RegionRecord region = regions.find(lkey);
        if (region != null) {
            checkInline(request, region);
        }
    }

    // ---- posts

    /**
     * Posts send work requests.
     *
     * @param requests what is posted, in order
     * @param post has the provider post them
     * @param accepted tells how many the provider accepted; gets null if the provider threw
     */
    public PostStatus send(
            List<OutstandingRequest> requests,
            Supplier<PostStatus> post,
            ToIntFunction<@Nullable PostStatus> accepted) {
        return post(sends, requests, post, accepted);
    }

    /**
     * Posts a send work request.
     *
     * @param request what is posted
     * @param post has the provider post it
     */
    public PostStatus send(OutstandingRequest request, Supplier<PostStatus> post) {
        return post(sends, List.of(request), post, QueuePairWatch::one);
    }

    /**
     * Posts a RECV.
     *
     * @param request what is posted
     * @param post has the provider post it
     */
    public PostStatus receive(OutstandingRequest request, Supplier<PostStatus> post) {
        return post(receives, List.of(request), post, QueuePairWatch::one);
    }

    private static int one(@Nullable PostStatus status) {
        return status == PostStatus.ACCEPTED ? 1 : 0;
    }

    private PostStatus post(
            WorkQueueRecord queue,
            List<OutstandingRequest> requests,
            Supplier<PostStatus> post,
            ToIntFunction<@Nullable PostStatus> accepted) {
        requests.forEach(rules::checkBeforePost);
        List<Finding> found = new ArrayList<>();
        PostStatus status = null;
        lock.lock();
        try {
            List<List<Finding>> each = new ArrayList<>();
            requests.forEach(request -> each.add(begin(queue, request)));
            try {
                status = post.get();
                return status;
            } finally {
                int count = Math.min(accepted.applyAsInt(status), requests.size());
                for (int i = requests.size() - 1; i >= count; i--) {
                    withdraw(queue, requests.get(i));
                }
                each.subList(0, count).forEach(found::addAll);
                if (queue == sends && (count > 0 || status == PostStatus.QUEUE_FULL)) {
                    rules.checkSlots(queue, status == PostStatus.QUEUE_FULL, requests.getLast(), found);
                }
            }
        } finally {
            lock.unlock();
            watch.reporter().report(found);
        }
    }

    private List<Finding> begin(WorkQueueRecord queue, OutstandingRequest request) {
        List<Finding> found = new ArrayList<>();
        rules.count(request, found);
        if (!queue.isCertain()) {
            return found;
        }
        OutstandingRequest shared = watch.memory().claim(request);
        watch.datagrams().claim(request);
        if (shared != null && rules.bothAlive(shared)) {
            found.add(rules.overlap(request, shared));
        }
        if (queue.add(request)) {
            found.add(rules.overcommitment(request, queue.completions()));
        }
        return found;
    }

    private void withdraw(WorkQueueRecord queue, OutstandingRequest request) {
        rules.uncount(request);
        if (queue.isCertain()) {
            watch.memory().release(request);
            queue.withdraw(request);
        }
    }

    // ---- completions

    /**
     * A completion was polled.
     *
     * @param from the queue that it was polled from
     * @param found takes findings
     */
    void completed(WorkCompletion completion, CompletionQueueRecord from, List<Finding> found) {
        lock.lock();
        try {
            if (completion.isSuccess()) {
                succeeded(completion, found);
            } else {
                failed(completion, from, found);
            }
        } finally {
            lock.unlock();
        }
    }

    private void succeeded(WorkCompletion completion, List<Finding> found) {
        boolean ofReceive = completion.opcode().isReceive();
        long received = completion.opcode() == CompletionOpcode.RECEIVE ? completion.byteLength() : 0;
        if (ofReceive && shared != null) {
            shared.completed(completion.wrId(), received, found);
            return;
        }
        WorkQueueRecord queue = ofReceive ? receives : sends;
        List<OutstandingRequest> done = queue.succeeded(completion.wrId(), completion.opcode());
        for (OutstandingRequest request : done) {
            if (queue.isCertain()) {
                rules.checkContent(request, request.opcode().isReceive() ? received : 0, found);
            }
            watch.memory().release(request);
        }
        if (!queue.isCertain()) {
            forget(queue);
        }
    }

    private void failed(WorkCompletion completion, CompletionQueueRecord from, List<Finding> found) {
        long wrId = completion.wrId();
        int ofSends = sends.completions() == from ? sends.candidates(wrId) : 0;
        int ofReceives = receives.completions() == from ? receives.candidates(wrId) : 0;
        SharedReceiveWatch ofShared = sharedCandidate(wrId, from);
        OutstandingRequest failed = null;
        if (ofShared != null && ofSends == 0) {
            failed = ofShared.completed(wrId, -1, found);
        } else if (ofShared != null) {
            forget();
        } else if (ofSends + ofReceives == 1) {
            for (OutstandingRequest request : ofSends == 1 ? sends.failed(wrId) : receives.failed(wrId)) {
                if (!request.isSink()) {
                    rules.checkContent(request, 0, found);
                }
                watch.memory().release(request);
                failed = request;
            }
        } else {
            forget(sends);
            forget(receives);
        }
        if (completion.status() == CompletionStatus.RECEIVER_NOT_READY_RETRY_EXCEEDED_ERROR) {
            found.add(rules.receiverNotReady(wrId, failed));
        }
        OutstandingRequest known = failed;
        completion.onInvalidField(field -> watch.reporter().report(rules.invalidField(field, wrId, known)));
    }

    private @Nullable SharedReceiveWatch sharedCandidate(long wrId, CompletionQueueRecord from) {
        return shared != null && receives.completions() == from && shared.mayHave(wrId) ? shared : null;
    }

    /** Completions were lost, or the queue pair is closed: nothing is known of what is outstanding. */
    public void forget() {
        lock.lock();
        try {
            forget(sends);
            forget(receives);
            if (shared != null) {
                shared.forget();
            }
        } finally {
            lock.unlock();
        }
    }

    private void forget(WorkQueueRecord queue) {
        queue.forget().forEach(watch.memory()::release);
    }

    /** True if completions of this queue pair go there. */
    boolean completesInto(CompletionQueueRecord queue) {
        return sends.completions() == queue || receives.completions() == queue;
    }

    // ---- the connection

    /**
     * It has connected.
     *
     * @param local its address; null if the provider does not tell
     * @param remote the address that it connected to
     */
    public void connected(@Nullable InetSocketAddress local, InetSocketAddress remote) {
        watch.peers().connected(record, local, remote);
    }

    /**
     * It is about to be accepted.
     *
     * @param listening address of the listener
     * @param remote address of the peer
     */
    public void accepting(InetSocketAddress listening, InetSocketAddress remote) {
        watch.peers().accepting(record, listening, remote);
    }

    /** It was reset. Completions from before may still come, so nothing is known of its requests any more. */
    public void reset() {
        lock.lock();
        try {
            forget(sends);
            forget(receives);
        } finally {
            lock.unlock();
        }
    }

    /** It was closed. Nobody knows which RECVs of a shared receive queue it had taken, so those are forgotten too. */
    public void closed() {
        forget();
        watch.peers().closed(record);
        watch.datagrams().closed(record);
    }
}
