package org.softrdma.farm.transaction;

import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.IntPredicate;
import org.agrona.collections.Long2LongHashMap;
import org.jspecify.annotations.Nullable;
import org.softrdma.farm.memory.FarmAddress;
import org.softrdma.farm.memory.FarmObjectDescriptor;
import org.softrdma.farm.memory.ObjectWriter;
import org.softrdma.farm.message.NodeMessageDescriptor;
import org.softrdma.farm.message.NodeVerdict;
import org.softrdma.farm.space.FarmRegion;
import org.softrdma.farm.space.FarmSpace;

/**
 * A machine's part in transactions: as the primary of what they write, and as a replica of it. A machine may be both in
 * one transaction, of different regions. A message may come twice: it is answered by the record of its transaction.
 *
 * <pre>
 *  record of a role  PREPARE             COMMIT_REPLICA   COMMIT_PRIMARY     RECORD             ABORT          truncated
 *  none              primary: locks;     wrong            wrong              replica: applies,  done           -
 *                    prepared, or refused                                    committed
 *  prepared          done again          replica:         primary: applies,  wrong              unlocks: none  wrong
 *                                        applies,         unlocks,
 *                                        committed        committed
 *  committed         done again          done again       done again         done again         wrong          none
 * </pre>
 *
 * <p>Objects are locked against readers from PREPARE on: readers that are admitted to one machine's new value and to
 * another's old one would see half of a transaction. A transaction of one machine may admit them until it writes, because
 * then it locks all of its objects before it unlocks one.
 *
 * <p>When this machine becomes the primary of a region, it locks all that the records of its time as a replica write there:
 * whether they are committed everywhere nobody knows any more. They stay locked until they are over everywhere. The node's
 * thread.
 */
public final class Participant {
    private final FarmSpace space;
    private final Map<TxId, TransactionRecord> records = new HashMap<>();
    /** How many records an object is locked for since an epoch began. */
    private final Long2LongHashMap inDoubt = new Long2LongHashMap(0);

    /** A participant without transactions. */
    public Participant(FarmSpace space) {
        this.space = space;
    }

    /** Transactions that it has a record of. */
    public int records() {
        return records.size();
    }

    /** Transactions that it has prepared, and of which it does not know the outcome yet. */
    public int undecided() {
        int count = 0;
        for (TransactionRecord found : records.values()) {
            count += found.isCommittedInAll() ? 0 : 1;
        }
        return count;
    }

    /**
     * The answer to a message of a transaction.
     *
     * @param message of a kind that is a transaction's, but neither SHIP nor RUN
     */
    public ByteBuffer onMessage(ByteBuffer message) {
        return NodeMessageDescriptor.answer(
                TransactionMessages.isValid(message) ? verdict(message) : NodeVerdict.REFUSED, 0);
    }

    private NodeVerdict verdict(ByteBuffer message) {
        TxId id = TransactionMessages.id(message);
        return switch (NodeMessageDescriptor.kind(message)) {
            case PREPARE -> prepare(id, TransactionMessages.writes(message));
            case VALIDATE -> {
                List<ObjectVersion> reads = TransactionMessages.versions(message);
                yield reads.isEmpty() ? NodeVerdict.REFUSED : validate(reads);
            }
            case COMMIT_REPLICA -> commitReplica(id);
            case COMMIT_PRIMARY -> commitPrimary(id);
            case ABORT -> abort(id);
            case RECORD -> record(id, message, TransactionMessages.writes(message));
            case CAPABILITY, ALLOCATE, SHIP, RUN -> NodeVerdict.REFUSED;
        };
    }

    // ---- transactions of several machines

    private NodeVerdict prepare(TxId id, WriteSet writes) {
        if (records.containsKey(id)) {
            return NodeVerdict.DONE;
        }
        if (writes.entries().isEmpty()) {
            return NodeVerdict.REFUSED;
        }
        TransactionRecord made = recordOf(writes);
        return made == null ? NodeVerdict.NOT_READY : lock(id, made, FarmObjectDescriptor.EXCLUSIVE);
    }

    /** What a transaction writes here, or null if this machine has not all of it. */
    private @Nullable TransactionRecord recordOf(WriteSet writes) {
        TransactionRecord made = new TransactionRecord(writes.regions());
        for (WriteEntry entry : writes.entries()) {
            if (space.regionOf(entry.address(), entry.image().length()) == null) {
                return null;
            }
            made.add(entry, space.isPrimary(FarmAddress.region(entry.address())));
        }
        made.prepared();
        return made;
    }

    private NodeVerdict lock(TxId id, TransactionRecord made, long mode) {
        for (int i = 0; i < made.asPrimary().size(); i++) {
            NodeVerdict verdict = lock(made.asPrimary().get(i), mode);
            if (verdict != NodeVerdict.DONE) {
                made.asPrimary().subList(0, i).forEach(this::release);
                return verdict;
            }
        }
        records.put(id, made);
        return NodeVerdict.DONE;
    }

    private NodeVerdict lock(WriteEntry entry, long mode) {
        ObjectWriter writer = writer(entry.address());
        long offset = FarmAddress.offset(entry.address());
        long version = entry.image().version();
        if (writer.tryLock(offset, version, mode)) {
            return NodeVerdict.DONE;
        }
        return (writer.version(offset) & ~FarmObjectDescriptor.LOCK_MASK) == version
                ? NodeVerdict.LOCKED
                : NodeVerdict.OTHER_VERSION;
    }

    /** Of an object in a region that this machine has. */
    private ObjectWriter writer(long address) {
        FarmRegion region = space.region(FarmAddress.region(address));
        if (region == null) {
            throw new IllegalStateException("region " + FarmAddress.region(address) + " is not here any more");
        }
        return region.writer();
    }

    private void release(WriteEntry entry) {
        writer(entry.address()).release(FarmAddress.offset(entry.address()));
    }

    /** What was read is as it was, and nobody is about to change it. */
    private NodeVerdict validate(List<ObjectVersion> reads) {
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

    private NodeVerdict commitReplica(TxId id) {
        TransactionRecord found = records.get(id);
        if (found == null || found.replica() == TransactionRecord.State.NONE) {
            return NodeVerdict.REFUSED;
        }
        if (found.replica() == TransactionRecord.State.PREPARED) {
            found.replicaCommitted();
            for (WriteEntry entry : found.asReplica()) {
                applyIfNewer(entry);
            }
        }
        return NodeVerdict.DONE;
    }

    /** Nobody READs a replica. What a copy has brought may be newer. */
    private void applyIfNewer(WriteEntry entry) {
        ObjectWriter writer = writer(entry.address());
        long offset = FarmAddress.offset(entry.address());
        if ((writer.version(offset) & ~FarmObjectDescriptor.LOCK_MASK)
                <= entry.image().version()) {
            writer.lockForWriting(offset, entry.image().length());
            writer.write(offset, entry.image());
            writer.unlock(offset, entry.image());
        }
    }

    private NodeVerdict commitPrimary(TxId id) {
        TransactionRecord found = records.get(id);
        if (found == null || found.primary() == TransactionRecord.State.NONE) {
            return NodeVerdict.REFUSED;
        }
        if (found.primary() == TransactionRecord.State.PREPARED) {
            found.primaryCommitted();
            for (WriteEntry entry : found.asPrimary()) {
                lockForWriting(entry);
            }
            for (WriteEntry entry : found.asPrimary()) {
                apply(entry);
            }
            for (WriteEntry entry : found.asPrimary()) {
                unlock(entry);
            }
        }
        return NodeVerdict.DONE;
    }

    private void lockForWriting(WriteEntry entry) {
        writer(entry.address())
                .lockForWriting(
                        FarmAddress.offset(entry.address()), entry.image().length());
    }

    private void apply(WriteEntry entry) {
        writer(entry.address()).write(FarmAddress.offset(entry.address()), entry.image());
    }

    private void unlock(WriteEntry entry) {
        long offset = FarmAddress.offset(entry.address());
        writer(entry.address()).unlock(offset, entry.image());
        FarmRegion region = space.region(FarmAddress.region(entry.address()));
        if (entry.change() == WriteEntry.Change.FREE && region != null) {
            region.free(offset);
        }
    }

    private NodeVerdict abort(TxId id) {
        TransactionRecord found = records.get(id);
        if (found != null && found.isCommittedInAny()) {
            return NodeVerdict.REFUSED;
        }
        if (found != null) {
            found.asPrimary().forEach(this::release);
            records.remove(id);
        }
        return NodeVerdict.DONE;
    }

    // ---- transactions of one machine

    /** As primary of all that a transaction reads and writes: may it commit? Then it is locked; readers are admitted. */
    NodeVerdict prepareAlone(TxId id, WriteSet writes, List<ObjectVersion> reads) {
        TransactionRecord made = writes.entries().isEmpty() ? null : recordOf(writes);
        if (made == null || !made.asReplica().isEmpty()) {
            return NodeVerdict.NOT_READY;
        }
        NodeVerdict valid = validate(reads);
        return valid == NodeVerdict.DONE ? lock(id, made, FarmObjectDescriptor.READERS_ALLOWED) : valid;
    }

    /** All replicas have it. */
    void commitAlone(TxId id) {
        NodeVerdict verdict = commitPrimary(id);
        assert verdict == NodeVerdict.DONE;
    }

    /** True if it has taken a transaction of one machine before. */
    boolean isCommittedAlone(TxId id) {
        TransactionRecord found = records.get(id);
        return found != null && found.primary() == TransactionRecord.State.COMMITTED;
    }

    /** As replica of all that it writes. */
    private NodeVerdict record(TxId id, ByteBuffer message, WriteSet writes) {
        if (writes.entries().isEmpty()) {
            return NodeVerdict.REFUSED;
        }
        if (!records.containsKey(id)) {
            TransactionRecord made = recordOf(writes);
            if (made == null) {
                return NodeVerdict.NOT_READY;
            }
            if (!made.asPrimary().isEmpty()) {
                return NodeVerdict.REFUSED;
            }
            records.put(id, made);
            truncate(id.machine(), TransactionMessages.truncated(message, writes));
        }
        return commitReplica(id);
    }

    // ---- the end

    /**
     * Transactions of a machine are over everywhere.
     *
     * @param machine of their coordinator
     * @param number of the last of them
     */
    public void truncate(int machine, long number) {
        for (Iterator<Map.Entry<TxId, TransactionRecord>> each =
                        records.entrySet().iterator();
                each.hasNext(); ) {
            Map.Entry<TxId, TransactionRecord> entry = each.next();
            if (entry.getValue().isCommittedInAll()
                    && entry.getKey().machine() == machine
                    && entry.getKey().number() <= number) {
                each.remove();
                entry.getValue().inDoubt().forEach(this::certain);
            }
        }
    }

    /** An object is not in doubt any more because of one record. */
    private void certain(long address) {
        long left = inDoubt.get(address) - 1;
        if (left > 0) {
            inDoubt.put(address, left);
            return;
        }
        inDoubt.remove(address);
        FarmRegion region = space.region(FarmAddress.region(address));
        if (region != null) {
            region.writer().release(FarmAddress.offset(address));
        }
    }

    /**
     * This machine has learnt an epoch: it locks what is in doubt in regions that it serves from now on. And it admits no
     * readers any more to what it has locked for transactions of one machine: their decisions will come region by region.
     *
     * @param served which regions it has served until now
     */
    public void onEpoch(IntPredicate served) {
        for (TransactionRecord found : records.values()) {
            found.asReplica().forEach(entry -> doubt(entry, found.inDoubt(), served));
            found.asPrimary().forEach(entry -> doubt(entry, found.inDoubt(), served));
            if (found.primary() == TransactionRecord.State.PREPARED) {
                found.asPrimary().forEach(this::exclude);
            }
        }
    }

    private void exclude(WriteEntry entry) {
        FarmRegion region = space.region(FarmAddress.region(entry.address()));
        if (region != null) {
            region.writer().lockAgainstReaders(FarmAddress.offset(entry.address()));
        }
    }

    private void doubt(WriteEntry entry, Set<Long> objects, IntPredicate served) {
        int number = FarmAddress.region(entry.address());
        FarmRegion region = space.region(number);
        if (region != null && space.isPrimary(number) && !served.test(number) && objects.add(entry.address())) {
            inDoubt.put(entry.address(), inDoubt.get(entry.address()) + 1);
            region.writer().lockAgainstReaders(FarmAddress.offset(entry.address()));
        }
    }
}
