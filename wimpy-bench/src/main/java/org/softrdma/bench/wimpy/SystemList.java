package org.softrdma.bench.wimpy;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.softrdma.bench.measurement.MeasurementException;
import org.softrdma.kv.client.KvException;
import org.softrdma.verbs.VerbsException;

/** The systems of a study, and those it has to do without, with the reasons. */
final class SystemList {
    private final List<MeasuredSystem> systems = new ArrayList<>();
    private final List<Long> processes = new ArrayList<>();
    private final Map<String, String> skipped = new LinkedHashMap<>();
    private final Consumer<String> progress;

    /**
     * None yet.
     *
     * @param progress told what is skipped
     */
    SystemList(Consumer<String> progress) {
        this.progress = progress;
    }

    /** Adds systems; if that fails they are skipped, and the study goes on without them. */
    void attempt(String name, Runnable adding) {
        try {
            adding.run();
        } catch (MeasurementException | KvException | VerbsException e) {
            skip(name, String.valueOf(e.getMessage()));
        }
    }

    void skip(String name, String reason) {
        progress.accept("skipping " + name + ": " + reason);
        skipped.put(name, reason);
    }

    void add(MeasuredSystem system) {
        systems.add(system);
    }

    /** A process of this machine that serves some of the systems. */
    void addProcess(long pid) {
        processes.add(pid);
    }

    List<MeasuredSystem> systems() {
        return List.copyOf(systems);
    }

    List<Long> processes() {
        return List.copyOf(processes);
    }

    Map<String, String> skipped() {
        return skipped;
    }
}
