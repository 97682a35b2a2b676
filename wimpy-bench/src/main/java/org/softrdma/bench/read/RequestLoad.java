package org.softrdma.bench.read;

import java.util.concurrent.TimeUnit;
import org.softrdma.bench.measurement.MeasurementException;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.WorkCompletion;

/**
 * Requests of one kind to one responder over some connections, a window of them outstanding on each. Knows nothing of the
 * responder but what its wire says: a C program and a software RNIC get the same load. Belongs to the thread that made it.
 */
public interface RequestLoad extends AutoCloseable {
    /** One request in so many is verified byte by byte. */
    int VERIFY_INTERVAL = 256;

    /**
     * What a run did.
     *
     * @param requests requests done
     * @param elapsedNs from the first posting to the last completion
     * @param verified requests whose bytes were compared
     */
    record Outcome(long requests, long elapsedNs, long verified) {
        public double perSecond() {
            return (double) requests * TimeUnit.SECONDS.toNanos(1) / elapsedNs;
        }
    }

    /**
     * Runs from rest to rest, flat out: fills the windows, keeps them full for the time, waits for what is outstanding.
     *
     * @param window requests outstanding per connection
     * @param sizeBytes bytes of a request
     * @param durationNs how long to go on posting
     * @throws MeasurementException if a request failed, did not end, or did not do what it should
     */
    Outcome run(int window, long sizeBytes, long durationNs);

    /**
     * Refuses a completion that is no success.
     *
     * @param completion polled
     * @param request noun phrase for messages, such as "a READ"
     */
    static void requireSuccess(WorkCompletion completion, String request) {
        if (!completion.isSuccess()) {
            throw new MeasurementException(request + " ended with " + completion.status() + " (vendor code 0x"
                    + Integer.toHexString(completion.vendorCode()) + ")");
        }
    }

    /**
     * Refuses a request that was not taken.
     *
     * @param status of posting it
     * @param request noun phrase for messages, such as "a READ"
     */
    static void requireAccepted(PostStatus status, String request) {
        if (status != PostStatus.ACCEPTED) {
            throw new MeasurementException(
                    request + " found its queue full: a bug in softrdma perf or in the provider");
        }
    }

    @Override
    void close();
}
