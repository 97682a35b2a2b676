package org.softrdma.bench.perf;

import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.nio.ByteOrder;
import java.util.EnumSet;
import java.util.concurrent.TimeUnit;
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
import org.softrdma.verbs.cm.Connector;
import org.softrdma.verbs.device.VerbsDevice;

/** Reads the rkeys that a {@link ReadResponder} keeps in its catalog, by READs on a connection of its own. */
final class CatalogReader {
    private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(30);
    private static final long CHUNK = 1 << 20;
    private static final ValueLayout.OfInt RKEY = ValueLayout.JAVA_INT.withOrder(ByteOrder.LITTLE_ENDIAN);

    private CatalogReader() {}

    /**
     * Reads all of a catalog.
     *
     * @param device a device in manual progress
     * @param responder where its responder listens
     * @param catalog where the catalog is
     * @return the rkeys in the order of their slices
     */
    static int[] read(VerbsDevice device, InetSocketAddress responder, RemoteRegion catalog) {
        try (ProtectionDomain domain = device.allocateProtectionDomain();
                CompletionQueue completions = device.createCompletionQueue(2);
                HostMemory memory = device.allocateMemory(catalog.length());
                MemoryRegion region =
                        domain.register(memory.segment(), EnumSet.of(AccessFlag.LOCAL_WRITE, AccessFlag.READ_SINK));
                Connector connector = device.resolve(responder, TIMEOUT_NS);
                QueuePair queuePair = connector.createQueuePair(
                        domain, QueuePairAttributes.of(completions, QueuePairLimits.of(1, 1)))) {
            connector.connect(ConnectionParameters.ofReads(1), TIMEOUT_NS);
            WorkCompletion[] polled = WorkCompletion.array(1);
            for (long offset = 0; offset < catalog.length(); offset += CHUNK) {
                long length = Math.min(CHUNK, catalog.length() - offset);
                queuePair.postRead(
                        offset,
                        region,
                        offset,
                        length,
                        catalog.address() + offset,
                        catalog.rkey(),
                        SendFlags.SIGNALLED);
                await(device, completions, polled);
            }
            return memory.segment().toArray(RKEY);
        }
    }

    private static void await(VerbsDevice device, CompletionQueue completions, WorkCompletion[] polled) {
        long deadlineNs = System.nanoTime() + TIMEOUT_NS;
        while (completions.poll(polled) == 0) {
            if (System.nanoTime() - deadlineNs >= 0) {
                throw new PerfException("the responder's catalog could not be read in time");
            }
            device.progress(TIMEOUT_NS);
        }
        if (!polled[0].isSuccess()) {
            throw new PerfException("the responder's catalog could not be read: " + polled[0].status());
        }
    }
}
