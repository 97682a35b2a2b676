package org.softrdma.bench.read;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import org.softrdma.bench.cpu.CpuClock;
import org.softrdma.bench.machine.Child;
import org.softrdma.bench.measurement.MeasurementException;
import org.softrdma.verbs.RemoteRegion;

/** A child process that answers requests: a C baseline, or a responder on a software RNIC. Belongs to the thread that started it. */
public final class ResponderProcess implements AutoCloseable {
    private static final long START_SECONDS = 300;
    private static final long ANSWER_SECONDS = 30;
    private static final String CATALOG = "CATALOG ";

    private final Child child;
    private final CpuClock clock;
    private final InetSocketAddress address;
    private final RemoteRegion memory;
    private final List<RemoteRegion> catalogs;

    private ResponderProcess(Child child, InetSocketAddress address, RemoteRegion memory, List<RemoteRegion> catalogs) {
        this.child = child;
        this.address = address;
        this.memory = memory;
        this.catalogs = List.copyOf(catalogs);
        clock = CpuClock.ofProcess(child.pid());
    }

    /**
     * Starts a C baseline.
     *
     * @param program which
     * @param pinning what to put before the command
     * @param memoryBytes bytes of its memory
     * @param spin true if it is not to sleep
     */
    public static ResponderProcess yardstick(
            NativePrograms.Responder program, List<String> pinning, long memoryBytes, boolean spin) {
        List<String> command = new ArrayList<>(pinning);
        command.addAll(program.command());
        command.addAll(List.of("--region", Long.toString(memoryBytes)));
        if (spin) {
            command.add("--spin");
        }
        try {
            Child child = Child.start("the C baseline", command);
            InetSocketAddress address = address(child, program.host());
            return new ResponderProcess(child, address, new RemoteRegion(0, memoryBytes, 0), List.of());
        } catch (IOException e) {
            throw failure(e);
        }
    }

    /**
     * Starts a responder on a software RNIC.
     *
     * @param program the command that runs {@code softrdma perf responder}
     * @param pinning what to put before the command
     * @param host where it listens
     * @param arguments further arguments
     */
    public static ResponderProcess soft(
            List<String> program, List<String> pinning, InetAddress host, List<String> arguments) {
        List<String> command = new ArrayList<>(pinning);
        command.addAll(program);
        command.addAll(arguments);
        if (!host.equals(InetAddress.getLoopbackAddress())) {
            command.addAll(List.of("--listen", host.getHostAddress()));
        }
        try {
            Child child = Child.start("the soft RNIC's responder", command);
            InetSocketAddress address = address(child, host);
            RemoteRegion memory = region(child.await("MEMORY", START_SECONDS));
            List<RemoteRegion> catalogs = new ArrayList<>();
            String line = child.nextLine(START_SECONDS);
            for (; !line.equals("READY"); line = child.nextLine(START_SECONDS)) {
                if (line.startsWith(CATALOG)) {
                    catalogs.add(region(line.substring(CATALOG.length())));
                }
            }
            return new ResponderProcess(child, address, memory, catalogs);
        } catch (IOException e) {
            throw failure(e);
        }
    }

    private static InetSocketAddress address(Child child, InetAddress host) {
        return new InetSocketAddress(host, Integer.parseInt(child.await("LISTENING", START_SECONDS)));
    }

    private static RemoteRegion region(String text) {
        String[] words = text.split(" ", -1);
        return new RemoteRegion(Long.parseLong(words[0]), Long.parseLong(words[1]), Integer.parseInt(words[2]));
    }

    public InetSocketAddress address() {
        return address;
    }

    public RemoteRegion memory() {
        return memory;
    }

    /** Where the rkeys of its slices are, in the order in which they were asked for. */
    public List<RemoteRegion> catalogs() {
        return catalogs;
    }

    public CpuClock clock() {
        return clock;
    }

    public long pid() {
        return child.pid();
    }

    /** Heap bytes allocated so far; 0 for the yardstick, which has no heap of that kind. */
    public long allocatedBytes() {
        return Long.parseLong(ask("ALLOC", "ALLOC").split(" ", -1)[0]);
    }

    /** Stops one that spins where it is, see {@link Child#suspend}. */
    public void suspend() {
        child.suspend();
    }

    /** Lets it go on. */
    public void resume() {
        child.resume();
    }

    private static MeasurementException failure(IOException e) {
        return new MeasurementException(e.getMessage() == null ? e.toString() : e.getMessage(), e);
    }

    private String ask(String question, String answer) {
        child.send(question);
        return child.await(answer, ANSWER_SECONDS);
    }

    @Override
    public void close() {
        child.close();
    }
}
