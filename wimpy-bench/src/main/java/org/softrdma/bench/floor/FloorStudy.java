package org.softrdma.bench.floor;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import org.softrdma.bench.measurement.MeasurementException;
import org.softrdma.bench.read.RequestLoad;

/**
 * What a READ, a WRITE and a SEND cost the server of a software RNIC beside the cheapest C server for the same bytes, and how long a
 * READ takes beside a plain TCP ping-pong: proof or disproof that the RNIC is at the floor of TCP. One client process loads both in
 * turns. Runs on the calling thread; the responders are child processes.
 */
public final class FloorStudy {
    private static final long MIN_WARM_UP_MILLIS = 3000;

    private final FloorSetup setup;
    private final FloorLoad settings;
    private final RatioLimit limit;
    private final ObjectMapper mapper = new ObjectMapper();

    /**
     * A study.
     *
     * @param setup where and how long
     * @param settings what is measured
     */
    public FloorStudy(FloorSetup setup, FloorLoad settings) {
        this.setup = setup;
        this.settings = settings;
        limit = new RatioLimit(settings.limit());
        int cells = settings.sizes().size() * settings.windows().size();
        if ((long) cells * setup.warmUpMillis() < MIN_WARM_UP_MILLIS) {
            throw new IllegalArgumentException("warm-up of " + setup.warmUpMillis() + " ms in " + cells
                    + " cells: the JIT compiler needs at least " + MIN_WARM_UP_MILLIS + " ms in all");
        }
    }

    /**
     * Runs the study and prints its tables.
     *
     * @return the results
     */
    public ObjectNode run() {
        setup.describe("perf floor: " + settings.connections() + " connections, READs from and WRITEs to random places"
                + " of " + settings.memoryBytes() + " bytes of memory, SENDs that are answered by as many bytes, one"
                + " request in " + RequestLoad.VERIFY_INTERVAL + " verified byte by byte");
        List<String> serverPinning = setup.pin();
        ObjectNode root = mapper.createObjectNode();
        root.put("schema", 1).put("study", "floor");
        root.set("machine", mapper.valueToTree(setup.machine()));
        root.put("connections", settings.connections())
                .put("memoryBytes", settings.memoryBytes())
                .put("responders", settings.responders())
                .put("rounds", setup.rounds())
                .put("millis", setup.millis())
                .put("warmUpMillis", setup.warmUpMillis())
                .put("limit", settings.limit());
        ArrayNode cells = root.putArray("cells");
        for (FloorOperation operation : settings.operations()) {
            new CpuRows(setup, settings, limit, operation).run(serverPinning, cells);
        }
        if (settings.latency() && settings.operations().contains(FloorOperation.READ)) {
            root.set("latency", new LatencyRows(setup, settings, limit).run(serverPinning));
        }
        if (settings.sameHost() && settings.operations().contains(FloorOperation.READ)) {
            sameHost(root, serverPinning);
        }
        // Over RoCEv2 there is no such program.
        if (settings.bothWays()
                && settings.operations().contains(FloorOperation.READ)
                && setup.hosts().rocePort().isEmpty()) {
            root.set("bothWays", new BothWaysRows(setup).run(serverPinning));
        }
        ArrayNode above = root.putArray("aboveLimit");
        aboveLimit().forEach(above::add);
        setup.out()
                .println(
                        aboveLimit().isEmpty()
                                ? "every ratio is within " + settings.limit()
                                : "above " + settings.limit() + ": " + String.join("; ", aboveLimit()));
        setup.out().flush();
        return root;
    }

    /** Where there are no such READs, the study does without. */
    private void sameHost(ObjectNode root, List<String> serverPinning) {
        try {
            root.set("sameHost", new SameHostRows(setup, settings).run(serverPinning));
        } catch (MeasurementException e) {
            root.put("sameHostSkipped", e.getMessage());
            setup.out().println("skipped: READ on the same host: " + e.getMessage());
        }
    }

    /** What exceeded the limit. */
    public List<String> aboveLimit() {
        return limit.above();
    }
}
