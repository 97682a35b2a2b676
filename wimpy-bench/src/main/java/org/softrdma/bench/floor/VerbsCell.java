package org.softrdma.bench.floor;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.softrdma.bench.cpu.CpuClock;
import org.softrdma.bench.cpu.CpuUse;
import org.softrdma.bench.measurement.MedianOfRounds;
import org.softrdma.bench.read.RequestLoad;
import org.softrdma.bench.read.ResponderProcess;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * One way with answers of one size, in rounds. Its responders never sleep, so each is suspended but in its own rounds. Belongs to the
 * thread of its loads.
 */
final class VerbsCell implements AutoCloseable {
    private static final String RATE = "requestsPerSecond";
    private static final String CLIENT = "clientCpuMicros";
    /** Of both ends. */
    private static final String BOTH = "cpuMicros";

    private static final String RESPONDER = "responderCpuMicros";
    /** Of the load's thread, ready to run while other work held its core. */
    private static final String WAIT = "clientWaitedPercent";

    private static final double PERCENT = 100;
    private static final CpuClock OWN_CLOCK = CpuClock.ofThisProcess();

    private final VerbsWay way;
    private final VerbsLoad.Shape shape;
    private final long size;
    private final List<ResponderProcess> responders;
    private final List<RequestLoad> loads = new ArrayList<>();
    private final MedianOfRounds rounds = new MedianOfRounds();
    private long verified;

    /**
     * Connects.
     *
     * @param device of the client
     * @param way what requests are
     * @param responders of that way, suspended
     * @param shape how many requests there are at a time
     * @param size bytes of an answer
     */
    VerbsCell(VerbsDevice device, VerbsWay way, List<ResponderProcess> responders, VerbsLoad.Shape shape, long size) {
        this.way = way;
        this.responders = responders;
        this.shape = shape;
        this.size = size;
        try {
            for (ResponderProcess responder : responders) {
                responder.resume();
                loads.add(way.connect(device, responder, shape.connections(), shape.window(), size));
                responder.suspend();
            }
        } catch (RuntimeException e) {
            close();
            throw e;
        }
    }

    VerbsLoad.Shape shape() {
        return shape;
    }

    /** Runs each process without keeping figures. */
    void warmUp(long durationNs) {
        for (int i = 0; i < loads.size(); i++) {
            run(i, durationNs);
        }
    }

    /**
     * Runs a round.
     *
     * @param number which, from 0: chooses the process
     * @param durationNs how long
     */
    void round(int number, long durationNs) {
        // Each process has rounds of either order.
        int process = number / 2 % loads.size();
        CpuClock clock = responders.get(process).clock();
        CpuClock.Sample responderBefore = clock.sample();
        CpuClock.Sample before = OWN_CLOCK.sample();
        RequestLoad.Outcome outcome = run(process, durationNs);
        CpuUse client = OWN_CLOCK.sample().since(before);
        CpuUse responder = clock.sample().since(responderBefore);
        rounds.add(RATE, outcome.perSecond());
        rounds.add(CLIENT, client.microsPer(outcome.requests()));
        rounds.add(RESPONDER, responder.microsPer(outcome.requests()));
        rounds.add(BOTH, client.microsPer(outcome.requests()) + responder.microsPer(outcome.requests()));
        rounds.add(WAIT, PERCENT * client.waitNs() / outcome.elapsedNs());
        verified += outcome.verified();
    }

    private RequestLoad.Outcome run(int process, long durationNs) {
        responders.get(process).resume();
        RequestLoad.Outcome outcome = loads.get(process).run(shape.window(), size, durationNs);
        responders.get(process).suspend();
        return outcome;
    }

    double perSecond() {
        return rounds.median(RATE);
    }

    /** How long a request takes on average, by Little's law. */
    double meanMicros() {
        return (double) shape.connections() * shape.window() * TimeUnit.SECONDS.toMicros(1) / perSecond();
    }

    /** CPU time of both ends for a request. */
    double cpuMicros() {
        return rounds.median(BOTH);
    }

    double waited() {
        return rounds.median(WAIT);
    }

    /** The median over the rounds of this cell's requests per second by those of another. */
    double rateBeside(VerbsCell other) {
        return rounds.medianRatio(RATE, other.rounds);
    }

    /**
     * All figures.
     *
     * @param read the cell of READs of the same shape and size
     */
    ObjectNode json(VerbsCell read) {
        ObjectMapper mapper = new ObjectMapper();
        ObjectNode node = mapper.createObjectNode();
        node.put("way", way.name())
                .put("sizeBytes", size)
                .put("connections", shape.connections())
                .put("window", shape.window())
                .put(RATE, perSecond())
                .put("meanMicros", meanMicros())
                .put("readsBesideThese", read.rateBeside(this))
                .put(CLIENT, rounds.median(CLIENT))
                .put(RESPONDER, rounds.median(RESPONDER))
                .put(WAIT, waited())
                .put("verified", verified);
        node.set("rounds", mapper.valueToTree(rounds.all()));
        return node;
    }

    @Override
    public void close() {
        FloorSetup.closeAll(loads);
    }
}
