package org.softrdma.sim.peer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.softrdma.net.transport.EveryTransport;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.ConnectionRequest;
import org.softrdma.verbs.cm.Connector;

/** A region is a mapped file that somebody truncates: that costs the connections that use it, and no other. */
class TruncatedFileTest {
    private static final int BYTES = 1 << 20;
    private static final QueuePairLimits LIMITS = QueuePairLimits.of(8, 8);

    /** A device whose second connection has nothing to do with the file. */
    private static final class Scene implements AutoCloseable {
        private final Arena arena = Arena.ofShared();
        private final FileChannel file;
        private final TestDevice server;
        private final TestDevice client;
        private final MemoryRegion mapped;
        private final MemoryRegion remote;
        private final MemoryRegion local;
        private long reads;

        Scene(String transport, Path path) throws IOException {
            file = FileChannel.open(
                    path, StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE);
            int ignored = file.write(ByteBuffer.allocate(BYTES), 0);
            MemorySegment segment = file.map(FileChannel.MapMode.READ_WRITE, 0, BYTES, arena);
            server = new TestDevice("transport", transport, "pinning", "off");
            client = new TestDevice("transport", transport, "pinning", "off");
            mapped = server.own(server.domain()
                    .register(
                            segment, Set.of(AccessFlag.REMOTE_READ, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE)));
            remote = server.guarded(BYTES, AccessFlag.REMOTE_READ).region();
            local = client.guarded(BYTES, AccessFlag.READ_SINK).region();
        }

        QueuePair connect() {
            Connector connector = client.own(client.device().resolve(server.address(), TestDevice.DEADLINE_NS));
            QueuePair pair = client.own(
                    connector.createQueuePair(client.domain(), QueuePairAttributes.of(client.queue(), LIMITS)));
            Thread accepting = Thread.ofPlatform().daemon().start(() -> {
                ConnectionRequest request = server.request();
                QueuePair accepted = server.queuePair(request, LIMITS);
                request.accept(ConnectionParameters.DEFAULT);
                assertEquals(PostStatus.ACCEPTED, accepted.postReceive(1, remote, 0, 8));
            });
            connector.connect(ConnectionParameters.DEFAULT, TestDevice.DEADLINE_NS);
            try {
                accepting.join();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            return pair;
        }

        CompletionStatus read(QueuePair pair, MemoryRegion source, int length) {
            assertEquals(
                    PostStatus.ACCEPTED,
                    pair.postRead(++reads, local, 0, length, source.address(), source.rkey(), SendFlags.SIGNALLED));
            TestDevice.Completion completion = client.take(1).getFirst();
            while (completion.wrId() != reads) {
                completion = client.take(1).getFirst(); // a WRITE that was flushed
            }
            return completion.status();
        }

        CompletionStatus write(QueuePair pair, int length) {
            assertEquals(
                    PostStatus.ACCEPTED,
                    pair.postWrite(0, local, 0, length, mapped.address(), mapped.rkey(), SendFlags.NONE));
            // Done when its bytes went to TCP; the READ behind it is answered when it was placed.
            return read(pair, remote, 8);
        }

        @Override
        public void close() throws IOException {
            client.close();
            server.close();
            file.close();
            arena.close();
        }
    }

    /** Copied and gathered, placed by a copy and straight from the socket. */
    @ParameterizedTest
    @CsvSource({
        "epoll,READ,1000", "epoll,READ,1000000", "epoll,WRITE,1000", "epoll,WRITE,1000000",
        "uring,READ,1000", "uring,READ,1000000", "uring,WRITE,1000", "uring,WRITE,1000000",
        "nio,READ,1000", "nio,READ,1000000", "nio,WRITE,1000", "nio,WRITE,1000000"
    })
    @ExtendWith(EveryTransport.SkipUnavailable.class)
    void shouldCostOneConnection(String transport, String request, int length, @TempDir Path directory)
            throws IOException {
        try (Scene scene = new Scene(transport, directory.resolve("mapped"))) {
            QueuePair beside = scene.connect();
            QueuePair pair = scene.connect();
            boolean read = request.equals("READ");
            CompletionStatus before = read ? scene.read(pair, scene.mapped, length) : scene.write(pair, length);
            assertEquals(CompletionStatus.SUCCESS, before);
            scene.file.truncate(0);

            CompletionStatus after = read ? scene.read(pair, scene.mapped, length) : scene.write(pair, length);

            assertNotEquals(CompletionStatus.SUCCESS, after);
            assertEquals(CompletionStatus.SUCCESS, scene.read(beside, scene.remote, length));
            TestDevice.await("the flush at the server", () -> scene.server.counter("connectionsClosed") == 1);
            assertEquals(
                    List.of(CompletionStatus.FLUSHED),
                    scene.server.take(1).stream()
                            .map(TestDevice.Completion::status)
                            .toList());
            if (length < 4096) {
                assertEquals(1, scene.server.counter("engineFaults"));
            }
        }
    }
}
