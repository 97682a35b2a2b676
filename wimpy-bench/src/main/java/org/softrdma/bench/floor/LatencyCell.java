package org.softrdma.bench.floor;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.HdrHistogram.Histogram;
import org.softrdma.bench.machine.Child;
import org.softrdma.bench.measurement.MeasurementException;
import org.softrdma.bench.measurement.MedianOfRounds;
import org.softrdma.bench.read.NativePrograms;
import org.softrdma.bench.read.ReadLoad;
import org.softrdma.bench.read.ResponderProcess;

/** One system's round trips of one size, one at a time, in rounds. Belongs to the thread of its load. */
abstract class LatencyCell implements AutoCloseable {
    static final String MEDIAN = "p50Micros";
    static final String TAIL = "p99Micros";

    private static final double NS_PER_US = 1e3;
    private static final double MEDIAN_PERCENT = 50;
    private static final double TAIL_PERCENT = 99;

    private final MedianOfRounds rounds = new MedianOfRounds();

    /** Runs a round and keeps its figures; the first is a warm-up and is not kept. */
    abstract void round(long durationNs, boolean keep);

    MedianOfRounds rounds() {
        return rounds;
    }

    @Override
    public void close() {}

    final void keep(double median, double tail) {
        rounds.add(MEDIAN, median);
        rounds.add(TAIL, tail);
    }

    /** READs by a {@link ReadLoad}. */
    static final class OfReads extends LatencyCell {
        private final ResponderProcess responder;
        private final ReadLoad load;
        private final long size;
        private final boolean spin;

        /**
         * READs.
         *
         * @param responder suspended now if it spins
         * @param load one connection to it
         * @param size bytes of a READ
         * @param spin true if neither end sleeps: then the responder must rest between rounds
         */
        OfReads(ResponderProcess responder, ReadLoad load, long size, boolean spin) {
            this.responder = responder;
            this.load = load;
            this.size = size;
            this.spin = spin;
        }

        @Override
        void round(long durationNs, boolean keep) {
            if (spin) {
                responder.resume();
            }
            Histogram histogram = load.latency(size, durationNs, spin);
            if (spin) {
                responder.suspend();
            }
            if (keep) {
                keep(
                        histogram.getValueAtPercentile(MEDIAN_PERCENT) / NS_PER_US,
                        histogram.getValueAtPercentile(TAIL_PERCENT) / NS_PER_US);
            }
        }
    }

    /** The plain TCP ping-pong in C, both ends. */
    static final class OfPingPong extends LatencyCell {
        private static final long START_SECONDS = 20;
        private static final long ROUND_SECONDS = 120;
        private static final long PROBE_ITERATIONS = 1000;

        private final Child server;
        private final List<String> client;
        private double lastMicros;

        /**
         * Starts the server end.
         *
         * @param programs where the program is
         * @param serverPinning put before the server's command
         * @param clientPinning put before the client's command
         * @param size bytes of the answer
         * @param spin true if neither end sleeps
         */
        OfPingPong(
                NativePrograms programs,
                List<String> serverPinning,
                List<String> clientPinning,
                long size,
                boolean spin) {
            String mode = spin ? "--spin" : "--block";
            String program = programs.pingPong().toString();
            List<String> command = new ArrayList<>(serverPinning);
            command.addAll(List.of(program, "server", mode, "--response", Long.toString(size)));
            try {
                server = Child.start("the C ping-pong", command);
                String port = server.await("LISTENING", START_SECONDS);
                client = new ArrayList<>(clientPinning);
                client.addAll(
                        List.of(program, "client", mode, "--json", "--port", port, "--response", Long.toString(size)));
            } catch (IOException e) {
                throw new MeasurementException(e.getMessage() == null ? e.toString() : e.getMessage(), e);
            }
            lastMicros =
                    run(PROBE_ITERATIONS, PROBE_ITERATIONS).get("medianMicros").asDouble();
        }

        @Override
        void round(long durationNs, boolean keep) {
            long iterations = Math.max(PROBE_ITERATIONS, (long) (durationNs / NS_PER_US / lastMicros));
            JsonNode result = run(iterations, PROBE_ITERATIONS);
            lastMicros = result.get("averageMicros").asDouble();
            if (keep) {
                keep(
                        result.get("medianMicros").asDouble(),
                        result.get("p99Micros").asDouble());
            }
        }

        private JsonNode run(long iterations, long warmUp) {
            List<String> command = new ArrayList<>(client);
            command.addAll(List.of("--iterations", Long.toString(iterations), "--warmup", Long.toString(warmUp)));
            return NativePrograms.run("the C ping-pong's client", command, ROUND_SECONDS);
        }

        @Override
        public void close() {
            server.close();
        }
    }
}
