package org.softrdma.bench.floor;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.softrdma.bench.cpu.CoreClock;
import org.softrdma.bench.cpu.Pinning;
import org.softrdma.bench.machine.LoopbackHosts;
import org.softrdma.bench.machine.MachineDescription;
import org.softrdma.bench.measurement.DeviceFactory;
import org.softrdma.bench.measurement.MeasurementException;
import org.softrdma.bench.read.NativePrograms;
import org.softrdma.bench.read.ResponderProcess;

/**
 * What both studies need from {@code main}.
 *
 * @param devices opens the client's device
 * @param responder the command that runs {@code softrdma perf responder} on the same provider
 * @param otherBuild the same command of another build; empty if none is compared
 * @param overTcp the software RNIC on TCP, for a study of another wire; else null
 * @param reader the command that runs {@code softrdma perf read-bw} on the same provider
 * @param hosts where responders listen
 * @param programs the C yardsticks
 * @param machine what the study runs on
 * @param out where tables go
 * @param progress told what happens, one line each
 * @param serverCpu core of the responders
 * @param clientCpu core of this process
 * @param rounds rounds of each system and cell
 * @param millis length of a round
 * @param warmUpMillis length of the warm-up of each system and cell
 */
public record FloorSetup(
        DeviceFactory devices,
        List<String> responder,
        List<String> otherBuild,
        @Nullable SoftRnic overTcp,
        List<String> reader,
        LoopbackHosts hosts,
        NativePrograms programs,
        MachineDescription machine,
        PrintWriter out,
        Consumer<String> progress,
        int serverCpu,
        int clientCpu,
        int rounds,
        int millis,
        int warmUpMillis) {
    /**
     * A software RNIC with other options.
     *
     * @param devices opens the client's device
     * @param responder the command that runs {@code softrdma perf responder}
     */
    public record SoftRnic(DeviceFactory devices, List<String> responder) {}

    /** Copies the list and checks the numbers. */
    public FloorSetup {
        responder = List.copyOf(responder);
        otherBuild = List.copyOf(otherBuild);
        reader = List.copyOf(reader);
        List<String> faults = new ArrayList<>();
        expect(faults, "--rounds", rounds, 1);
        expect(faults, "--millis", millis, 1);
        expect(faults, "--warm-up-millis", warmUpMillis, 0);
        expectCore(faults, "--server-cpu", serverCpu);
        expectCore(faults, "--client-cpu", clientCpu);
        if (!faults.isEmpty()) {
            throw new IllegalArgumentException(String.join("; ", faults));
        }
    }

    private static void expect(List<String> faults, String name, int value, int least) {
        if (value < least) {
            faults.add(name + " " + value + ": expected at least " + least);
        }
    }

    private static void expectCore(List<String> faults, String name, int core) {
        if (core < 0 || !Pinning.exists(core)) {
            faults.add(name + " " + core + ": this machine has no such core");
        }
    }

    /**
     * Starts a responder on the software RNIC.
     *
     * @param pinning what to put before the command
     * @param arguments further arguments
     */
    ResponderProcess startResponder(List<String> pinning, List<String> arguments) {
        return startResponder(responder, pinning, arguments);
    }

    /** As that, of this build or another. */
    ResponderProcess startResponder(List<String> command, List<String> pinning, List<String> arguments) {
        return ResponderProcess.soft(command, pinning, hosts.next(), arguments);
    }

    public long roundNs() {
        return TimeUnit.MILLISECONDS.toNanos(millis);
    }

    public long warmUpNs() {
        return TimeUnit.MILLISECONDS.toNanos(warmUpMillis);
    }

    CoreClock serverCore() {
        return new CoreClock(List.of(serverCpu));
    }

    /** Puts this process on its core and says so; gives what puts a responder on its own. */
    List<String> pin() {
        Pinning pinning = Pinning.detect();
        pinning.pinThisProcess(clientCpu).ifPresent(progress);
        if (serverCpu == clientCpu) {
            progress.accept("--server-cpu and --client-cpu are both " + serverCpu
                    + ": they compete for the core, and the ratios mean little");
        }
        return pinning.prefix(serverCpu);
    }

    public void describe(String what) {
        out.println(what);
        out.println("machine: " + machine.cpuModel() + ", " + machine.cpus() + " cpus, " + machine.kernel() + ", "
                + machine.jdk() + (machine.commit() == null ? "" : ", commit " + machine.commit()));
        out.println("server on core " + serverCpu + ", client on core " + clientCpu + "; medians of " + rounds
                + " interleaved rounds of " + millis + " ms after " + warmUpMillis
                + " ms of warm-up for each system and row; 'waited' is the time that threads were ready to"
                + " run while other work held their core: above a few percent, the machine was not quiet");
        out.flush();
    }

    /** Closes what was opened, in reverse order. */
    static void closeAll(List<? extends AutoCloseable> opened) {
        for (AutoCloseable closeable : opened.reversed()) {
            try {
                closeable.close();
            } catch (RuntimeException e) {
                throw e;
            } catch (Exception e) {
                throw new MeasurementException("could not close " + closeable + ": " + e.getMessage(), e);
            }
        }
    }
}
