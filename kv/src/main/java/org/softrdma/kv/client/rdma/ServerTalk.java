package org.softrdma.kv.client.rdma;

import java.lang.foreign.MemorySegment;
import org.agrona.concurrent.NanoClock;
import org.softrdma.kv.message.AnswerDescriptor;

/**
 * What a reader and its server tell each other besides items: the hello that binds the queue pair to the memcached
 * connection, touch reports, and with every answer the server's clock. Owned by the thread of the reader.
 */
public final class ServerTalk {
    private final ReaderQueuePair queuePair;
    private final NanoClock nanoClock;
    private final boolean reportsTouches;
    private final TouchReporter touches;
    private final ClockEstimate clock = new ClockEstimate();
    private boolean bound;
    private long helloNs;
    private long reportNs;

    public ServerTalk(ReaderQueuePair queuePair, ReaderSettings settings, TouchCounts counts) {
        this.queuePair = queuePair;
        this.nanoClock = settings.nanoClock();
        this.reportsTouches = settings.touchReports();
        this.touches = new TouchReporter(queuePair.control(), queuePair.reportOffset(), counts);
    }

    /** Binds the queue pair to the memcached connection; the answer comes like those to rgets. */
    public void sendHello(String token) {
        helloNs = nanoClock.nanoTime();
        queuePair.sendHello(token);
    }

    /** True once the server has answered the hello. */
    public boolean isBound() {
        return bound;
    }

    /**
     * Takes a message that answers no rget.
     *
     * @param offset where it has landed
     * @param status of it
     * @return false if it is none of these
     */
    public boolean take(long offset, int status) {
        MemorySegment memory = queuePair.control();
        switch (status) {
            case AnswerDescriptor.BOUND -> {
                bound = true;
                heard(offset, helloNs);
            }
            case AnswerDescriptor.TOUCHED -> {
                touches.partDone();
                heard(offset, reportNs);
            }
            default -> {
                return false;
            }
        }
        touches.interval(AnswerDescriptor.touchIntervalSeconds(memory, offset));
        return true;
    }

    /** Takes the server's clock from any answer. */
    public void heard(long offset, long askedNs) {
        clock.heard(AnswerDescriptor.clockSeconds(queuePair.control(), offset), askedNs);
    }

    /** The latest that it can be on the server's clock. */
    public long latestSeconds(long nowNs) {
        return clock.latestSeconds(nowNs);
    }

    /**
     * A READ has found an item.
     *
     * @param first first half of its locator
     * @param generation of it
     * @param named what this returned the last time for this locator; 0 if that is not known
     * @param nowNs the time
     * @return how often it was named in reports, for the next time
     */
    public long touched(long first, int generation, long named, long nowNs) {
        if (!reportsTouches) {
            return named;
        }
        long namedNow = touches.add(first, generation, named, nowNs);
        reportTouches(nowNs);
        return namedNow;
    }

    /** Sends a touch report if one is due. */
    public void reportTouches(long nowNs) {
        if (touches.isDue(nowNs)) {
            sendReport();
        }
    }

    /** True if there is something to report, or a report that was not answered. */
    public boolean isUnfinished() {
        return touches.isUnfinished();
    }

    /** Sends what there is to report, due or not. */
    public void reportAll() {
        if (touches.maySend()) {
            sendReport();
        }
    }

    /** The SEND of a report is done. */
    public void reportSent() {
        touches.partDone();
    }

    /**
     * When {@link #reportTouches} should be called again, at the latest; Long.MAX_VALUE nanoseconds if there is no
     * need.
     */
    public long nextReportNs(long nowNs) {
        return touches.dueInNs(nowNs);
    }

    private void sendReport() {
        int length = touches.seal();
        reportNs = nanoClock.nanoTime();
        queuePair.sendReport(length);
    }
}
