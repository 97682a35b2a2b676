package org.softrdma.bench.floor;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.softrdma.bench.cpu.Pinning;
import org.softrdma.bench.measurement.ByteSize;
import org.softrdma.bench.read.ReadLoad;
import org.softrdma.bench.read.ReadTargets;
import org.softrdma.bench.read.ResponderProcess;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * How long one READ at a time takes beside a plain TCP ping-pong in C, with both ends spinning and with both asleep. Belongs to the
 * thread of the study.
 */
final class LatencyRows {
    private final FloorSetup setup;
    private final FloorLoad settings;
    private final RatioLimit limit;
    private final ObjectMapper mapper = new ObjectMapper();

    LatencyRows(FloorSetup setup, FloorLoad settings, RatioLimit limit) {
        this.setup = setup;
        this.settings = settings;
        this.limit = limit;
    }

    /**
     * Measures and prints them.
     *
     * @param pinning what to put before the command of a responder
     */
    ArrayNode run(List<String> pinning) {
        setup.out().println("""

                round trip of one READ at a time, us     C ping-pong       soft RNIC, Java      Java client,
                                                         C to C, TCP       both ends            C responder
                  mode     size                          p50     p99       p50     p99   ratio    p50""");
        ArrayNode rows = mapper.createArrayNode();
        latency(rows, pinning, true);
        latency(rows, pinning, false);
        return rows;
    }

    private void latency(ArrayNode rows, List<String> pinning, boolean spin) {
        List<String> clientPinning = Pinning.detect().prefix(setup.clientCpu());
        List<AutoCloseable> opened = new ArrayList<>();
        try {
            VerbsDevice device = setup.devices().open(Map.of("progress", "manual"));
            opened.add(device);
            ResponderProcess c = ResponderProcess.yardstick(
                    setup.programs().readResponder(setup.hosts()), pinning, settings.memoryBytes(), spin);
            ReadLoad ofC = connect(device, opened, c);
            if (spin) {
                // All that spin share a core: each runs in its own rounds only.
                c.suspend();
            }
            ResponderProcess java = setup.startResponder(
                    pinning,
                    List.of(
                            "--progress",
                            spin ? "manual" : "engine",
                            "--memory",
                            Long.toString(settings.memoryBytes())));
            ReadLoad ofJava = connect(device, opened, java);
            if (spin) {
                java.suspend();
            }
            for (long size : settings.sizes()) {
                // The ping-pong answers with the same bytes each time: so do the others, from one place in their
                // memory.
                ofC.targets(onePlace(c, size));
                ofJava.targets(onePlace(java, size));
                try (LatencyCell plain =
                                new LatencyCell.OfPingPong(setup.programs(), pinning, clientPinning, size, spin);
                        LatencyCell soft = new LatencyCell.OfReads(java, ofJava, size, spin);
                        LatencyCell mixed = new LatencyCell.OfReads(c, ofC, size, spin)) {
                    measure(List.of(plain, soft, mixed));
                    rows.add(report(size, spin, plain, soft, mixed));
                }
            }
        } finally {
            FloorSetup.closeAll(opened);
        }
    }

    /** One connection for READs one at a time; notes responder and load to be closed, the load first. */
    private ReadLoad connect(VerbsDevice device, List<AutoCloseable> opened, ResponderProcess responder) {
        opened.add(responder);
        ReadLoad load = ReadLoad.connect(
                device, responder.address(), 1, 1, settings.largest(), onePlace(responder, settings.largest()));
        opened.add(load);
        return load;
    }

    private static ReadTargets onePlace(ResponderProcess responder, long size) {
        return ReadTargets.ofRegion(
                responder.memory().address(), size, responder.memory().rkey(), size);
    }

    private void measure(List<LatencyCell> cells) {
        cells.forEach(cell -> cell.round(setup.warmUpNs(), false));
        for (int round = 0; round < setup.rounds(); round++) {
            List<LatencyCell> order = round % 2 == 0 ? cells : cells.reversed();
            order.forEach(cell -> cell.round(setup.roundNs(), true));
        }
    }

    private ObjectNode report(long size, boolean spin, LatencyCell plain, LatencyCell java, LatencyCell mixed) {
        double ratio = java.rounds().medianRatio(LatencyCell.MEDIAN, plain.rounds());
        String mode = spin ? "spin" : "block";
        setup.out()
                .println(String.format(
                        Locale.ROOT,
                        "%6s  %7s                      %7.2f %7.2f   %7.2f %7.2f   %5.2f %7.2f",
                        mode,
                        ByteSize.format(size),
                        plain.rounds().median(LatencyCell.MEDIAN),
                        plain.rounds().median(LatencyCell.TAIL),
                        java.rounds().median(LatencyCell.MEDIAN),
                        java.rounds().median(LatencyCell.TAIL),
                        ratio,
                        mixed.rounds().median(LatencyCell.MEDIAN)));
        setup.out().flush();
        limit.check("latency of " + ByteSize.format(size) + ", " + mode, ratio);
        ObjectNode node = mapper.createObjectNode();
        node.put("mode", mode).put("sizeBytes", size).put("ratio", ratio);
        node.set("pingPong", json(plain));
        node.set("soft", json(java));
        node.set("javaClientOfYardstick", json(mixed));
        return node;
    }

    private ObjectNode json(LatencyCell cell) {
        ObjectNode node = mapper.createObjectNode();
        node.put(LatencyCell.MEDIAN, cell.rounds().median(LatencyCell.MEDIAN))
                .put(LatencyCell.TAIL, cell.rounds().median(LatencyCell.TAIL));
        node.set("rounds", mapper.valueToTree(cell.rounds().all()));
        return node;
    }
}
