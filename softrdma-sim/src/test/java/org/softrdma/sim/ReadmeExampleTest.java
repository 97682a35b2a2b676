package org.softrdma.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.HostMemory;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.RemoteRegion;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.WorkCompletion;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.ConnectionRequest;
import org.softrdma.verbs.cm.Connector;
import org.softrdma.verbs.cm.Listener;
import org.softrdma.verbs.device.VerbsDevice;
import org.softrdma.verbs.device.VerbsProviders;

/** The README's example: it runs, and it is what the README shows. */
class ReadmeExampleTest {
    private static final Path THIS = Path.of("src/test/java/org/softrdma/sim/ReadmeExampleTest.java");
    private static final Path README = Path.of("../README.md");
    private static final long TIMEOUT_NS = 10_000_000_000L;

    @Test
    void shouldReadWhatTheOtherSideRegistered() {
        try (VerbsDevice device = new SoftRdmaProvider().open(Map.of());
                ProtectionDomain domain = device.allocateProtectionDomain();
                CompletionQueue completions = device.createCompletionQueue(1);
                HostMemory memory = device.allocateMemory(4096);
                MemoryRegion source = domain.register(memory.segment(), EnumSet.of(AccessFlag.REMOTE_READ));
                Listener listener = device.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 1)) {
            memory.segment().setString(0, "told by one READ");
            Thread server = Thread.ofPlatform().daemon().start(() -> {
                try (ConnectionRequest request = listener.next(TIMEOUT_NS).orElseThrow();
                        QueuePair queuePair = request.createQueuePair(
                                domain, QueuePairAttributes.of(completions, QueuePairLimits.DEFAULT))) {
                    request.accept(ConnectionParameters.DEFAULT);
                    queuePair.disconnected().toCompletableFuture().join();
                }
            });
            InetSocketAddress address = listener.localAddress();
            assertEquals("told by one READ", read(address.getHostString(), address.getPort(), source.remote()));
            join(server);
        }
    }

    private static void join(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static String read(String host, int port, RemoteRegion remote) {
        // README: begin
        try (VerbsDevice device = VerbsProviders.named("sim").open(Map.of());
                ProtectionDomain domain = device.allocateProtectionDomain();
                CompletionQueue completions = device.createCompletionQueue(64);
                HostMemory memory = device.allocateMemory(4096);
                MemoryRegion sink = domain.register(memory.segment(), EnumSet.of(AccessFlag.READ_SINK));
                Connector connector = device.resolve(new InetSocketAddress(host, port), 10_000_000_000L);
                QueuePair queuePair = connector.createQueuePair(
                        domain, QueuePairAttributes.of(completions, QueuePairLimits.DEFAULT))) {
            connector.connect(ConnectionParameters.DEFAULT, 10_000_000_000L);
            queuePair.postRead(1, sink, 0, 4096, remote.address(), remote.rkey(), SendFlags.SIGNALLED);
            WorkCompletion[] done = WorkCompletion.array(1);
            while (completions.poll(done) == 0) {
                Thread.onSpinWait();
            }
            return done[0].isSuccess()
                    ? memory.segment().getString(0)
                    : done[0].status().toString();
        }
        // README: end
    }

    @Test
    void shouldBeWhatTheReadmeShows() throws IOException {
        String shown = between(Files.readString(README), "```java", "```");
        String here = between(Files.readString(THIS), "// README: begin", "// README: end");
        assertEquals(here.strip().replaceAll("\\s+", ""), shown.strip().replaceAll("\\s+", ""));
    }

    private static String between(String text, String begin, String end) {
        int from = text.indexOf(begin) + begin.length();
        return text.substring(from, text.indexOf(end, from));
    }
}
