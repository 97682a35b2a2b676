package org.softrdma.junit.guide;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.softrdma.fabric.Fabric;
import org.softrdma.fabric.FabricNode;
import org.softrdma.fabric.FabricSettings;
import org.softrdma.fabric.memory.Grains;
import org.softrdma.junit.FabricTest;
import org.softrdma.junit.NodeName;
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

/** A poller of memory, for docs/guide/testing.md, on a fabric that moves words in any order. */
class MailboxTest {
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(10);
    private static final int WORDS = 32;

    // docs: words
    static FabricSettings words() {
        return FabricSettings.DEFAULT.with(Grains.WORDS);
    }

    @FabricTest(settings = "words", seeds = 20)
    void shouldSeeTheWholeMessageOnceItsLastWordIsThere(
            Fabric fabric,
            @NodeName("receiver") FabricNode receiver,
            @NodeName("receiver") VerbsDevice device,
            @NodeName("sender") FabricNode sender,
            @NodeName("sender") VerbsDevice deviceOfSender) {
        receive(fabric, receiver, device, sender, deviceOfSender, AccessFlag.POLLED);
    }
    // docs: end

    /** Receives one message by polling its last word. */
    static void receive(
            Fabric fabric,
            FabricNode receiver,
            VerbsDevice device,
            FabricNode sender,
            VerbsDevice deviceOfSender,
            AccessFlag... more) {
        InetSocketAddress address = new InetSocketAddress(receiver.address(), 7471);
        try (ProtectionDomain domain = device.allocateProtectionDomain();
                CompletionQueue queue = device.createCompletionQueue(4);
                Mailbox mailbox = new Mailbox(device, domain, WORDS, more);
                Listener listener = device.listen(address, 1)) {
            RemoteRegion target = mailbox.remote();
            sender.start("sender", () -> send(deviceOfSender, address, target));
            try (ConnectionRequest request = listener.next(PATIENCE_NS).orElseThrow();
                    QueuePair pair =
                            request.createQueuePair(domain, QueuePairAttributes.of(queue, QueuePairLimits.of(1, 1)))) {
                request.accept(ConnectionParameters.DEFAULT);
                while (!mailbox.holds(5)) {
                    fabric.idleStrategy().idle();
                }
                assertArrayEquals(message(), mailbox.message());
                pair.disconnect();
            }
        }
    }

    private static long[] message() {
        long[] message = new long[WORDS];
        Arrays.fill(message, 5);
        return message;
    }

    private static void send(VerbsDevice device, InetSocketAddress receiver, RemoteRegion target) {
        try (ProtectionDomain domain = device.allocateProtectionDomain();
                CompletionQueue queue = device.createCompletionQueue(4);
                HostMemory memory = device.allocateMemory(target.length());
                MemoryRegion source = domain.register(memory.segment(), Set.of(AccessFlag.LOCAL_WRITE));
                Connector connector = device.resolve(receiver, PATIENCE_NS);
                QueuePair pair =
                        connector.createQueuePair(domain, QueuePairAttributes.of(queue, QueuePairLimits.of(1, 1)))) {
            memory.segment().copyFrom(MemorySegment.ofArray(message()));
            connector.connect(ConnectionParameters.DEFAULT, PATIENCE_NS);
            pair.postWrite(1, source, 0, target.length(), target.address(), target.rkey(), SendFlags.SIGNALLED);
            while (!pair.disconnected().toCompletableFuture().isDone()) {
                queue.poll(WorkCompletion.array(1));
            }
        }
    }
}
