package org.softrdma.kv.server;

import java.net.InetAddress;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.EndCause;
import org.softrdma.verbs.WorkCompletion;

/**
 * The queue pairs there are, from when they are made to their end. Any thread adds one and counts them; the completion thread of
 * the {@link RdmaPort} handles what they have done, and alone ends them.
 */
final class RdmaSessions {
    private static final Logger LOG = LoggerFactory.getLogger(RdmaSessions.class);
    private static final long NS_PER_MS = TimeUnit.MILLISECONDS.toNanos(1);
    private static final int BATCH = 64;

    private final KvService service;
    private final ServerCounters counters;
    private final Admission admission;
    private final long answerTimeoutNs;
    private final Map<CompletionQueue, RdmaSession> sessions = new ConcurrentHashMap<>();
    private final WorkCompletion[] batch = WorkCompletion.array(BATCH);

    RdmaSessions(KvService service, Admission admission) {
        this.service = service;
        this.counters = service.counters();
        this.admission = admission;
        this.answerTimeoutNs = service.context().timeouts().answerTimeoutNs();
    }

    /** From now on its completions are handled. Any thread. */
    void add(RdmaSession session) {
        sessions.put(session.completions(), session);
    }

    /** How many there are. Any thread. */
    int size() {
        return sessions.size();
    }

    /** Takes what a queue pair has done. */
    void handle(CompletionQueue queue) {
        queue.acknowledgeEvents(1);
        @Nullable RdmaSession session = sessions.get(queue);
        if (session == null) {
            return;
        }
        boolean goesOn = false;
        try {
            queue.requestNotification(false);
            goesOn = session.drain(batch);
        } catch (RuntimeException | Error e) {
            tell("a queue pair is ended", e);
        }
        if (!goesOn) {
            end(session);
        }
    }

    /** Ends those that did not say hello in time, and those whose clients take no answers. */
    void endStopped(long nowNs) {
        sessions.values().forEach(session -> endIfStopped(session, nowNs));
    }

    private void endIfStopped(RdmaSession session, long nowNs) {
        if (!session.isGreeted()) {
            if (nowNs - session.acceptedNs() > admission.greetingTimeoutNs()) {
                end(session);
            }
        } else if (session.answers().isStalled(nowNs, answerTimeoutNs)) {
            counters.stalledQueuePairs.increment();
            LOG.info("a queue pair is ended: its client took no answer for {} ms", answerTimeoutNs / NS_PER_MS);
            end(session);
        }
    }

    /** Ends all. */
    void endAll() {
        sessions.values().forEach(this::end);
    }

    private void end(RdmaSession session) {
        if (sessions.remove(session.completions()) == null) {
            return;
        }
        try {
            if (session.isGreeted()) {
                counters.boundQueuePairs.decrementAndGet();
            } else {
                counters.rejectedQueuePairs.increment();
            }
            if (session.owner() == null) {
                admission.leave(session.peer());
            }
            if (session.endCause() == EndCause.PEER_ACCESS_ERROR) {
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
            tell("a queue pair could not be closed", e);
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
            for (RdmaSession each : sessions.values()) {
                if (WrongKeys.isSamePeer(each.peer(), peer)) {
                    each.disconnect(); // one that was kept for later is a guess too
                }
            }
        } else {
            LOG.warn("a queue pair from {} used a wrong key", peer.getHostAddress());
        }
    }

    /** Memory may be short, and then telling fails too, which is no reason to stop. */
    static void tell(String what, Throwable cause) {
        try {
            LOG.error(what, cause);
        } catch (Error unspeakable) {
            // the next one may be told again
        }
    }
}
