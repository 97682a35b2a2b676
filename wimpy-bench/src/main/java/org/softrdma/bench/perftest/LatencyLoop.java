package org.softrdma.bench.perftest;

import java.util.concurrent.TimeUnit;
import org.softrdma.bench.measurement.MeasurementException;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.SendOpcode;

/** What one initiator of a latency test does: one operation at a time, and how long each took. On its thread. */
final class LatencyLoop {
    private final PerfEndpoint endpoint;
    private final PerfOptions options;
    private final Runnable once;
    private final Traffic traffic;
    private final PingPongTraffic pingPong;
    private final EchoTraffic echo;
    private final Answers answers = new Answers();
    private long sizeBytes;

    /**
     * For one initiator.
     *
     * @param endpoint connected
     * @param options the test
     */
    LatencyLoop(PerfEndpoint endpoint, PerfOptions options) {
        this.endpoint = endpoint;
        this.options = options;
        pingPong = new PingPongTraffic(endpoint, options.test().opcode(), options.inline(), false);
        echo = new EchoTraffic(endpoint, options.inline());
        if (options.test() == PerfTest.ECHO) {
            traffic = echo;
            once = this::echoOnce;
        } else if (options.opcode().isAnswered()) {
            traffic = answers;
            once = this::fetchOnce;
        } else {
            traffic = pingPong;
            once = this::pingPongOnce;
        }
    }

    /** Who takes completions between two sizes: that of the last operation may come late. */
    Traffic traffic() {
        return traffic;
    }

    /** A message size begins. */
    void begin(long newSizeBytes) {
        sizeBytes = newSizeBytes;
        pingPong.begin(newSizeBytes, 0, 0);
        echo.begin(newSizeBytes, 0, 0);
    }

    /** Runs the iterations asked for; how long each took. */
    long[] counted() {
        long[] timesNs = new long[(int) options.iterations()];
        long beforeNs = System.nanoTime();
        for (int i = 0; i < timesNs.length; i++) {
            once.run();
            long nowNs = System.nanoTime();
            timesNs[i] = nowNs - beforeNs;
            beforeNs = nowNs;
        }
        return timesNs;
    }

    /**
     * How many operations a stretch of time had.
     *
     * @param count operations
     * @param elapsedNs the time
     */
    record Timed(long count, long elapsedNs) {}

    /** Runs for a time, at least one operation. */
    Timed timed(long durationNs) {
        long startNs = System.nanoTime();
        long count = 0;
        long elapsedNs;
        do {
            once.run();
            count++;
            elapsedNs = System.nanoTime() - startNs;
        } while (elapsedNs < durationNs);
        return new Timed(count, elapsedNs);
    }

    private void fetchOnce() {
        answers.done = false;
        PerfEndpoint.require(post(), options.opcode().name());
        while (!answers.done) {
            requireProgress(endpoint.turn(answers, !options.events(), PerfEndpoint.TIMEOUT_NS));
        }
    }

    private PostStatus post() {
        return options.opcode() == SendOpcode.READ
                ? endpoint.data(0)
                        .postRead(
                                PerfEndpoint.wrId(PerfEndpoint.DATA, 0, 1),
                                endpoint.region(),
                                0,
                                sizeBytes,
                                endpoint.remoteAddress(0),
                                endpoint.remoteKey(),
                                SendFlags.SIGNALLED)
                : endpoint.postAtomic(
                        options.opcode(), 0, PerfEndpoint.wrId(PerfEndpoint.DATA, 0, 1), SendFlags.SIGNALLED);
    }

    private void pingPongOnce() {
        long before = pingPong.received();
        pingPong.serve();
        while (pingPong.received() == before) {
            requireProgress(endpoint.turn(pingPong, !options.events(), PerfEndpoint.TIMEOUT_NS));
        }
    }

    private void echoOnce() {
        requireProgress(echo.roundTrip(System.nanoTime() + PerfEndpoint.TIMEOUT_NS) ? 1 : 0);
    }

    static void requireProgress(int completions) {
        if (completions == 0) {
            throw new MeasurementException("nothing completed for "
                    + TimeUnit.NANOSECONDS.toSeconds(PerfEndpoint.TIMEOUT_NS) + " s: is the server alive?");
        }
    }

    private static final class Answers implements Traffic {
        private boolean done;

        @Override
        public void completed(int kind, int queuePair, int count) {
            done = true;
        }
    }
}
