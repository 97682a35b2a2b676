package org.softrdma.bench.floor;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.softrdma.bench.machine.LoopbackHosts;
import org.softrdma.bench.measurement.DeviceFactory;
import org.softrdma.bench.read.ResponderProcess;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * What a READ, and a WRITE that a WRITE answers, cost both ends in CPU time when neither sleeps: what less than that no
 * program of their device can do, and the yardstick for one that does more. In rounds, for a study that measures others in
 * between; the responders are suspended meanwhile. The thread of the study.
 */
public final class VerbsCosts implements AutoCloseable {
    private static final int CONNECTIONS = 1;

    private final List<AutoCloseable> opened = new ArrayList<>();
    private final VerbsCell read;
    private final VerbsCell write;
    private int rounds;

    /**
     * Starts the responders and connects.
     *
     * @param devices opens this process's device
     * @param responder the command that runs {@code softrdma perf responder} on the same provider
     * @param hosts where responders listen
     * @param window requests under way
     * @param size bytes of an answer
     */
    public VerbsCosts(DeviceFactory devices, List<String> responder, LoopbackHosts hosts, int window, long size) {
        try {
            VerbsDevice device = devices.open(Map.of("progress", "manual"));
            opened.add(device);
            VerbsLoad.Shape shape = new VerbsLoad.Shape(CONNECTIONS, window);
            read = cell(device, VerbsWay.READ, responder, hosts, shape, size);
            write = cell(device, VerbsWay.WRITE, responder, hosts, shape, size);
        } catch (RuntimeException e) {
            close();
            throw e;
        }
    }

    private VerbsCell cell(
            VerbsDevice device,
            VerbsWay way,
            List<String> command,
            LoopbackHosts hosts,
            VerbsLoad.Shape shape,
            long size) {
        ResponderProcess responder = ResponderProcess.soft(command, List.of(), hosts.next(), way.arguments());
        opened.add(responder);
        responder.suspend();
        VerbsCell cell = new VerbsCell(device, way, List.of(responder), shape, size);
        opened.add(cell);
        return cell;
    }

    /** Runs both without keeping figures. */
    public void warmUp(long ns) {
        read.warmUp(ns);
        write.warmUp(ns);
    }

    /** Runs both. */
    public void round(long ns) {
        read.round(rounds, ns);
        write.round(rounds, ns);
        rounds++;
    }

    /** Of a READ, both ends. */
    public double readMicros() {
        return read.cpuMicros();
    }

    /** Of a WRITE and of the WRITE that answers it, both ends. */
    public double writeAnsweredMicros() {
        return write.cpuMicros();
    }

    @Override
    public void close() {
        FloorSetup.closeAll(opened);
    }
}
