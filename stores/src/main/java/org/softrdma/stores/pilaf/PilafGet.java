package org.softrdma.stores.pilaf;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import org.softrdma.stores.StoreCounter;
import org.softrdma.stores.StoreCounters;
import org.softrdma.stores.hash.ChecksumPair;
import org.softrdma.stores.pilaf.PilafOperation.Phase;

/**
 * A GET by READs alone (paper, sections 3.2 to 3.4). Of each of the three entries where the key may be, in their order:
 * READ the entry; if it is in use, READ its extent; if that is the key's, it is the answer. What a checksum refuses was
 * seen half written, or after it was used again: an entry is then read again, and so is the entry that led to an extent.
 *
 * <p>That may miss a key that is there all the time: the server moves it from an entry that was not looked at yet to one
 * that was, and it is in one or two entries at each moment, but in none when the GET looks. So a GET that has found
 * nothing <em>confirms</em> that: it reads the three entries once more, with one doorbell. If none has another version
 * than before, then none was written between the last first look and the first second look, and at that time the key
 * was in none of them. Else it begins again. {@code PAPER} leaves this out.
 *
 * <p>A GET that has to look again too often asks the server instead. Owned by the client's thread.
 */
final class PilafGet {
    /** Most second looks of a GET. */
    static final int RETRY_LIMIT = 64;

    private final PilafBuffers buffers;
    private final StoreCounters counters;
    private final boolean confirming;
    private final ChecksumPair checksum = new ChecksumPair();

    /** What a GET has come to. */
    enum Progress {
        /** It waits for another READ. */
        READING,
        /** The extent is there. */
        FOUND,
        /** There is no such key. */
        MISSING,
        /** It has met too many changes: the server has to answer. */
        ASK_SERVER
    }

    PilafGet(PilafBuffers buffers, StoreCounters counters, boolean confirming) {
        this.buffers = buffers;
        this.counters = counters;
        this.confirming = confirming;
    }

    /** Begins, or begins again. */
    void begin(PilafOperation operation, PilafLink link) {
        operation.hash =
                link.roots().hash().of(buffers.segment(), buffers.keyAt(operation.index()), operation.keyLength);
        operation.retries = 0;
        lookAgain(operation, link);
    }

    private void lookAgain(PilafOperation operation, PilafLink link) {
        operation.rank = 0;
        probe(operation, link);
    }

    private void probe(PilafOperation operation, PilafLink link) {
        counters.increment(StoreCounter.PROBES);
        readEntry(operation, link);
    }

    private void readEntry(PilafOperation operation, PilafLink link) {
        operation.phase = Phase.ENTRY;
        int slot = link.roots().hash().candidate(operation.hash, operation.rank);
        link.readEntry(operation.index(), operation.rank, slot);
    }

    /** What it was waiting for has been read. */
    Progress onRead(PilafOperation operation, PilafLink link) {
        return switch (operation.phase) {
            case ENTRY -> onEntry(operation, link);
            case EXTENT -> onExtent(operation, link);
            case CONFIRM -> onConfirm(operation, link);
            default -> throw new IllegalStateException("a READ of an operation that is " + operation.phase);
        };
    }

    private Progress onEntry(PilafOperation operation, PilafLink link) {
        MemorySegment memory = buffers.segment();
        int entry = buffers.entryAt(operation.index(), operation.rank);
        if (!isWhole(entry)) {
            return entryAgain(operation, link);
        }
        long header = PilafEntryDescriptor.header(memory, entry);
        operation.headers[operation.rank] = header;
        if (!PilafEntryDescriptor.isInUse(header)) {
            return next(operation, link);
        }
        if (link.roots().fingerprints()
                && PilafEntryDescriptor.fingerprint(header) != PilafHash.fingerprint(operation.hash)) {
            counters.increment(StoreCounter.FILTER_SKIPS);
            return next(operation, link);
        }
        int length = PilafEntryDescriptor.extentLength(header);
        long offset = PilafEntryDescriptor.extentOffset(memory, entry);
        if (length < PilafExtentDescriptor.KEY_OFFSET
                || length > buffers.extentLength()
                || offset < 0
                || offset > link.roots().extents().length() - length) {
            return entryAgain(operation, link); // nobody has written this, whatever the checksum says
        }
        operation.phase = Phase.EXTENT;
        link.readExtent(operation.index(), offset, length);
        return Progress.READING;
    }

    private boolean isWhole(int entry) {
        ByteBuffer view = buffers.view();
        return PilafEntryDescriptor.isWhole(buffers.segment(), view, entry, checksum);
    }

    private Progress entryAgain(PilafOperation operation, PilafLink link) {
        counters.increment(StoreCounter.ENTRY_RETRIES);
        if (++operation.retries > RETRY_LIMIT) {
            return Progress.ASK_SERVER;
        }
        readEntry(operation, link);
        return Progress.READING;
    }

    private Progress onExtent(PilafOperation operation, PilafLink link) {
        MemorySegment memory = buffers.segment();
        int entry = buffers.entryAt(operation.index(), operation.rank);
        int extent = buffers.extentAt(operation.index());
        int length = PilafEntryDescriptor.extentLength(operation.headers[operation.rank]);
        if (PilafEntryDescriptor.extentChecksum(memory, entry) != checksum.of(buffers.view(), extent, length)
                || !PilafExtentDescriptor.isValid(memory, extent, length)) {
            counters.increment(StoreCounter.EXTENT_RETRIES);
            if (++operation.retries > RETRY_LIMIT) {
                return Progress.ASK_SERVER;
            }
            readEntry(operation, link);
            return Progress.READING;
        }
        if (PilafExtentDescriptor.isOf(memory, extent, memory, buffers.keyAt(operation.index()), operation.keyLength)) {
            return Progress.FOUND;
        }
        return next(operation, link);
    }

    private Progress next(PilafOperation operation, PilafLink link) {
        if (++operation.rank < PilafHash.WAYS) {
            probe(operation, link);
            return Progress.READING;
        }
        if (!confirming) {
            return Progress.MISSING;
        }
        counters.increment(StoreCounter.CONFIRMS);
        operation.phase = Phase.CONFIRM;
        link.readEntries(operation);
        return Progress.READING;
    }

    private Progress onConfirm(PilafOperation operation, PilafLink link) {
        for (int rank = 0; rank < PilafHash.WAYS; rank++) {
            int entry = buffers.entryAt(operation.index(), rank);
            boolean whole = isWhole(entry);
            if (!whole || PilafEntryDescriptor.header(buffers.segment(), entry) != operation.headers[rank]) {
                counters.increment(whole ? StoreCounter.CONFLICTS : StoreCounter.ENTRY_RETRIES);
                if (++operation.retries > RETRY_LIMIT) {
                    return Progress.ASK_SERVER;
                }
                lookAgain(operation, link);
                return Progress.READING;
            }
        }
        return Progress.MISSING;
    }
}
