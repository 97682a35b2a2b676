package org.softrdma.sim.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.softrdma.net.peer.ChildJvm;
import org.softrdma.sim.peer.TestDevice;
import org.softrdma.verbs.Capabilities;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.SharedReceiveQueue;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.cm.Connector;

/** A JVM with less memory than the limits of a device add up to. */
class SmallMemoryTest {
    private static final int ROUNDS = 200;
    private static final QueuePairLimits MEGABYTE_INLINE = new QueuePairLimits(1024, 1, 1, 1, 1024);

    @Test
    void shouldRefuseReadablyAndRollBackWhenLimitsNeedMoreMemoryThanThereIs() {
        ChildJvm.Outcome child = ChildJvm.run(
                List.of(),
                List.of("-Xmx40m", "-XX:MaxDirectMemorySize=32m", "-XX:+DisableExplicitGC"),
                SmallMemoryTest.class);

        assertEquals(0, child.exitCode(), child::toString);
        for (String line : List.of(
                "completion queue: NO_RESOURCES not enough memory for a completion queue of 4194304 entries: ",
                "shared receive queue: NO_RESOURCES not enough memory for a shared receive queue of"
                        + " Size[maxWorkRequests=65536, maxScatterGather=16]: ",
                "resize: NO_RESOURCES not enough memory for a completion queue of 4194304 entries: ",
                "entries: 1024",
                "queue pair: NO_RESOURCES not enough memory for a queue pair of 65536 send and",
                "inline memory: " + ROUNDS + " queue pairs of 1 MiB",
                "device: closed")) {
            assertTrue(child.lines().stream().anyMatch(said -> said.startsWith(line)), () -> line + " in " + child);
        }
    }

    /**
     * The child: asks for all that the device offers, and prints what it gets.
     *
     * @param arguments none
     */
    public static void main(String[] arguments) {
        try (TestDevice device = new TestDevice("pinning", "off")) {
            Capabilities most = device.device().capabilities();
            print("completion queue", () -> device.device().createCompletionQueue(most.maxCompletionQueueEntries()));
            print("shared receive queue", () -> sharedReceives(device, most));
            print("resize", () -> {
                device.queue().resize(most.maxCompletionQueueEntries());
                return device.queue();
            });
            System.out.println("entries: " + device.queue().entries());
            QueuePairLimits limits = new QueuePairLimits(
                    most.maxSendWorkRequests(),
                    most.maxReceiveWorkRequests(),
                    most.maxScatterGather(),
                    most.maxScatterGather(),
                    most.maxInline());
            print("queue pair", () -> queuePair(device, limits));
            for (int round = 0; round < ROUNDS; round++) {
                queuePair(device, MEGABYTE_INLINE).close();
            }
            System.out.println("inline memory: " + ROUNDS + " queue pairs of 1 MiB");
        }
        System.out.println("device: closed");
        System.exit(0);
    }

    /** As many as there is memory for; they are closed again. */
    private static SharedReceiveQueue sharedReceives(TestDevice device, Capabilities most) {
        List<SharedReceiveQueue> made = new ArrayList<>();
        try {
            while (true) {
                made.add(device.domain()
                        .createSharedReceiveQueue(most.maxSharedReceiveWorkRequests(), most.maxScatterGather()));
            }
        } finally {
            made.forEach(SharedReceiveQueue::close);
        }
    }

    private static QueuePair queuePair(TestDevice device, QueuePairLimits limits) {
        try (Connector connector = device.device().resolve(device.address(), TestDevice.DEADLINE_NS)) {
            return connector.createQueuePair(device.domain(), QueuePairAttributes.of(device.queue(), limits));
        }
    }

    private static void print(String what, Supplier<? extends AutoCloseable> maker) {
        try {
            System.out.println(what + ": made " + maker.get());
        } catch (VerbsException e) {
            System.out.println(what + ": " + e.code() + " " + e.getMessage());
        }
    }
}
