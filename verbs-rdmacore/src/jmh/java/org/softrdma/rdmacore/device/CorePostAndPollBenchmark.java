package org.softrdma.rdmacore.device;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;
import org.softrdma.ibverbs.Errno;
import org.softrdma.ibverbs.device.CompletionCodes;
import org.softrdma.rdmacore.abi.CMemory;
import org.softrdma.rdmacore.abi.VerbsLibrary;
import org.softrdma.rdmacore.abi.WorkRequestAbi;
import org.softrdma.rdmacore.fake.FakeVerbsLibrary;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.SendWorkRequest;
import org.softrdma.verbs.WorkCompletion;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.ConnectionRequest;
import org.softrdma.verbs.cm.Connector;
import org.softrdma.verbs.cm.Listener;

/**
 * What this provider adds to a post and a poll: a connected queue pair whose device completes each request at once.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class CorePostAndPollBenchmark {
    private static final int BYTES = 1024;
    private static final long TIMEOUT_NS = 10_000_000_000L;
    private static final QueuePairLimits LIMITS = QueuePairLimits.of(64, 64);

    private final WorkCompletion[] completions = WorkCompletion.array(16);
    private final SendWorkRequest write = new SendWorkRequest();
    private final Answering library = new Answering();
    private final CoreDevice device =
            new CoreDevice("fake", library, DeviceList.open(library), library.context(), Optional.empty());
    private final ProtectionDomain domain = device.allocateProtectionDomain();
    private final CompletionQueue queue = device.createCompletionQueue(128);
    private final MemoryRegion region =
            domain.register(device.allocateMemory(BYTES).segment(), Set.of(AccessFlag.READ_SINK));
    private final QueuePair queuePair = connect();
    private long wrId;

    /** The fake, but posts and polls remember and give back one number and do nothing else. */
    private static final class Answering extends FakeVerbsLibrary implements VerbsLibrary.Operations {
        private long posted;

        Answering() {
            super("fake0", false);
        }

        @Override
        public Operations operations(long context) {
            return this;
        }

        @Override
        public int postSend(long queuePair, long workRequests, long bad) {
            posted = CMemory.getLong(workRequests + WorkRequestAbi.SEND_WR_ID);
            return 0;
        }

        @Override
        public int postReceive(long queuePair, long workRequests, long bad) {
            posted = CMemory.getLong(workRequests + WorkRequestAbi.RECEIVE_WR_ID);
            return 0;
        }

        @Override
        public int postSharedReceive(long sharedQueue, long workRequests, long bad) {
            return postReceive(sharedQueue, workRequests, bad);
        }

        @Override
        public long allocateWindow(long domain, int type) {
            return -Errno.EOPNOTSUPP;
        }

        @Override
        public int deallocateWindow(long window) {
            return Errno.EOPNOTSUPP;
        }

        @Override
        public int poll(long queue, int max, long completions) {
            if (posted == 0) {
                return 0;
            }
            CMemory.putLong(completions + WorkRequestAbi.COMPLETION_WR_ID, posted);
            CMemory.putInt(completions + WorkRequestAbi.COMPLETION_STATUS, 0);
            CMemory.putInt(completions + WorkRequestAbi.COMPLETION_OPCODE, CompletionCodes.READ);
            CMemory.putInt(completions + WorkRequestAbi.COMPLETION_LENGTH, BYTES);
            posted = 0;
            return 1;
        }

        @Override
        public int requestNotification(long queue, int solicitedOnly) {
            return 0;
        }
    }

    private QueuePair connect() {
        QueuePairAttributes attributes = QueuePairAttributes.of(queue, LIMITS);
        Listener listener = device.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 1);
        Thread accepting = Thread.ofVirtual().start(() -> {
            ConnectionRequest request = listener.next(TIMEOUT_NS).orElseThrow();
            request.createQueuePair(domain, attributes);
            request.accept(ConnectionParameters.DEFAULT);
        });
        Connector connector = device.resolve(listener.localAddress(), TIMEOUT_NS);
        QueuePair made = connector.createQueuePair(domain, attributes);
        connector.connect(ConnectionParameters.DEFAULT, TIMEOUT_NS);
        try {
            accepting.join();
        } catch (InterruptedException e) {
            throw new IllegalStateException("interrupted while connecting", e);
        }
        return made;
    }

    /** A request that stays: its entry is a part of the region. */
    @Setup(Level.Trial)
    public void prepare() {
        write.write(0, 0, 1, SendFlags.SIGNALLED).add(region, 0, BYTES);
    }

    /** Nothing native is left to close; the JVM of the fork ends. */
    @TearDown(Level.Trial)
    public void end() {
        queuePair.disconnect();
    }

    /** A READ posted by the direct method, and its completion polled. */
    @Benchmark
    public int readAndPoll() {
        queuePair.postRead(wrId++, region, 0, BYTES, 0, 1, SendFlags.SIGNALLED);
        return queue.poll(completions);
    }

    /** A WRITE posted as a request object, and its completion polled. */
    @Benchmark
    public int writeAndPoll() {
        queuePair.post(write);
        return queue.poll(completions);
    }

    /** A RECV posted, and its completion polled. */
    @Benchmark
    public int receiveAndPoll() {
        queuePair.postReceive(wrId++, region, 0, BYTES);
        return queue.poll(completions);
    }

    /** A poll that finds nothing. */
    @Benchmark
    public int emptyPoll() {
        return queue.poll(completions);
    }
}
