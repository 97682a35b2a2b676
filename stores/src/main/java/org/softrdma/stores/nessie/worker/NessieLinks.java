package org.softrdma.stores.nessie.worker;

import java.util.ArrayList;
import java.util.List;
import org.softrdma.stores.StoreClientContext;
import org.softrdma.stores.StoreCounter;
import org.softrdma.stores.StoreCounters;
import org.softrdma.stores.StoreException;
import org.softrdma.stores.nessie.layout.NessieDataDescriptor;
import org.softrdma.stores.nessie.layout.NessieHash;
import org.softrdma.stores.nessie.layout.NessieMessageDescriptor;
import org.softrdma.stores.nessie.layout.NessieNoticeDescriptor;
import org.softrdma.stores.nessie.layout.NessieRoots;
import org.softrdma.stores.nessie.layout.NessieShape;
import org.softrdma.stores.nessie.layout.NessieWordDescriptor;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.RemoteRegion;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * Connections to all nodes, and the requests that operations post on them, in terms of slots, words and entries. An
 * operation goes on when all that it has posted has completed. The connections live and die together: the slots of a
 * key are at several nodes, so hardly an operation could do without one of them. Owned by the worker's thread.
 */
final class NessieLinks implements AutoCloseable {
    private final NessieBuffers buffers;
    private final StoreCounters counters;
    private final NessieLink[] links;
    private final NessieRoots[] roots;
    private final NessieShape shape;
    private final NessieHash hash;
    private final int home;
    private final int entryLength;

    /**
     * Connects to all nodes.
     *
     * @throws org.softrdma.verbs.VerbsException if there is no connection in time
     * @throws StoreException if a node does not welcome the worker, or the nodes are not of one store
     */
    NessieLinks(
            VerbsDevice device,
            ProtectionDomain domain,
            CompletionQueue completions,
            NessieBuffers buffers,
            StoreClientContext context,
            StoreCounters counters,
            int operations,
            int home) {
        this.buffers = buffers;
        this.counters = counters;
        this.home = home;
        entryLength = buffers.data().length();
        List<NessieLink> made = new ArrayList<>();
        try {
            for (int node = 0; node < context.servers().size(); node++) {
                made.add(new NessieLink(device, domain, completions, buffers, context, operations, node));
                counters.increment(StoreCounter.SENDS);
            }
            shape = made.getFirst().roots().shape();
            for (NessieLink link : made) {
                if (!link.roots().shape().equals(shape)) {
                    throw new StoreException("the servers are not of one store: " + shape + ", "
                            + link.roots().shape());
                }
            }
        } catch (RuntimeException e) {
            made.forEach(NessieLink::close);
            throw e;
        }
        links = made.toArray(NessieLink[]::new);
        roots = made.stream().map(NessieLink::roots).toArray(NessieRoots[]::new);
        hash = new NessieHash(shape);
    }

    NessieShape shape() {
        return shape;
    }

    NessieHash hash() {
        return hash;
    }

    int home() {
        return home;
    }

    /** The life of a node. */
    long boot(int node) {
        return roots[node].boot();
    }

    int nodes() {
        return links.length;
    }

    /** The entry that a word names is of a node that there is. */
    boolean isKnown(long word) {
        return NessieWordDescriptor.table(word, shape.filterBits()) < links.length;
    }

    // ---- words

    /** Reads the word of a slot. */
    void readWord(NessieOperation operation, int slot, int i) {
        NessieRoots at = roots[hash.node(slot)];
        NessieLink link = links[hash.node(slot)];
        int to = buffers.wordAt(operation.index, i);
        if (at.coherent()) {
            link.read(
                    operation.index,
                    to,
                    Long.BYTES,
                    wordAddress(at, slot),
                    at.index().rkey());
            counters.increment(StoreCounter.READS);
            counters.add(StoreCounter.READ_BYTES, Long.BYTES);
        } else {
            link.fetch(operation.index, to, wordAddress(at, slot), at.index().rkey());
            counters.increment(StoreCounter.ATOMICS);
        }
        operation.outstanding++;
    }

    /** Reads all words of the key, the last rank first. */
    void readWords(NessieOperation operation) {
        for (int rank = shape.ways() - 1; rank >= 0; rank--) {
            readWord(operation, operation.slots[rank], rank);
        }
    }

    /** Replaces the word of a slot if it is what is expected. */
    void swapWord(NessieOperation operation, int slot, int i, long expected, long replacement) {
        NessieRoots at = roots[hash.node(slot)];
        links[hash.node(slot)].compareAndSwap(
                operation.index,
                buffers.resultAt(operation.index, i),
                wordAddress(at, slot),
                at.index().rkey(),
                expected,
                replacement);
        counters.increment(StoreCounter.ATOMICS);
        operation.outstanding++;
    }

    private long wordAddress(NessieRoots at, int slot) {
        return at.index().address() + (long) hash.word(slot) * Long.BYTES;
    }

    // ---- entries

    /** Reads the entry that a word names. */
    void readEntry(NessieOperation operation, long word) {
        int table = NessieWordDescriptor.table(word, shape.filterBits());
        RemoteRegion data = roots[table].data();
        links[table].read(
                operation.index,
                buffers.landingAt(operation.index),
                entryLength,
                entryAddress(data, NessieWordDescriptor.reference(word)),
                data.rkey());
        counters.increment(StoreCounter.READS);
        counters.add(StoreCounter.READ_BYTES, entryLength);
        operation.outstanding++;
    }

    private long entryAddress(RemoteRegion data, int reference) {
        return data.address() + (long) shape.number(reference) * entryLength;
    }

    /**
     * Writes an entry of the home node, and sees to it that it is there: the completion of a WRITE does not tell
     * that, a READ behind it does.
     */
    void writeEntry(NessieOperation operation, int from, int reference) {
        RemoteRegion data = roots[home].data();
        long address = entryAddress(data, reference);
        links[home].write(operation.index, from, entryLength, address, data.rkey());
        counters.increment(StoreCounter.WRITES);
        operation.outstanding++;
        readTail(operation, reference); // of an entry
    }

    /** As published: writes the last byte of an entry of the home node, and sees to it that it is there. */
    void writeValid(NessieOperation operation, int reference) {
        RemoteRegion data = roots[home].data();
        long address = entryAddress(data, reference) + entryLength - 1;
        int from = buffers.putState(operation.index, NessieDataDescriptor.VALID);
        links[home].write(operation.index, from, 1, address, data.rkey());
        counters.increment(StoreCounter.WRITES);
        operation.outstanding++;
        readTail(operation, reference);
    }

    private void readTail(NessieOperation operation, int reference) {
        RemoteRegion data = roots[home].data();
        links[home].read(
                operation.index,
                buffers.tailAt(operation.index),
                Long.BYTES,
                entryAddress(data, reference) + buffers.data().tailOffset(),
                data.rkey());
        counters.increment(StoreCounter.READS);
        counters.add(StoreCounter.READ_BYTES, Long.BYTES);
        operation.outstanding++;
    }

    /** Changes the state of an entry if it is what is expected. */
    void swapTail(NessieOperation operation, int table, int reference, long expected, long replacement) {
        RemoteRegion data = roots[table].data();
        links[table].compareAndSwap(
                operation.index,
                buffers.tailAt(operation.index),
                entryAddress(data, reference) + buffers.data().tailOffset(),
                data.rkey(),
                expected,
                replacement);
        counters.increment(StoreCounter.ATOMICS);
        operation.outstanding++;
    }

    /** Tells the nodes of all entries that the operation has found to be used by nobody any more. */
    void notice(NessieOperation operation) {
        for (int i = 0; i < operation.removedCount; i++) {
            long word = operation.removed[i];
            int table = NessieWordDescriptor.table(word, shape.filterBits());
            int reference = NessieWordDescriptor.reference(word);
            int from = buffers.putNotice(operation.index, i, NessieNoticeDescriptor.of(reference));
            RemoteRegion notices = roots[table].notices();
            links[table].write(
                    operation.index,
                    from,
                    Long.BYTES,
                    notices.address() + (long) shape.number(reference) * Long.BYTES,
                    notices.rkey());
            counters.increment(StoreCounter.WRITES);
            operation.outstanding++;
        }
        operation.removedCount = 0;
    }

    // ---- messages

    /** Asks the home node for entries. */
    void restock(int count) {
        links[home].request(NessieMessageDescriptor.RESTOCK, count);
        counters.increment(StoreCounter.SENDS);
    }

    /** The home node's reply was looked at. */
    void postReceive() {
        links[home].postReceive();
    }

    /** The word that names an entry of this worker. */
    long ownWord(long last, int reference, long keyHash) {
        int place = NessieWordDescriptor.place(home, keyHash, shape.filterBits());
        return NessieWordDescriptor.next(last, place, reference);
    }

    @Override
    public void close() {
        for (NessieLink link : links) {
            link.close();
        }
    }
}
