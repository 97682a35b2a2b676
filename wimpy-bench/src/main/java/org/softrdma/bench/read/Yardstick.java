package org.softrdma.bench.read;

import java.util.List;
import org.HdrHistogram.Histogram;
import org.softrdma.bench.cpu.CpuClock;
import org.softrdma.bench.measurement.Arrivals;
import org.softrdma.bench.measurement.MeasurementException;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * The C READ responder as a child process, and connections that read from it: the floor that studies outside this package
 * compare with. Belongs to the thread that started it, which drives the device.
 */
public final class Yardstick implements AutoCloseable {
    private final ResponderProcess responder;
    private final ReadLoad load;

    private Yardstick(ResponderProcess responder, ReadLoad load) {
        this.responder = responder;
        this.load = load;
    }

    /**
     * What the connections are made for.
     *
     * @param connections how many
     * @param maxWindow most READs outstanding on each
     * @param maxSize longest READ, bytes
     * @param memoryBytes bytes of memory that the responder serves
     */
    public record Limits(int connections, int maxWindow, long maxSize, long memoryBytes) {}

    /**
     * Starts the responder and connects.
     *
     * @param program the C program
     * @param pinning what to put before the command
     * @param device in manual progress, driven by this thread; stays open until after this is closed
     * @param limits what the connections are made for
     * @throws MeasurementException if it does not start
     */
    public static Yardstick start(
            NativePrograms.Responder program, List<String> pinning, VerbsDevice device, Limits limits) {
        ResponderProcess responder = ResponderProcess.yardstick(program, pinning, limits.memoryBytes(), false);
        try {
            return new Yardstick(
                    responder,
                    ReadLoad.connect(
                            device,
                            responder.address(),
                            limits.connections(),
                            limits.maxWindow(),
                            limits.maxSize(),
                            targets(responder, limits.memoryBytes(), limits.maxSize())));
        } catch (RuntimeException e) {
            responder.close();
            throw e;
        }
    }

    private static ReadTargets targets(ResponderProcess responder, long memoryBytes, long size) {
        return ReadTargets.ofRegion(
                responder.memory().address(), memoryBytes, responder.memory().rkey(), size);
    }

    /** The process number of the responder. */
    public long pid() {
        return responder.pid();
    }

    /** The CPU time of the responder. */
    public CpuClock clock() {
        return responder.clock();
    }

    /**
     * Reads from rest to rest; one READ in some is verified byte by byte.
     *
     * @param sizeBytes bytes of a READ
     * @param memoryBytes of how many bytes of the responder's memory, from its start
     * @param window most READs outstanding per connection
     * @param arrivals when READs are to start
     * @param latencies takes nanoseconds from the intended start to the completion
     * @return READs done and nanoseconds from the first posting to the last completion
     * @throws MeasurementException if a READ failed or brought wrong data
     */
    public Done run(long sizeBytes, long memoryBytes, int window, Arrivals arrivals, Histogram latencies) {
        load.targets(targets(responder, memoryBytes, sizeBytes));
        RequestLoad.Outcome outcome = load.run(window, sizeBytes, arrivals, latencies);
        return new Done(outcome.requests(), outcome.elapsedNs());
    }

    /**
     * What a run did.
     *
     * @param reads READs done
     * @param elapsedNs from the first posting to the last completion
     */
    public record Done(long reads, long elapsedNs) {}

    @Override
    public void close() {
        load.close();
        responder.close();
    }
}
