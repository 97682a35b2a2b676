package org.softrdma.sim.pinning;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.softrdma.net.kernel.ProcFile;
import org.softrdma.sim.peer.TestDevice;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.RemoteRegion;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.Connector;

/** A server device that pins, a client device that does not, and one connection between them. One test thread. */
public final class PinnedPair implements AutoCloseable {
    private static final int KIB = 1024;
    private static final int LONGEST = 1 << 20;

    private final TestDevice server;
    private final TestDevice client;
    private final QueuePair pair;
    private final MemoryRegion local;
    private long nextId = 1;

    /** Opens both; the options are the server's: name, value, name, value. */
    public PinnedPair(String... options) {
        this(new TestDevice(options), new TestDevice("pinning", "off"));
    }

    private PinnedPair(TestDevice server, TestDevice client) {
        this.server = server;
        this.client = client;
        local = client.guarded(LONGEST, AccessFlag.LOCAL_WRITE).region();
        Connector connector = client.own(client.device().resolve(server.address(), TestDevice.DEADLINE_NS));
        QueuePairLimits limits = QueuePairLimits.DEFAULT;
        pair = client.own(connector.createQueuePair(client.domain(), QueuePairAttributes.of(client.queue(), limits)));
        Thread connecting = Thread.ofVirtual()
                .start(() -> connector.connect(ConnectionParameters.ofReads(16), TestDevice.DEADLINE_NS));
        var request = server.request();
        server.queuePair(request, limits);
        request.accept(ConnectionParameters.ofReads(16));
        try {
            connecting.join(TimeUnit.NANOSECONDS.toMillis(TestDevice.DEADLINE_NS));
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** As the constructor, on a wire. */
    public static PinnedPair on(String wire, String... options) {
        List<String[]> common = TestDevice.pairOn(wire);
        return new PinnedPair(
                new TestDevice(both(common.getFirst(), options)),
                new TestDevice(both(common.getLast(), "pinning", "off")));
    }

    private static String[] both(String[] some, String... more) {
        return Stream.concat(Stream.of(some), Stream.of(more)).toArray(String[]::new);
    }

    /** The device whose memory is read. */
    public TestDevice server() {
        return server;
    }

    /** What the last READ has brought. */
    public MemorySegment received() {
        return local.memory();
    }

    /** READs from a region of the server and waits for it. */
    public CompletionStatus read(MemoryRegion source, long offset, long length) {
        return read(source.remote(), offset, length);
    }

    /** READs from a region of the server and waits for it. */
    public CompletionStatus read(RemoteRegion source, long offset, long length) {
        return run(PostStatus.ACCEPTED
                == pair.postRead(
                        nextId++, local, 0, length, source.address() + offset, source.rkey(), SendFlags.SIGNALLED));
    }

    /** WRITEs what was received last, or put there, and waits until the server has placed it. */
    public CompletionStatus write(MemoryRegion target, long offset, long length) {
        CompletionStatus written = run(PostStatus.ACCEPTED
                == pair.postWrite(
                        nextId++, local, 0, length, target.address() + offset, target.rkey(), SendFlags.SIGNALLED));
        return written == CompletionStatus.SUCCESS ? read(target, offset, 1) : written;
    }

    private CompletionStatus run(boolean accepted) {
        if (!accepted) {
            throw new AssertionError("the send queue is full");
        }
        List<TestDevice.Completion> completions = client.take(1);
        return completions.getFirst().status();
    }

    /** Bytes that the kernel says are locked by this process. */
    public static long kernelLockedBytes() {
        Long kib = ProcFile.numbers("/proc/self/status").get("VmLck");
        if (kib == null) {
            throw new AssertionError("no VmLck in /proc/self/status");
        }
        return kib * KIB;
    }

    /** Bytes that the kernel says are locked in the mappings that a segment touches ({@code Locked:} in smaps). */
    public static long kernelLockedBytes(MemorySegment memory) {
        long sum = 0;
        boolean inside = false;
        for (String line : ProcFile.lines("/proc/self/smaps")) {
            String[] words = line.split("[\\s:]+", 3);
            if (words[0].matches("[0-9a-f]+-[0-9a-f]+")) {
                String[] range = words[0].split("-", 2);
                inside = Long.parseUnsignedLong(range[0], 16) < memory.address() + memory.byteSize()
                        && Long.parseUnsignedLong(range[1], 16) > memory.address();
            } else if (inside && words[0].equals("Locked")) {
                sum += Long.parseLong(words[1].split(" ", 2)[0]) * KIB;
            }
        }
        return sum;
    }

    @Override
    public void close() {
        client.close();
        server.close();
    }
}
