package org.softrdma.junit.guide;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumSet;
import java.util.concurrent.TimeUnit;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionChannel;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.HostMemory;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.WorkCompletion;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.ConnectionRequest;
import org.softrdma.verbs.cm.Listener;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * Squares numbers for one client. A request is a SEND of a slot and a number; the reply is a SEND of the same slot and
 * the square. It sleeps while nothing arrives. One thread.
 */
final class SquareServer implements AutoCloseable {
    /** Requests that the client may have on the way: as many RECVs are posted. */
    static final int CREDITS = 8;

    static final int MESSAGE_BYTES = 2 * Long.BYTES;
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(10);

    private final ProtectionDomain domain;
    private final CompletionChannel channel;
    private final CompletionQueue queue;
    private final HostMemory memory;
    private final MemoryRegion requests;
    private final MemoryRegion replies;
    private final Listener listener;
    private final WorkCompletion[] done = WorkCompletion.array(2 * CREDITS);
    private final Deque<Request> waiting = new ArrayDeque<>();
    private final Deque<Integer> freeReplies = new ArrayDeque<>();
    private boolean connected = true;

    /** What a client asks. */
    private record Request(long slot, long number) {}

    SquareServer(VerbsDevice device, InetSocketAddress address) {
        domain = device.allocateProtectionDomain();
        // docs: events
        channel = device.createCompletionChannel();
        queue = device.createCompletionQueue(2 * CREDITS, channel, 0);
        // docs: end
        long half = (long) CREDITS * MESSAGE_BYTES;
        memory = device.allocateMemory(2 * half);
        requests = domain.register(memory.segment().asSlice(0, half), EnumSet.of(AccessFlag.RECEIVE_SINK));
        replies = domain.register(memory.segment().asSlice(half, half), EnumSet.noneOf(AccessFlag.class));
        listener = device.listen(address, 1);
    }

    InetSocketAddress address() {
        return listener.localAddress();
    }

    // docs: serve
    void serve() {
        QueuePairAttributes attributes = QueuePairAttributes.of(queue, QueuePairLimits.of(CREDITS, CREDITS));
        try (ConnectionRequest request = listener.next(PATIENCE_NS).orElseThrow();
                QueuePair pair = request.createQueuePair(domain, attributes)) {
            for (int slot = 0; slot < CREDITS; slot++) {
                receive(pair, slot);
                freeReplies.add(slot);
            }
            request.accept(ConnectionParameters.DEFAULT);
            while (connected) {
                queue.requestNotification(false);
                for (int count = queue.poll(done); count > 0; count = queue.poll(done)) {
                    for (int i = 0; i < count; i++) {
                        completed(pair, done[i]);
                    }
                }
                if (connected) {
                    channel.await(Long.MAX_VALUE).ifPresent(event -> event.acknowledgeEvents(1));
                }
            }
        }
    }
    // docs: end

    // docs: reply
    private void completed(QueuePair pair, WorkCompletion completion) {
        int slot = (int) completion.wrId();
        if (!completion.isSuccess()) {
            connected = false; // FLUSHED: the client has gone
        } else if (completion.opcode().isReceive()) {
            MemorySegment request = requests.memory();
            waiting.add(new Request(
                    request.getAtIndex(ValueLayout.JAVA_LONG, 2L * slot),
                    request.getAtIndex(ValueLayout.JAVA_LONG, 2L * slot + 1)));
            receive(pair, slot); // before the reply, which gives the credit back
        } else {
            freeReplies.add(slot);
        }
        while (!waiting.isEmpty() && !freeReplies.isEmpty()) {
            reply(pair, freeReplies.remove(), waiting.remove());
        }
    }

    private void reply(QueuePair pair, int slot, Request request) {
        replies.memory().setAtIndex(ValueLayout.JAVA_LONG, 2L * slot, request.slot);
        replies.memory().setAtIndex(ValueLayout.JAVA_LONG, 2L * slot + 1, request.number * request.number);
        accepted(pair.postSend(slot, replies, (long) slot * MESSAGE_BYTES, MESSAGE_BYTES, SendFlags.SIGNALLED));
    }

    private void receive(QueuePair pair, int slot) {
        accepted(pair.postReceive(slot, requests, (long) slot * MESSAGE_BYTES, MESSAGE_BYTES));
    }
    // docs: end

    private static void accepted(PostStatus posted) {
        if (posted != PostStatus.ACCEPTED) {
            throw new IllegalStateException(posted + ": as many are outstanding as the queue holds");
        }
    }

    @Override
    public void close() {
        listener.close();
        replies.close();
        requests.close();
        memory.close();
        queue.close();
        channel.close();
        domain.close();
    }
}
