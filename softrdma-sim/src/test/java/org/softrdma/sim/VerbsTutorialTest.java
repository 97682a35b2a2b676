package org.softrdma.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.EnumSet;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.HostMemory;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.RemoteRegion;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.WorkCompletion;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.ConnectionRequest;
import org.softrdma.verbs.cm.Connector;
import org.softrdma.verbs.cm.Listener;
import org.softrdma.verbs.device.VerbsDevice;
import org.softrdma.verbs.device.VerbsProvider;
import org.softrdma.verbs.device.VerbsProviders;

/**
 * The verbs tutorial: one program in seven steps, requester and responder in one process. docs/guide/verbs-tutorial.md shows
 * the same code; DocumentationTest (cli) keeps the two equal.
 */
class VerbsTutorialTest {
    @Test
    void shouldReadFromPeerAndShowWhatRefusedReadLooksLike() throws Exception {
        // docs: device
        VerbsProvider provider = VerbsProviders.named("sim");
        VerbsProvider.Usability usability = provider.usability();
        assertTrue(usability.usable(), () -> usability.reason() + ": " + usability.remedy());
        try (VerbsDevice device = provider.open(Map.of());
                ProtectionDomain domain = device.allocateProtectionDomain();
                CompletionQueue completions = device.createCompletionQueue(16)) {
            // docs: end

            // docs: memory
            try (HostMemory memory = device.allocateMemory(8192);
                    MemoryRegion source =
                            domain.register(memory.segment().asSlice(0, 4096), EnumSet.of(AccessFlag.REMOTE_READ));
                    MemoryRegion sink =
                            domain.register(memory.segment().asSlice(4096, 4096), EnumSet.of(AccessFlag.READ_SINK))) {
                source.memory().setString(0, "hello from the responder");
                RemoteRegion remote = source.remote(); // address, length, rkey: what a requester has to be told
                // docs: end

                // docs: connect
                long timeoutNs = TimeUnit.SECONDS.toNanos(10);
                InetSocketAddress anyPort = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
                QueuePairAttributes attributes = QueuePairAttributes.of(completions, QueuePairLimits.DEFAULT);
                try (Listener listener = device.listen(anyPort, 1);
                        ExecutorService responderThread = Executors.newSingleThreadExecutor();
                        Connector connector = device.resolve(listener.localAddress(), timeoutNs);
                        QueuePair requester = connector.createQueuePair(domain, attributes)) {
                    Future<QueuePair> accepted = responderThread.submit(() -> {
                        try (ConnectionRequest request =
                                listener.next(timeoutNs).orElseThrow()) {
                            QueuePair responder = request.createQueuePair(domain, attributes);
                            request.accept(ConnectionParameters.DEFAULT);
                            return responder;
                        }
                    });
                    connector.connect(ConnectionParameters.DEFAULT, timeoutNs);
                    assertEquals(QueuePairState.READY_TO_SEND, requester.state());
                    try (QueuePair responder = accepted.get()) {
                        // docs: end

                        // docs: read
                        PostStatus posted = requester.postRead(
                                7, sink, 0, 4096, remote.address(), remote.rkey(), SendFlags.SIGNALLED);
                        assertEquals(PostStatus.ACCEPTED, posted);
                        // docs: end

                        // docs: completion
                        WorkCompletion[] done = WorkCompletion.array(16);
                        while (completions.poll(done) == 0) {
                            Thread.onSpinWait();
                        }
                        assertEquals(7, done[0].wrId());
                        assertTrue(done[0].isSuccess(), done[0]::toString);
                        assertEquals(4096, done[0].byteLength());
                        assertEquals("hello from the responder", sink.memory().getString(0));
                        // docs: end

                        // docs: error
                        long beyond = remote.address() + 1; // the last of 4096 bytes lies outside the region
                        requester.postRead(8, sink, 0, 4096, beyond, remote.rkey(), SendFlags.SIGNALLED);
                        while (completions.poll(done) == 0) {
                            Thread.onSpinWait();
                        }
                        assertEquals(8, done[0].wrId());
                        assertEquals(CompletionStatus.REMOTE_ACCESS_ERROR, done[0].status());
                        assertThrows(IllegalStateException.class, done[0]::byteLength);
                        assertEquals(QueuePairState.ERROR, requester.state());
                        responder.disconnected().toCompletableFuture().get(10, TimeUnit.SECONDS);
                        // docs: end

                        // docs: close
                        VerbsException refused = assertThrows(VerbsException.class, domain::close);
                        assertEquals(VerbsErrorCode.BUSY, refused.code());
                    }
                }
            }
        }
        // docs: end
    }
}
