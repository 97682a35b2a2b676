package org.softrdma.bench.study;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.softrdma.bench.measurement.MeasurementException;
import org.softrdma.kv.client.KvException;
import org.softrdma.stores.StoreException;
import org.softrdma.verbs.VerbsException;

/**
 * The systems of a study, and those it has to do without, with the reasons.
 *
 * @param <S> what a system is
 */
public final class SystemList<S> {
    private final List<S> systems = new ArrayList<>();
    private final List<Long> processes = new ArrayList<>();
    private final Map<String, String> skipped = new LinkedHashMap<>();
    private final Consumer<String> progress;

    /**
     * None yet.
     *
     * @param progress told what is skipped
     */
    public SystemList(Consumer<String> progress) {
        this.progress = progress;
    }

    /** Adds systems; if that fails they are skipped, and the study goes on without them. */
    public void attempt(String name, Runnable adding) {
        try {
            adding.run();
        } catch (MeasurementException | KvException | StoreException | VerbsException e) {
            skip(name, String.valueOf(e.getMessage()));
        }
    }

    /** Notes that a system is skipped, and why. */
    public void skip(String name, String reason) {
        progress.accept("skipping " + name + ": " + reason);
        skipped.put(name, reason);
    }

    /** Adds a system. */
    public void add(S system) {
        systems.add(system);
    }

    /** A process of this machine that serves some of the systems. */
    public void addProcess(long pid) {
        processes.add(pid);
    }

    /** The systems, in the order in which they were added. */
    public List<S> systems() {
        return List.copyOf(systems);
    }

    /** Processes that serve them. */
    public List<Long> processes() {
        return List.copyOf(processes);
    }

    /** What is skipped, with the reasons. */
    public Map<String, String> skipped() {
        return skipped;
    }
}
