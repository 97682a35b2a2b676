package org.softrdma.bench.floor;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.softrdma.bench.machine.LoopbackHosts;
import org.softrdma.bench.measurement.DeviceFactory;
import org.softrdma.bench.read.ResponderProcess;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * What a READ, and a WRITE that a WRITE answers, cost both ends in CPU time when many are under way and neither end sleeps:
 * the yardstick for programs that do more with them. Memory that is READ is shared with processes on the same host, as that of
 * stores is. In rounds, for a study that measures others in between; the responders are suspended meanwhile. The thread of
 * the study.
 */
public final class VerbsCosts implements AutoCloseable {
    /** As {@code perf verbs} has them. */
    private static final int CONNECTIONS = 8;

    private static final int WINDOW = 16;

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
     * @param size bytes of an answer
     */
    public VerbsCosts(DeviceFactory devices, List<String> responder, LoopbackHosts hosts, long size) {
        try {
            VerbsDevice device = devices.open(Map.of("progress", "manual"));
            opened.add(device);
            VerbsLoad.Shape shape = new VerbsLoad.Shape(CONNECTIONS, WINDOW);
            read = cell(device, VerbsWay.READ, List.of("--shared"), responder, hosts, shape, size);
            write = cell(device, VerbsWay.WRITE, List.of(), responder, hosts, shape, size);
        } catch (RuntimeException e) {
            close();
            throw e;
        }
    }

    private VerbsCell cell(
            VerbsDevice device,
            VerbsWay way,
            List<String> further,
            List<String> command,
            LoopbackHosts hosts,
            VerbsLoad.Shape shape,
            long size) {
        List<String> arguments = new ArrayList<>(way.arguments());
        arguments.addAll(further);
        ResponderProcess responder = ResponderProcess.soft(command, List.of(), hosts.next(), arguments);
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
