package org.softrdma.stores.herd.transport;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import java.util.function.Consumer;
import org.softrdma.stores.StoreCounter;
import org.softrdma.stores.StoreCounters;
import org.softrdma.stores.StoreException;
import org.softrdma.stores.connection.OpenParts;
import org.softrdma.stores.connection.RegisteredMemory;
import org.softrdma.stores.herd.wire.HerdShape;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.AddressHandle;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.UnconnectedQueuePair;
import org.softrdma.verbs.WorkCompletion;
import org.softrdma.verbs.cm.DatagramService;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * Datagrams to all clients: the answers of a worker, or of the port to hellos. They have a queue pair and a completion
 * queue of their own. Owned by who sends, a worker's thread or the port's; another one may ask what has completed.
 */
final class UdAnswers implements AutoCloseable {
    private static final int BATCH = 64;

    private final OpenParts opened = new OpenParts();
    private final CompletionQueue completions;
    private final UnconnectedQueuePair queuePair;
    private final RegisteredMemory memory;
    private final ReplyRing ring;
    private final StoreCounters counters;
    private final WorkCompletion[] batch = WorkCompletion.array(BATCH);
    private long nowNs;

    /**
     * No answer yet.
     *
     * @param capacity answers that may be on their way
     * @param receives RECVs that the queue pair takes
     * @param longest bytes of the longest answer
     * @param counters counts SENDs
     */
    UdAnswers(
            VerbsDevice device,
            ProtectionDomain domain,
            int capacity,
            int receives,
            int longest,
            StoreCounters counters) {
        this.counters = counters;
        int inline = Math.min(HerdSends.MOST_INLINE, device.capabilities().maxInline());
        int replyLength = HerdShape.slotLength(longest);
        try {
            memory = opened.add(new RegisteredMemory(
                    device, domain, (long) capacity * replyLength, Set.of(AccessFlag.LOCAL_WRITE)));
            completions = opened.add(device.createCompletionQueue(HerdSends.completions(capacity) + receives));
            queuePair = opened.add(domain.createQueuePair(
                    QueuePairAttributes.of(completions, new QueuePairLimits(capacity, receives, 1, 1, inline))
                            .withDatagrams(DatagramService.QUEUE_KEY)));
        } catch (RuntimeException e) {
            opened.close();
            throw e;
        }
        ring = new ReplyRing(queuePair, memory, 0, replyLength, capacity, inline, 0);
    }

    UnconnectedQueuePair queuePair() {
        return queuePair;
    }

    /**
     * A turn begins: what has left makes room.
     *
     * @param newNowNs the time
     */
    void turn(long newNowNs) {
        nowNs = newNowNs;
        if (ring.isWaiting()) {
            int ignored = poll(receive -> {});
        }
    }

    /**
     * Takes completions.
     *
     * @param receives takes those of RECVs, whose wrIds have a bit above the lower 32
     * @return how many there were
     */
    int poll(Consumer<WorkCompletion> receives) {
        int count = completions.poll(batch);
        for (int i = 0; i < count; i++) {
            WorkCompletion completion = batch[i];
            if (!completion.isSuccess()) {
                throw new StoreException("a queue pair of the server's datagrams has failed: " + completion.status());
            }
            if (completion.wrId() >>> Integer.SIZE == 0) {
                ring.completed(completion.wrId());
            } else {
                receives.accept(completion);
            }
        }
        return count;
    }

    /** When this turn began. */
    long nowNs() {
        return nowNs;
    }

    boolean hasRoom(int answers) {
        return ring.hasRoom(answers);
    }

    MemorySegment memory() {
        return ring.memory();
    }

    /** Where the next answer begins. Needs {@link #hasRoom}. */
    long nextAt() {
        return ring.nextAt();
    }

    /**
     * The next answer is laid out; {@link #flush} sends it, if nothing has before.
     *
     * @param way to the client's device
     * @param number of its queue pair
     * @param key that the queue pair wants to see
     * @param length bytes of the answer
     */
    void add(AddressHandle way, int number, int key, int length) {
        var ignored = ring.addSend(length).to(way, number, key);
        counters.increment(StoreCounter.SENDS);
    }

    /** Sends what was added, with one doorbell. */
    void flush() {
        ring.flush();
    }

    /** How many were sent. Any thread. */
    long posted() {
        return ring.posted();
    }

    /** True if so many have left, as far as it is known. Any thread. */
    boolean isDone(long number) {
        return ring.isDone(number);
    }

    @Override
    public void close() {
        opened.close();
    }
}
