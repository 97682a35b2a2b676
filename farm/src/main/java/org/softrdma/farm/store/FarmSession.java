package org.softrdma.farm.store;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.softrdma.farm.ring.RingBox;
import org.softrdma.farm.ring.RingEnd;
import org.softrdma.stores.Outcome;
import org.softrdma.stores.StoreCounter;
import org.softrdma.stores.connection.OpenParts;
import org.softrdma.stores.connection.RegisteredMemory;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.WorkCompletion;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.ConnectionRequest;

/**
 * One client of a server: first the hello and the welcome by SEND, then the rings. A client that breaks a rule, sends no
 * hello in time or loses its connection is dropped. The server's thread.
 */
final class FarmSession implements RequestBatch.Asker, AutoCloseable {
    private static final long HELLO_LIMIT_NS = TimeUnit.SECONDS.toNanos(10);
    private static final int SENDS = RingEnd.MOST_WRITES + 2;
    private static final long HELLO = 1;
    private static final long WELCOME = 2;

    private final FarmHost server;
    private final OpenParts open = new OpenParts();
    private final CompletionQueue queue;
    private final MemoryRegion region;
    private final QueuePair pair;
    private final RingBox inbox;
    private final WorkCompletion[] completions = WorkCompletion.array(16);
    private final ByteBuffer hello;
    private final ByteBuffer welcome;
    private final long helloUntilNs;
    private @Nullable RingEnd rings;
    private boolean broken;

    /** Answers that wait for room in the client's ring. */
    private final long[] numbers;

    private final Outcome[] outcomes;
    private int answers;

    FarmSession(FarmHost server, ConnectionRequest request) {
        this.server = server;
        numbers = new long[server.context().window() + RequestBatch.CAPACITY];
        outcomes = new Outcome[numbers.length];
        helloUntilNs = server.nanoTime() + HELLO_LIMIT_NS;
        try {
            queue = open.add(server.device().createCompletionQueue(SENDS + 2));
            RegisteredMemory memory = open.add(new RegisteredMemory(
                    server.device(),
                    server.domain(),
                    FarmHelloDescriptor.LENGTH + (long) FarmWelcomeDescriptor.LONGEST,
                    Set.of(AccessFlag.LOCAL_WRITE, AccessFlag.RECEIVE_SINK)));
            region = memory.region();
            inbox = open.add(RingBox.inbox(server.device(), server.domain(), server.ringLength()));
            hello = part(memory.segment(), 0, FarmHelloDescriptor.LENGTH);
            welcome = part(memory.segment(), FarmHelloDescriptor.LENGTH, FarmWelcomeDescriptor.LONGEST);
            pair = open.add(request.createQueuePair(
                    server.domain(), QueuePairAttributes.of(queue, QueuePairLimits.of(SENDS, 1))));
            pair.postReceive(HELLO, region, 0, FarmHelloDescriptor.LENGTH);
            request.accept(ConnectionParameters.DEFAULT);
        } catch (RuntimeException e) {
            open.close();
            throw e;
        }
    }

    private static ByteBuffer part(MemorySegment memory, long offset, long length) {
        return memory.asSlice(offset, length).asByteBuffer().order(ByteOrder.LITTLE_ENDIAN);
    }

    /** Takes what has come, up to the room of the batch; returns the amount of work. */
    int poll(RequestBatch batch) {
        int work = pollCompletions();
        if (broken || pair.state() == QueuePairState.ERROR) {
            broken = true;
            return work + 1;
        }
        RingEnd current = rings;
        if (current == null) {
            broken = server.nanoTime() - helloUntilNs >= 0;
            return work;
        }
        work += sendAnswers(current);
        while (!batch.isFull() && answers < server.context().window()) {
            int length = current.poll();
            if (length == RingEnd.NONE) {
                return work;
            }
            work++;
            MemorySegment message = current.received();
            if (!FarmRequestDescriptor.isValid(message, current.receivedAt(), length)
                    || !server.takes(message, current.receivedAt())) {
                broken = true;
                return work;
            }
            batch.add(this, message, current.receivedAt());
            current.release();
        }
        return work;
    }

    /** True once it is of no use any more. */
    boolean isBroken() {
        return broken;
    }

    private int pollCompletions() {
        int count = queue.poll(completions);
        for (int i = 0; i < count; i++) {
            WorkCompletion completion = completions[i];
            if (!completion.isSuccess()) {
                broken = true;
            } else if (RingEnd.isOwn(completion.wrId())) {
                RingEnd current = rings;
                if (current != null) {
                    current.completed(completion.wrId());
                }
            } else if (completion.wrId() == HELLO && rings == null) {
                greet(completion.byteLength());
            }
        }
        return count;
    }

    private void greet(long length) {
        int answer;
        if (FarmHelloDescriptor.isFor(hello, length, server.protocol())) {
            RingBox outbox = open.add(RingBox.outbox(server.device(), server.domain(), FarmHelloDescriptor.REPLY_RING));
            rings = new RingEnd(
                    inbox, outbox, pair, FarmHelloDescriptor.inbox(hello), server.proven(), server.counters());
            answer = FarmWelcomeDescriptor.write(welcome, server.welcome(inbox));
        } else {
            answer = FarmWelcomeDescriptor.refuse(welcome);
        }
        pair.postSend(WELCOME, region, FarmHelloDescriptor.LENGTH, answer, SendFlags.SIGNALLED);
        server.counters().increment(StoreCounter.SENDS);
    }

    /** Answers now, or as soon as there is room. */
    @Override
    public void answer(long number, Outcome outcome) {
        numbers[answers] = number;
        outcomes[answers++] = outcome;
        RingEnd current = rings;
        if (current != null && !broken) {
            int ignored = sendAnswers(current);
        }
    }

    private int sendAnswers(RingEnd current) {
        int sent = 0;
        while (sent < answers) {
            long at = current.claim(FarmReplyDescriptor.LENGTH);
            if (at == RingEnd.FULL) {
                break;
            }
            FarmReplyDescriptor.write(current.sending(), at, numbers[sent], outcomes[sent]);
            current.send();
            sent++;
        }
        if (sent > 0) {
            answers -= sent;
            System.arraycopy(numbers, sent, numbers, 0, answers);
            System.arraycopy(outcomes, sent, outcomes, 0, answers);
        }
        return sent;
    }

    @Override
    public void close() {
        pair.close(); // then nothing is written any more
        open.close();
    }
}
