package org.softrdma.stores.pilaf;

import java.net.InetSocketAddress;
import org.softrdma.stores.StoreClientContext;
import org.softrdma.stores.StoreCounter;
import org.softrdma.stores.StoreCounters;
import org.softrdma.stores.StoreException;
import org.softrdma.stores.connection.Greeting;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.SendWorkRequestList;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * A client's connection, from the server's welcome on. Its send queue has room for all that a window of operations may
 * post. Owned by the client's thread, which closes it; then the device touches no buffer any more.
 */
final class PilafLink implements AutoCloseable {
    /** What a completion is of: the upper half of a wrId. */
    static final int READ = 1;

    static final int SEND = 2;
    static final int RECEIVE = 3;
    private static final int HELLO = 4;

    private final PilafBuffers buffers;
    private final StoreCounters counters;
    private final QueuePair queuePair;
    private final PilafRoots roots;
    private final SendWorkRequestList list = new SendWorkRequestList(PilafHash.WAYS);

    /**
     * Connects, and waits for the welcome.
     *
     * @throws org.softrdma.verbs.VerbsException if there is no connection in time
     * @throws StoreException if the server does not welcome the client, or in no time
     */
    PilafLink(
            VerbsDevice device,
            ProtectionDomain domain,
            CompletionQueue completions,
            PilafBuffers buffers,
            StoreClientContext context,
            StoreCounters counters,
            long client) {
        this.buffers = buffers;
        this.counters = counters;
        InetSocketAddress server = context.servers().getFirst();
        long deadlineNs = context.nanoClock().nanoTime() + context.connectTimeoutNs();
        queuePair = Greeting.connect(
                device,
                domain,
                QueuePairAttributes.of(completions, QueuePairLimits.of(sends(context.window()), context.window())),
                context,
                server,
                pair -> {
                    for (int receive = 0; receive < context.window(); receive++) {
                        postReceive(pair, receive);
                    }
                });
        try {
            PilafRequestDescriptor.putHello(buffers.segment(), buffers.requestAt(context.window()), client);
            post((long) HELLO << Integer.SIZE, context.window(), PilafRequestDescriptor.HELLO_LENGTH);
            roots = Greeting.await(
                    completions,
                    context,
                    deadlineNs,
                    one -> kind(one.wrId()) == RECEIVE ? welcome(index(one.wrId()), one.byteLength(), context) : null);
        } catch (RuntimeException e) {
            queuePair.close();
            throw e;
        }
    }

    /** Requests of the send queue: READs of every operation, three at a time; a SEND of every slot; HELLO. */
    private static int sends(int window) {
        return (window + 1) * (PilafHash.WAYS + 1);
    }

    /** Most completions that nobody has polled. */
    static int completions(int window) {
        return sends(window) + window;
    }

    private PilafRoots welcome(int receive, long length, StoreClientContext context) {
        int reply = buffers.replyAt(receive);
        long at = reply + (long) PilafReplyDescriptor.VALUE_OFFSET;
        if (!PilafReplyDescriptor.isValid(buffers.segment(), reply, length)
                || !PilafRootsDescriptor.isValid(buffers.segment(), at, length - PilafReplyDescriptor.VALUE_OFFSET)) {
            throw new StoreException("not a Pilaf server: its reply to HELLO is malformed");
        }
        PilafRoots told = PilafRootsDescriptor.get(buffers.segment(), at);
        Greeting.requireLengths(context, told.maxKeyLength(), told.maxValueLength());
        postReceive(receive);
        return told;
    }

    PilafRoots roots() {
        return roots;
    }

    static int kind(long wrId) {
        return (int) (wrId >>> Integer.SIZE);
    }

    static int index(long wrId) {
        return (int) wrId;
    }

    // ---- posting

    /** Reads an entry of the table. */
    void readEntry(int operation, int rank, int slot) {
        read(
                operation,
                buffers.entryAt(operation, rank),
                PilafEntryDescriptor.LENGTH,
                entryAddress(slot),
                roots.entries().rkey());
    }

    /** Reads all candidates with one doorbell; the last one's completion is that of all. */
    void readEntries(PilafOperation operation) {
        list.clear();
        for (int rank = 0; rank < PilafHash.WAYS; rank++) {
            int flags = rank == PilafHash.WAYS - 1 ? SendFlags.SIGNALLED : SendFlags.NONE;
            list.next()
                    .read(
                            (long) READ << Integer.SIZE | operation.index(),
                            entryAddress(roots.hash().candidate(operation.hash, rank)),
                            roots.entries().rkey(),
                            flags)
                    .add(buffers.region(), buffers.entryAt(operation.index(), rank), PilafEntryDescriptor.LENGTH);
        }
        Greeting.requireAccepted(queuePair.post(list));
        counters.add(StoreCounter.READS, PilafHash.WAYS);
        counters.add(StoreCounter.READ_BYTES, PilafHash.WAYS * PilafEntryDescriptor.LENGTH);
        counters.increment(StoreCounter.ROUND_TRIPS);
    }

    /** Reads an extent. */
    void readExtent(int operation, long offset, int length) {
        read(
                operation,
                buffers.extentAt(operation),
                length,
                roots.extents().address() + offset,
                roots.extents().rkey());
    }

    private long entryAddress(int slot) {
        return roots.entries().address() + (long) slot * PilafEntryDescriptor.LENGTH;
    }

    private void read(int operation, int at, int length, long address, int rkey) {
        Greeting.requireAccepted(queuePair.postRead(
                (long) READ << Integer.SIZE | operation,
                buffers.region(),
                at,
                length,
                address,
                rkey,
                SendFlags.SIGNALLED));
        counters.increment(StoreCounter.READS);
        counters.add(StoreCounter.READ_BYTES, length);
        counters.increment(StoreCounter.ROUND_TRIPS);
    }

    /** Sends the request of a message slot. */
    void send(int slot, int length) {
        post((long) SEND << Integer.SIZE | slot, slot, length);
        counters.increment(StoreCounter.ROUND_TRIPS);
    }

    private void post(long wrId, int slot, int length) {
        Greeting.requireAccepted(
                queuePair.postSend(wrId, buffers.region(), buffers.requestAt(slot), length, SendFlags.SIGNALLED));
        counters.increment(StoreCounter.SENDS);
    }

    /** The reply was looked at. */
    void postReceive(int receive) {
        postReceive(queuePair, receive);
    }

    private void postReceive(QueuePair pair, int receive) {
        Greeting.requireAccepted(pair.postReceive(
                (long) RECEIVE << Integer.SIZE | receive,
                buffers.region(),
                buffers.replyAt(receive),
                buffers.replyLength()));
    }

    @Override
    public void close() {
        queuePair.close();
    }
}
