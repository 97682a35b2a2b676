package org.softrdma.bench.floor;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.softrdma.bench.cpu.Pinning;
import org.softrdma.bench.measurement.ByteSize;
import org.softrdma.bench.measurement.MeasurementException;
import org.softrdma.bench.measurement.MedianOfRounds;
import org.softrdma.bench.read.NativePrograms;
import org.softrdma.bench.read.ReadLoad;
import org.softrdma.bench.read.ReadTargets;
import org.softrdma.bench.read.RequestLoad;
import org.softrdma.bench.read.ResponderProcess;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * What a READ takes one thread of the requester on the same host, whose responder does nothing, beside the same copy by a C
 * program. One READ after the other in every sense: the thread does each when it is posted. Belongs to the thread of the study.
 */
final class SameHostRows {
    /** A thousand items are read, as many as the study of GETs has. */
    private static final long ITEMS = 1000;

    private static final int WINDOW = 16;
    private static final long C_ROUND_SECONDS = 60;
    /** Part of the READs that must have been done by this process. */
    private static final double LEAST_OWN = 0.999;

    private static final String COPY = "copy";
    private static final String READ = "read";
    private static final String OWN_READS = "sameHostReads";

    private final FloorSetup setup;
    private final FloorLoad settings;
    private final ObjectMapper mapper = new ObjectMapper();

    SameHostRows(FloorSetup setup, FloorLoad settings) {
        this.setup = setup;
        this.settings = settings;
    }

    /**
     * Measures and prints them.
     *
     * @param pinning what to put before the command of the responder
     * @throws MeasurementException if there are no such READs here
     */
    ArrayNode run(List<String> pinning) {
        List<AutoCloseable> opened = new ArrayList<>();
        try {
            VerbsDevice device = setup.devices().open(Map.of("progress", "manual"));
            opened.add(device);
            ResponderProcess responder = setup.startResponder(
                    pinning, List.of("--shared", "--memory", Long.toString(ITEMS * settings.largest())));
            opened.add(responder);
            ReadLoad load = ReadLoad.connect(
                    device, responder.address(), 1, WINDOW, settings.largest(), items(responder, settings.largest()));
            opened.add(load);
            setup.out().println("""

                    READ on the same host, one thread, from 1000 items    C copy    soft RNIC, Java
                              size                                            ns         ns   ratio   READs/s""");
            ArrayNode rows = mapper.createArrayNode();
            for (long size : settings.sizes()) {
                load.targets(items(responder, size));
                read(device, load, size, setup.warmUpNs());
                rows.add(report(size, rounds(device, load, size)));
            }
            return rows;
        } finally {
            FloorSetup.closeAll(opened);
        }
    }

    private static ReadTargets items(ResponderProcess responder, long size) {
        return ReadTargets.ofRegion(
                responder.memory().address(), ITEMS * size, responder.memory().rkey(), size);
    }

    private MedianOfRounds rounds(VerbsDevice device, ReadLoad load, long size) {
        MedianOfRounds rounds = new MedianOfRounds();
        for (int round = 0; round < setup.rounds(); round++) {
            rounds.add(COPY, copy(size));
            rounds.add(READ, read(device, load, size, setup.roundNs()));
        }
        return rounds;
    }

    /** Nanoseconds for a READ. */
    private static double read(VerbsDevice device, ReadLoad load, long size, long durationNs) {
        long before = own(device);
        RequestLoad.Outcome outcome = load.run(WINDOW, size, durationNs);
        if (own(device) - before < LEAST_OWN * outcome.requests()) {
            throw new MeasurementException("the responder served READs that this process could have done: "
                    + (own(device) - before) + " of " + outcome.requests() + " were done here");
        }
        return (double) outcome.elapsedNs() / outcome.requests();
    }

    private static long own(VerbsDevice device) {
        return device.counters().getOrDefault(OWN_READS, 0L);
    }

    /** Nanoseconds for a copy in C. */
    private double copy(long size) {
        List<String> command = new ArrayList<>(Pinning.detect().prefix(setup.clientCpu()));
        command.addAll(List.of(
                setup.programs().sharedCopy().toString(),
                "--size",
                Long.toString(size),
                "--region",
                Long.toString(ITEMS * size),
                "--window",
                Integer.toString(WINDOW),
                "--millis",
                Integer.toString(setup.millis())));
        JsonNode result = NativePrograms.run("the C copy", command, C_ROUND_SECONDS);
        return result.get("nanoseconds").asDouble() / result.get("copies").asDouble();
    }

    private ObjectNode report(long size, MedianOfRounds rounds) {
        double readNs = rounds.median(READ);
        double perSecond = TimeUnit.SECONDS.toNanos(1) / readNs;
        double ratio = rounds.medianRatio(READ, COPY);
        setup.out()
                .println(String.format(
                        Locale.ROOT,
                        "        %8s                                      %8.1f   %8.1f  %6.2f  %8.0f",
                        ByteSize.format(size),
                        rounds.median(COPY),
                        readNs,
                        ratio,
                        perSecond));
        setup.out().flush();
        ObjectNode node = mapper.createObjectNode();
        node.put("sizeBytes", size)
                .put("copyNanos", rounds.median(COPY))
                .put("readNanos", readNs)
                .put("ratio", ratio)
                .put("readsPerSecond", perSecond);
        node.set("rounds", mapper.valueToTree(rounds.all()));
        return node;
    }
}
