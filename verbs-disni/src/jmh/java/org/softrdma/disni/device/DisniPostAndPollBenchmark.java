package org.softrdma.disni.device;

import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.Mockito.when;

import java.io.IOException;
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
import org.softrdma.disni.library.DisniLibrary;
import org.softrdma.ibverbs.WireProtocol;
import org.softrdma.ibverbs.device.CompletionCodes;
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
import org.softrdma.verbs.cm.Connector;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * What this provider adds to a post and a poll, above DiSNI: a connected queue pair whose prepared calls remember one
 * number and give it back. DiSNI's own cost, its buffers and JNI, comes on top.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class DisniPostAndPollBenchmark {
    private static final int BYTES = 1024;
    private static final long TIMEOUT_NS = 10_000_000_000L;
    private static final QueuePairLimits LIMITS = QueuePairLimits.of(64, 64);

    private final WorkCompletion[] completions = WorkCompletion.array(16);
    private final SendWorkRequest write = new SendWorkRequest();
    private final Posted posted = new Posted();
    private final MockedDisni disni = new MockedDisni();
    private final VerbsDevice device = disni.device(WireProtocol.ROCE);
    private final ProtectionDomain domain = device.allocateProtectionDomain();
    private final CompletionQueue queue = queue();
    private final MemoryRegion region =
            domain.register(device.allocateMemory(BYTES).segment(), Set.of(AccessFlag.READ_SINK));
    private final Connector connector = device.resolve(MockedDisni.PEER, TIMEOUT_NS);
    private final QueuePair queuePair = connect();
    private long wrId;

    /** What was posted last; 0 once its completion was polled. */
    private static final class Posted {
        private long wrId;
    }

    private record Send(Posted posted) implements DisniLibrary.PreparedSend {
        @Override
        public void request(long wrId, int flags, long remoteAddress, int rkey) {
            posted.wrId = wrId;
        }

        @Override
        public void entry(int index, long address, int length, int lkey) {}

        @Override
        public void execute() {}

        @Override
        public void free() {}
    }

    private record Receive(Posted posted) implements DisniLibrary.PreparedReceive {
        @Override
        public void request(long wrId) {
            posted.wrId = wrId;
        }

        @Override
        public void entry(int index, long address, int length, int lkey) {}

        @Override
        public void execute() {}

        @Override
        public void free() {}
    }

    private static final class Poll implements DisniLibrary.PreparedPoll {
        private final Posted posted;
        private long polled;

        Poll(Posted posted) {
            this.posted = posted;
        }

        @Override
        public int execute() {
            polled = posted.wrId;
            posted.wrId = 0;
            return polled == 0 ? 0 : 1;
        }

        @Override
        public long wrId(int index) {
            return polled;
        }

        @Override
        public int status(int index) {
            return 0;
        }

        @Override
        public int opcode(int index) {
            return CompletionCodes.READ;
        }

        @Override
        public int byteLength(int index) {
            return BYTES;
        }

        @Override
        public void free() {}
    }

    private record Pair(Posted posted) implements DisniLibrary.Pair {
        @Override
        public int number() {
            return MockedDisni.PAIR_NUMBER;
        }

        @Override
        public DisniLibrary.PreparedSend prepareSend(int opcode, int entries) {
            return new Send(posted);
        }

        @Override
        public DisniLibrary.PreparedReceive prepareReceive(int entries) {
            return new Receive(posted);
        }
    }

    private record Queue(Posted posted) implements DisniLibrary.Queue {
        @Override
        public DisniLibrary.PreparedPoll preparePoll(int entries) {
            return new Poll(posted);
        }

        @Override
        public void requestNotification(boolean solicitedOnly) {}

        @Override
        public boolean takeEvent(int timeoutMs) {
            return false;
        }

        @Override
        public void destroy() {}
    }

    private CompletionQueue queue() {
        try {
            when(disni.context.createQueue(anyInt(), anyInt())).thenReturn(new Queue(posted));
            return device.createCompletionQueue(128);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private QueuePair connect() {
        try {
            when(disni.last().createQueuePair(any(), any(), any(), anyInt(), anyInt(), anyInt()))
                    .thenReturn(new Pair(posted));
            QueuePair made = connector.createQueuePair(domain, QueuePairAttributes.of(queue, LIMITS));
            connector.connect(ConnectionParameters.DEFAULT, TIMEOUT_NS);
            return made;
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
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
