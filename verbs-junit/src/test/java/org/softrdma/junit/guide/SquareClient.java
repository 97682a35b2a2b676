package org.softrdma.junit.guide;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumSet;
import java.util.concurrent.TimeUnit;
import org.softrdma.verbs.AccessFlag;
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
import org.softrdma.verbs.cm.Connector;
import org.softrdma.verbs.device.VerbsDevice;

/** Lets a {@link SquareServer} square numbers, some at a time. One thread. */
final class SquareClient implements AutoCloseable {
    private static final int CREDITS = SquareServer.CREDITS;
    private static final int MESSAGE_BYTES = SquareServer.MESSAGE_BYTES;
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(10);
    /** Of a request: its SEND has completed, and its reply has arrived. */
    private static final int ENDS = 2;

    private final ProtectionDomain domain;
    private final CompletionQueue queue;
    private final HostMemory memory;
    private final MemoryRegion requests;
    private final MemoryRegion replies;
    private final Connector connector;
    private final QueuePair pair;
    private final WorkCompletion[] done = WorkCompletion.array(2 * CREDITS);
    private final Deque<Integer> free = new ArrayDeque<>();
    private final int[] ends = new int[CREDITS];
    private final int[] asked = new int[CREDITS];

    SquareClient(VerbsDevice device, InetSocketAddress server) {
        domain = device.allocateProtectionDomain();
        queue = device.createCompletionQueue(2 * CREDITS);
        long half = (long) CREDITS * MESSAGE_BYTES;
        memory = device.allocateMemory(2 * half);
        requests = domain.register(memory.segment().asSlice(0, half), EnumSet.noneOf(AccessFlag.class));
        replies = domain.register(memory.segment().asSlice(half, half), EnumSet.of(AccessFlag.RECEIVE_SINK));
        connector = device.resolve(server, PATIENCE_NS);
        pair = connector.createQueuePair(domain, QueuePairAttributes.of(queue, QueuePairLimits.of(CREDITS, CREDITS)));
        for (int slot = 0; slot < CREDITS; slot++) {
            receive(slot);
            free.add(slot);
        }
        connector.connect(ConnectionParameters.DEFAULT, PATIENCE_NS);
    }

    // docs: credits
    long[] squares(long... numbers) throws IOException {
        long[] squares = new long[numbers.length];
        int sent = 0;
        int answered = 0;
        while (answered < numbers.length) {
            while (sent < numbers.length && !free.isEmpty()) {
                send(free.remove(), sent, numbers[sent]);
                sent++;
            }
            int count = queue.poll(done);
            for (int i = 0; i < count; i++) {
                answered += completed(done[i], squares);
            }
        }
        return squares;
    }

    private void send(int slot, int index, long number) {
        asked[slot] = index;
        requests.memory().setAtIndex(ValueLayout.JAVA_LONG, 2L * slot, slot);
        requests.memory().setAtIndex(ValueLayout.JAVA_LONG, 2L * slot + 1, number);
        accepted(pair.postSend(slot, requests, (long) slot * MESSAGE_BYTES, MESSAGE_BYTES, SendFlags.SIGNALLED));
    }

    /** Returns how many answers it was: 1 or 0. */
    private int completed(WorkCompletion completion, long[] squares) throws IOException {
        if (!completion.isSuccess()) {
            throw new IOException(completion.status().name());
        }
        int slot = (int) completion.wrId();
        if (!completion.opcode().isReceive()) {
            ended(slot);
            return 0;
        }
        MemorySegment reply = replies.memory();
        int answers = (int) reply.getAtIndex(ValueLayout.JAVA_LONG, 2L * slot);
        squares[asked[answers]] = reply.getAtIndex(ValueLayout.JAVA_LONG, 2L * slot + 1);
        receive(slot); // before the slot of the request is free: a reply always finds a RECV
        ended(answers);
        return 1;
    }

    /** A slot is free once its reply is there and its SEND has completed, in whichever order. */
    private void ended(int slot) {
        ends[slot]++;
        if (ends[slot] == ENDS) {
            ends[slot] = 0;
            free.add(slot);
        }
    }
    // docs: end

    private void receive(int slot) {
        accepted(pair.postReceive(slot, replies, (long) slot * MESSAGE_BYTES, MESSAGE_BYTES));
    }

    private static void accepted(PostStatus posted) {
        if (posted != PostStatus.ACCEPTED) {
            throw new IllegalStateException(posted + ": as many are outstanding as the queue holds");
        }
    }

    @Override
    public void close() {
        pair.close();
        connector.close();
        replies.close();
        requests.close();
        memory.close();
        queue.close();
        domain.close();
    }
}
