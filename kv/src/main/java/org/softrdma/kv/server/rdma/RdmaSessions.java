package org.softrdma.kv.server.rdma;

import java.net.InetAddress;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.softrdma.kv.server.host.SafeLog;
import org.softrdma.kv.server.host.ServerAgent;
import org.softrdma.verbs.CompletionChannel;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.EndCause;
import org.softrdma.verbs.WorkCompletion;

/**
 * The queue pairs there are, from when they are made to their end, and the agent that handles what they have done. It
 * alone ends them. A failure, an Error too, costs one session at most. Any thread adds a session and counts them.
 */
final class RdmaSessions implements ServerAgent {
    private static final Logger LOG = LoggerFactory.getLogger(RdmaSessions.class);
    private static final long NS_PER_MS = TimeUnit.MILLISECONDS.toNanos(1);
    private static final long LOOK_NS = TimeUnit.SECONDS.toNanos(1);

    /** Completions that are polled at once. */
    static final int BATCH = 64;

    private final RdmaService service;
    private final RdmaCounters counters;
    private final Admission admission;
    private final CompletionChannel channel;
    private final long answerTimeoutNs;
    private final Map<CompletionQueue, RdmaSession> sessions = new ConcurrentHashMap<>();

    /** Sessions that had more completions than one step handles, oldest first. */
    private final ArrayDeque<RdmaSession> unfinished = new ArrayDeque<>();

    private final WorkCompletion[] batch;
    private long lookedNs;

    /**
     * No sessions yet.
     *
     * @param channel where their completion queues raise events; its owner closes it
     * @param batch completions that are polled at once
     */
    RdmaSessions(RdmaService service, Admission admission, CompletionChannel channel, int batch) {
        this.service = service;
        this.counters = service.counters();
        this.admission = admission;
        this.channel = channel;
        this.batch = WorkCompletion.array(batch);
        this.answerTimeoutNs = service.settings().answerTimeoutNs();
        this.lookedNs = service.nowNs();
    }

    /** From now on its completions are handled. Any thread. */
    void add(RdmaSession session) {
        sessions.put(session.completions(), session);
    }

    /** How many there are. Any thread. */
    int size() {
        return sessions.size();
    }

    /** In the order of their numbers, and not of their hash codes, which are others in each run. */
    private List<RdmaSession> inOrder() {
        return sessions.values().stream()
                .sorted(Comparator.comparingInt(RdmaSession::number))
                .toList();
    }

    @Override
    public String roleName() {
        return "kv-rdma-completions";
    }

    @Override
    public int doWork(long timeoutNs) {
        int work = 0;
        Optional<CompletionQueue> ready = channel.await(unfinished.isEmpty() ? timeoutNs : 0);
        if (ready.isPresent()) {
            handle(ready.get());
            work++;
        }
        RdmaSession left = unfinished.poll();
        if (left != null) {
            boolean ignored = left.unfinished(false);
            drain(left);
            work++;
        }
        long nowNs = service.nowNs();
        if (nowNs - lookedNs >= LOOK_NS) {
            lookedNs = nowNs;
            inOrder().forEach(session -> endIfStopped(session, nowNs));
            work++;
        }
        return work;
    }

    /** Ends all sessions. */
    @Override
    public void onClose() {
        inOrder().forEach(this::end);
    }

    private void handle(CompletionQueue queue) {
        queue.acknowledgeEvents(1);
        @Nullable RdmaSession session = sessions.get(queue);
        if (session != null) {
            drain(session);
        }
    }

    /** Takes what a queue pair has done. One that was ended meanwhile is passed over. */
    private void drain(RdmaSession session) {
        if (!sessions.containsKey(session.completions())) {
            return;
        }
        RdmaSession.Progress progress = RdmaSession.Progress.ENDED;
        try {
            session.completions().requestNotification(false);
            progress = session.drain(batch);
        } catch (RuntimeException | Error e) {
            SafeLog.error(LOG, "a queue pair is ended", e);
        }
        switch (progress) {
            case DRAINED -> {}
            case MORE -> {
                if (!session.unfinished(true)) {
                    unfinished.add(session);
                }
            }
            case ENDED -> end(session);
        }
    }

    /** Ends a session that did not say hello in time, or whose client takes no answers. */
    private void endIfStopped(RdmaSession session, long nowNs) {
        if (!session.isGreeted()) {
            if (nowNs - session.acceptedNs() > admission.greetingTimeoutNs()) {
                end(session);
            }
        } else if (session.answers().isStalled(nowNs, answerTimeoutNs)) {
            counters.stalledQueuePairs.increment();
            LOG.info("ending a queue pair: its client has taken no answer for {} ms", answerTimeoutNs / NS_PER_MS);
            end(session);
        }
    }

    private void end(RdmaSession session) {
        if (sessions.remove(session.completions()) == null) {
            return;
        }
        boolean refused = session.endCause() == EndCause.PEER_ACCESS_ERROR;
        LOG.info(
                "queue pair {} from {} has ended{}",
                session.number(),
                session.peer().getHostAddress(),
                refused ? ": the client used a wrong key, range or access right" : "");
        try {
            if (session.isGreeted()) {
                counters.boundQueuePairs.decrementAndGet();
            } else {
                counters.rejectedQueuePairs.increment();
            }
            if (session.owner() == null) {
                admission.leave(session.peer());
            }
            if (refused) {
                wrongKey(session);
            }
        } finally {
            endQuietly(session);
        }
    }

    private static void endQuietly(RdmaSession session) {
        try {
            session.end();
        } catch (RuntimeException | Error e) {
            SafeLog.error(LOG, "a queue pair could not be closed", e);
        }
    }

    /** Counts it for the address of the queue pair and for that of its memcached connection, which need not be one. */
    private void wrongKey(RdmaSession session) {
        counters.wrongKeys.increment();
        long nowNs = service.nowNs();
        InetAddress peer = session.peer();
        countWrongKey(peer, nowNs);
        RdmaClient owner = session.owner();
        if (owner != null) {
            owner.usedWrongKey();
            InetAddress client = owner.address();
            if (client != null && !WrongKeys.isSamePeer(client, peer)) {
                countWrongKey(client, nowNs);
            }
        }
    }

    private void countWrongKey(InetAddress peer, long nowNs) {
        long pauseNs = admission.wrongKeys().count(peer, nowNs);
        if (pauseNs > 0) {
            LOG.warn(
                    "queue pairs from {} used wrong keys: all of them are ended, and further ones refused for {} s",
                    peer.getHostAddress(),
                    TimeUnit.NANOSECONDS.toSeconds(pauseNs));
            for (RdmaSession each : inOrder()) {
                if (WrongKeys.isSamePeer(each.peer(), peer)) {
                    each.disconnect(); // one that was kept for later is a guess too
                }
            }
        } else {
            LOG.warn("a queue pair from {} used a wrong key", peer.getHostAddress());
        }
    }
}
