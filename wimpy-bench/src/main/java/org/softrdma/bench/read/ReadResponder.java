package org.softrdma.bench.read;

import java.io.InputStream;
import java.io.PrintStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.HostMemory;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.MemorySource;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.WorkCompletion;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.ConnectionRequest;
import org.softrdma.verbs.cm.Listener;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * Memory for peers to READ and perhaps to WRITE, served by the device alone: the counterpart of the C yardsticks. Says on its output
 * where it listens and what may be read, obeys lines on its input, and ends when that ends.
 *
 * <p>Output: {@code LISTENING port}, {@code MEMORY address length rkey} (rkey 0 without a stag of its own), for each
 * number of slices {@code CATALOG address length rkey} naming memory that holds their rkeys, 4 bytes each, little endian, in
 * the order of the slices; then {@code READY}. Input: see {@link ControlLines}.
 *
 * <p>The calling thread accepts connections and drives a manual device; a second one reads the input.
 */
public final class ReadResponder {
    private static final int BACKLOG = 4096;
    private static final int LOOKS_PER_ACCEPT = 256;
    private static final long ACCEPT_WAIT_NS = TimeUnit.HOURS.toNanos(1);
    private static final int ENTRIES = 16;
    private static final int MAX_READS = 1024;

    private final VerbsDevice device;
    private final ControlLines lines;
    private final ProtectionDomain domain;
    private final CompletionQueue completions;
    private final List<QueuePair> queuePairs = new ArrayList<>();

    private ReadResponder(VerbsDevice device, PrintStream out) {
        this.device = device;
        lines = new ControlLines(out);
        domain = device.allocateProtectionDomain();
        completions = device.createCompletionQueue(ENTRIES);
    }

    /**
     * What to serve.
     *
     * @param listen where to listen
     * @param memoryBytes bytes of memory
     * @param slices numbers of stags: the memory is registered once in so many equal slices for each of them; empty for one
     *     stag of all of it
     * @param overlapBytes how far each slice reaches into the next; only with slices
     * @param writable true if peers may also WRITE
     * @param shared true if processes on this host may read it by themselves
     */
    public record Settings(
            InetSocketAddress listen,
            long memoryBytes,
            List<Integer> slices,
            long overlapBytes,
            boolean writable,
            boolean shared) {
        /** Checks the sizes. */
        public Settings {
            slices = List.copyOf(slices);
            long bytes = memoryBytes;
            if (bytes < 1 || overlapBytes < 0 || slices.stream().anyMatch(count -> count < 1 || count > bytes)) {
                throw new IllegalArgumentException("memory=" + memoryBytes + ", slices=" + slices + ", overlap="
                        + overlapBytes + ": expected at least one byte for each slice");
            }
        }
    }

    /**
     * Serves until the input ends.
     *
     * @param settings what to serve
     * @param in control lines
     * @param out what it says
     */
    public static void run(VerbsDevice device, Settings settings, InputStream in, PrintStream out) {
        ReadResponder responder = new ReadResponder(device, out);
        try {
            responder.run(settings, in);
        } finally {
            responder.queuePairs.forEach(QueuePair::close);
            responder.completions.close();
            responder.domain.close();
        }
    }

    private void run(Settings settings, InputStream in) {
        List<MemoryRegion> regions = new ArrayList<>();
        List<HostMemory> memories = new ArrayList<>();
        try (Listener listener = device.listen(settings.listen(), BACKLOG)) {
            lines.say("LISTENING " + listener.localAddress().getPort());
            open(settings, regions, memories);
            lines.say("READY");
            boolean manual = device.manualProgress();
            Thread control = manual
                    ? lines.obey(in, () -> -1, () -> {})
                    : lines.obey(in, () -> device.counters().getOrDefault("responderReads", -1L), listener::close);
            if (manual) {
                drive(listener);
            } else {
                accept(listener);
                // It closes the listener: it must be done with that before the device is closed.
                control.join();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            // A peer may still read: its queue pairs go first.
            queuePairs.forEach(QueuePair::close);
            regions.forEach(MemoryRegion::close);
            memories.forEach(HostMemory::close);
        }
    }

    private void open(Settings settings, List<MemoryRegion> regions, List<HostMemory> memories) {
        HostMemory memory = device.allocateMemory(
                settings.memoryBytes() + settings.overlapBytes(),
                settings.shared() ? new MemorySource.Shareable() : new MemorySource.Anonymous());
        memories.add(memory);
        MemorySegment segment = memory.segment();
        MemoryPattern.fill(segment);
        EnumSet<AccessFlag> access = settings.writable()
                ? EnumSet.of(AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE, AccessFlag.LOCAL_WRITE)
                : EnumSet.of(AccessFlag.REMOTE_READ);
        if (settings.slices().isEmpty()) {
            MemoryRegion region = domain.register(segment, access);
            regions.add(region);
            lines.say("MEMORY " + region.address() + " " + region.length() + " " + region.rkey());
            return;
        }
        lines.say("MEMORY " + segment.address() + " " + settings.memoryBytes() + " 0");
        for (int count : settings.slices()) {
            HostMemory catalog = device.allocateMemory((long) count * Integer.BYTES);
            memories.add(catalog);
            var rkeyLayout = ValueLayout.JAVA_INT.withOrder(ByteOrder.LITTLE_ENDIAN);
            long stride = settings.memoryBytes() / count;
            for (int i = 0; i < count; i++) {
                MemoryRegion slice =
                        domain.register(segment.asSlice(i * stride, stride + settings.overlapBytes()), access);
                regions.add(slice);
                catalog.segment().setAtIndex(rkeyLayout, i, slice.rkey());
            }
            MemoryRegion region = domain.register(catalog.segment(), access);
            regions.add(region);
            lines.say("CATALOG " + region.address() + " " + region.length() + " " + region.rkey());
        }
    }

    private void accept(Listener listener) {
        while (!listener.isClosed()) {
            accept(listener.next(ACCEPT_WAIT_NS));
        }
    }

    /** Drives a manual device without rest, and looks now and then for connections. */
    private void drive(Listener listener) {
        WorkCompletion[] none = WorkCompletion.array(1);
        while (!lines.isEnded()) {
            for (int i = 0; i < LOOKS_PER_ACCEPT; i++) {
                completions.poll(none);
            }
            accept(listener.next(0));
        }
    }

    private void accept(Optional<ConnectionRequest> next) {
        if (next.isEmpty()) {
            return;
        }
        queuePairs.removeIf(queuePair -> {
            boolean ended = queuePair.state() == QueuePairState.ERROR;
            if (ended) {
                queuePair.close();
            }
            return ended;
        });
        try (ConnectionRequest request = next.get()) {
            int reads = Math.max(
                    1,
                    Math.min(
                            Math.min(request.peerOutboundReads().orElse(MAX_READS), MAX_READS),
                            device.capabilities().maxInboundReads()));
            QueuePair queuePair =
                    request.createQueuePair(domain, QueuePairAttributes.of(completions, QueuePairLimits.of(1, 1)));
            queuePairs.add(queuePair);
            request.accept(new ConnectionParameters(1, reads, new byte[0]));
        } catch (VerbsException e) {
            lines.say("LOST " + e.getMessage());
        }
    }
}
