package org.softrdma.farm.transaction;

import java.nio.ByteBuffer;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.softrdma.farm.memory.FarmAddress;
import org.softrdma.farm.memory.FarmObjectDescriptor;
import org.softrdma.farm.memory.ObjectWriter;
import org.softrdma.farm.message.NodeMessageDescriptor;
import org.softrdma.farm.message.NodeVerdict;
import org.softrdma.farm.space.FarmRegion;
import org.softrdma.farm.space.FarmSpace;

/**
 * A machine's part in transactions as the primary of what they write. A message may come twice: it is answered by the
 * record of its transaction.
 *
 * <pre>
 *  record      PREPARE                          COMMIT_PRIMARY                     ABORT            truncated
 *  none        locks: prepared, or refused      wrong                              done             -
 *  prepared    done again                       applies, unlocks: committed        unlocks: none    wrong
 *  committed   done again                       done again                         wrong            none
 * </pre>
 *
 * <p>Objects are locked against readers from PREPARE on: readers that are admitted to one machine's new value and to
 * another's old one would see half of a transaction. The node's thread.
 */
public final class Participant {
    private final FarmSpace space;
    private final Map<TxId, TransactionRecord> records = new HashMap<>();

    private static final class TransactionRecord {
        private final List<WriteEntry> entries;
        private boolean committed;

        TransactionRecord(List<WriteEntry> entries) {
            this.entries = entries;
        }
    }

    /** A participant without transactions. */
    public Participant(FarmSpace space) {
        this.space = space;
    }

    /** Transactions that it has a record of. */
    public int records() {
        return records.size();
    }

    /**
     * The answer to a message of a transaction.
     *
     * @param message of a kind that is a transaction's
     */
    public ByteBuffer onMessage(ByteBuffer message) {
        return NodeMessageDescriptor.answer(
                TransactionMessages.isValid(message) ? verdict(message) : NodeVerdict.REFUSED, 0);
    }

    private NodeVerdict verdict(ByteBuffer message) {
        TxId id = TransactionMessages.id(message);
        return switch (NodeMessageDescriptor.kind(message)) {
            case PREPARE -> prepare(id, TransactionMessages.entries(message));
            case VALIDATE -> validate(TransactionMessages.versions(message));
            case COMMIT_PRIMARY -> commit(id);
            case ABORT -> abort(id);
            case CAPABILITY, ALLOCATE -> NodeVerdict.REFUSED;
        };
    }

    private NodeVerdict prepare(TxId id, List<WriteEntry> entries) {
        if (records.containsKey(id)) {
            return NodeVerdict.DONE;
        }
        if (entries.isEmpty()) {
            return NodeVerdict.REFUSED;
        }
        entries.sort(Comparator.comparingLong(WriteEntry::address));
        for (int i = 0; i < entries.size(); i++) {
            NodeVerdict verdict = lock(entries.get(i));
            if (verdict != NodeVerdict.DONE) {
                entries.subList(0, i).forEach(this::release);
                return verdict;
            }
        }
        records.put(id, new TransactionRecord(entries));
        return NodeVerdict.DONE;
    }

    private NodeVerdict lock(WriteEntry entry) {
        ObjectWriter writer = writer(entry);
        if (writer == null) {
            return NodeVerdict.NOT_READY;
        }
        long offset = FarmAddress.offset(entry.address());
        long version = entry.image().version();
        if (writer.tryLock(offset, version, FarmObjectDescriptor.EXCLUSIVE)) {
            return NodeVerdict.DONE;
        }
        return (writer.version(offset) & ~FarmObjectDescriptor.LOCK_MASK) == version
                ? NodeVerdict.LOCKED
                : NodeVerdict.OTHER_VERSION;
    }

    private @Nullable ObjectWriter writer(WriteEntry entry) {
        int number = FarmAddress.region(entry.address());
        FarmRegion region = space.regionOf(entry.address(), entry.image().length());
        return region == null || !space.isPrimary(number) ? null : region.writer();
    }

    private void release(WriteEntry entry) {
        ObjectWriter writer = writer(entry);
        if (writer != null) {
            writer.release(FarmAddress.offset(entry.address()));
        }
    }

    /** What was read is as it was, and nobody is about to change it. */
    private NodeVerdict validate(List<ObjectVersion> reads) {
        if (reads.isEmpty()) {
            return NodeVerdict.REFUSED;
        }
        for (ObjectVersion read : reads) {
            int number = FarmAddress.region(read.address());
            FarmRegion region = space.regionOf(read.address(), FarmObjectDescriptor.PAYLOAD_OFFSET);
            if (region == null || !space.isPrimary(number)) {
                return NodeVerdict.NOT_READY;
            }
            long now = region.writer().version(FarmAddress.offset(read.address()));
            if ((now & ~FarmObjectDescriptor.LOCK_MASK) != read.version()) {
                return NodeVerdict.OTHER_VERSION;
            }
            if ((now & FarmObjectDescriptor.LOCK_MASK) != 0) {
                return NodeVerdict.LOCKED;
            }
        }
        return NodeVerdict.DONE;
    }

    private NodeVerdict commit(TxId id) {
        TransactionRecord found = records.get(id);
        if (found == null) {
            return NodeVerdict.REFUSED;
        }
        if (!found.committed) {
            found.committed = true;
            for (WriteEntry entry : found.entries) {
                apply(entry);
            }
            for (WriteEntry entry : found.entries) {
                unlock(entry);
            }
        }
        return NodeVerdict.DONE;
    }

    private void apply(WriteEntry entry) {
        ObjectWriter writer = writer(entry);
        if (writer != null) {
            long offset = FarmAddress.offset(entry.address());
            writer.lockForWriting(offset, entry.image().length());
            writer.write(offset, entry.image());
        }
    }

    private void unlock(WriteEntry entry) {
        ObjectWriter writer = writer(entry);
        if (writer != null) {
            long offset = FarmAddress.offset(entry.address());
            writer.unlock(offset, entry.image());
            FarmRegion region = space.region(FarmAddress.region(entry.address()));
            if (entry.change() == WriteEntry.Change.FREE && region != null) {
                region.free(offset);
            }
        }
    }

    private NodeVerdict abort(TxId id) {
        TransactionRecord found = records.get(id);
        if (found != null && found.committed) {
            return NodeVerdict.REFUSED;
        }
        if (found != null) {
            found.entries.forEach(this::release);
            records.remove(id);
        }
        return NodeVerdict.DONE;
    }

    /**
     * Transactions of a machine are over everywhere.
     *
     * @param machine of their coordinator
     * @param number of the last of them
     */
    public void truncate(int machine, long number) {
        records.entrySet()
                .removeIf(entry -> entry.getValue().committed
                        && entry.getKey().machine() == machine
                        && entry.getKey().number() <= number);
    }
}
