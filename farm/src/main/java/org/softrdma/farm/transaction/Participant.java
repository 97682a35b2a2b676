package org.softrdma.farm.transaction;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
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
 *
 *  record of a role  DECIDE: commit                       DECIDE: abort      recovered
 *  none              applies what the message brings,     done               -
 *                    committed
 *  prepared          applies, unlocks, committed          unlocks: none      wrong
 *  committed         unlocks                              wrong              none
 * </pre>
 *
 * <p>Objects are locked against readers from PREPARE on: readers that are admitted to one machine's new value and to
 * another's old one would see half of a transaction. A transaction of one machine may admit them until it writes, because
 * then it locks all of its objects before it unlocks one.
 *
 * <p>Which role a machine has in what a transaction writes, the configuration says that it has learnt. When it becomes the
 * primary of a region, it locks all that transactions in doubt write there, before it serves it; they unlock it when they
 * are decided. The node's thread.
 */
public final class Participant {
    private final FarmSpace space;
    private final Map<TxId, TransactionRecord> records = new HashMap<>();
    /** For how many transactions of older epochs an object is locked. */
    private final Long2LongHashMap holders = new Long2LongHashMap(0);

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
            case DECIDE_REPLICA -> decide(id, message, false);
            case DECIDE_PRIMARY -> decide(id, message, true);
            case CAPABILITY, ALLOCATE, SHIP, RUN, IN_DOUBT, RECOVERED, COPY -> NodeVerdict.REFUSED;
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

    /** What a transaction writes here, or null if this machine has not all of it, or does not serve it yet. */
    private @Nullable TransactionRecord recordOf(WriteSet writes) {
        TransactionRecord made = new TransactionRecord(writes.regions());
        for (WriteEntry entry : writes.entries()) {
            int number = FarmAddress.region(entry.address());
            if (space.regionOf(entry.address(), entry.image().length()) == null
                    || (space.isPrimary(number) && !space.serves(number))) {
                return null;
            }
            made.add(entry);
        }
        return made;
    }

    private NodeVerdict lock(TxId id, TransactionRecord made, long mode) {
        for (TransactionRecord.Write write : made.writes()) {
            NodeVerdict verdict = isPrimary(write) ? lock(write, mode) : NodeVerdict.DONE;
            if (verdict != NodeVerdict.DONE) {
                made.writes().forEach(this::release);
                return verdict;
            }
        }
        records.put(id, made);
        return NodeVerdict.DONE;
    }

    private NodeVerdict lock(TransactionRecord.Write write, long mode) {
        ObjectWriter writer = writer(write);
        long offset = FarmAddress.offset(write.address());
        long version = write.entry().version();
        if (writer.tryLock(offset, version, mode)) {
            write.locked(true);
            return NodeVerdict.DONE;
        }
        return (writer.version(offset) & ~FarmObjectDescriptor.LOCK_MASK) == version
                ? NodeVerdict.LOCKED
                : NodeVerdict.OTHER_VERSION;
    }

    private boolean isPrimary(TransactionRecord.Write write) {
        return space.isPrimary(FarmAddress.region(write.address()));
    }

    private ObjectWriter writer(TransactionRecord.Write write) {
        FarmRegion region = space.region(FarmAddress.region(write.address()));
        if (region == null) {
            throw new IllegalStateException(
                    FarmAddress.regionText(FarmAddress.region(write.address())) + " is not here any more");
        }
        return region.writer();
    }

    /** Unlocks an object for a transaction, unless another one that is in doubt holds it too. */
    private void release(TransactionRecord.Write write) {
        if (write.isLocked()) {
            write.locked(false);
            if (isLastHolder(write.address())) {
                writer(write).release(FarmAddress.offset(write.address()));
            }
        }
    }

    /** One transaction less holds an object. */
    private boolean isLastHolder(long address) {
        long left = holders.remove(address) - 1;
        if (left > 0) {
            holders.put(address, left);
        }
        return left <= 0;
    }

    /** What was read is as it was, and nobody is about to change it. */
    private NodeVerdict validate(List<ObjectVersion> reads) {
        for (ObjectVersion read : reads) {
            FarmRegion region = space.regionOf(read.address(), FarmObjectDescriptor.PAYLOAD_OFFSET);
            if (region == null || !space.serves(FarmAddress.region(read.address()))) {
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
        if (found == null || found.writes().stream().allMatch(this::isPrimary)) {
            return NodeVerdict.REFUSED;
        }
        apply(found, false);
        return NodeVerdict.DONE;
    }

    private NodeVerdict commitPrimary(TxId id) {
        TransactionRecord found = records.get(id);
        if (found == null || found.writes().stream().noneMatch(this::isPrimary)) {
            return NodeVerdict.REFUSED;
        }
        apply(found, true);
        return NodeVerdict.DONE;
    }

    /**
     * Writes what a transaction writes here in one role, as far as it is not written. All is locked before something is
     * written, and all is written before something is unlocked. Nothing is put over what is newer, which a copy may have
     * brought.
     */
    private void apply(TransactionRecord found, boolean asPrimary) {
        List<TransactionRecord.Write> writes = new ArrayList<>();
        for (TransactionRecord.Write write : found.writes()) {
            if (isPrimary(write) == asPrimary && !write.isCommitted()) {
                committed(write);
                if (isNewer(write)) {
                    writes.add(write);
                } else {
                    release(write);
                }
            }
        }
        for (TransactionRecord.Write write : writes) {
            writer(write).lockForWriting(offset(write), write.entry().image().length());
        }
        for (TransactionRecord.Write write : writes) {
            writer(write).write(offset(write), write.entry().image());
        }
        for (TransactionRecord.Write write : writes) {
            unlock(write, asPrimary);
        }
    }

    /** What is allocated here, whoever becomes primary must know. */
    private void committed(TransactionRecord.Write write) {
        write.committed();
        FarmRegion region = space.region(FarmAddress.region(write.address()));
        if (write.entry().change() == WriteEntry.Change.ALLOCATE && region != null) {
            region.allocated(offset(write), write.entry().image().length());
        }
    }

    private static long offset(TransactionRecord.Write write) {
        return FarmAddress.offset(write.address());
    }

    private boolean isNewer(TransactionRecord.Write write) {
        return (writer(write).version(offset(write)) & ~FarmObjectDescriptor.LOCK_MASK)
                <= write.entry().version();
    }

    private void unlock(TransactionRecord.Write write, boolean asPrimary) {
        boolean free = write.isLocked() ? isLastHolder(write.address()) : !holders.containsKey(write.address());
        write.locked(false);
        if (free) {
            writer(write).unlock(offset(write), write.entry().image());
        } else {
            writer(write).keepLocked(offset(write), write.entry().image());
        }
        FarmRegion region = space.region(FarmAddress.region(write.address()));
        if (asPrimary && write.entry().change() == WriteEntry.Change.FREE && region != null) {
            region.free(offset(write));
        }
    }

    private NodeVerdict abort(TxId id) {
        TransactionRecord found = records.get(id);
        if (found != null && found.isCommittedInAny()) {
            return NodeVerdict.REFUSED;
        }
        if (found != null) {
            found.writes().forEach(this::release);
            records.remove(id);
        }
        return NodeVerdict.DONE;
    }

    // ---- transactions of one machine

    /** As primary of all that a transaction reads and writes: may it commit? Then it is locked; readers are admitted. */
    NodeVerdict prepareAlone(TxId id, WriteSet writes, List<ObjectVersion> reads) {
        TransactionRecord made = writes.entries().isEmpty() ? null : recordOf(writes);
        if (made == null || !made.writes().stream().allMatch(this::isPrimary)) {
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
        return found != null && found.isCommittedInAll();
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
            if (made.writes().stream().anyMatch(this::isPrimary)) {
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
            if (entry.getKey().machine() == machine
                    && entry.getKey().number() <= number
                    && entry.getValue().isCommittedInAll()) {
                each.remove();
                entry.getValue().writes().forEach(this::release);
            }
        }
    }

    // ---- recovery

    /**
     * This machine has learnt an epoch. It admits no readers any more to what it has locked for transactions of one machine:
     * their decisions will come region by region.
     */
    void onEpoch() {
        holders.clear();
        for (TransactionRecord found : records.values()) {
            found.writes().removeIf(write -> space.region(FarmAddress.region(write.address())) == null);
            found.writes().stream().filter(TransactionRecord.Write::isLocked).forEach(this::hold);
        }
        records.values().removeIf(found -> found.writes().isEmpty());
    }

    /** What this machine has of transactions that are older than an epoch. */
    Map<TxId, TransactionRecord> inDoubt(int epoch) {
        Map<TxId, TransactionRecord> older = new HashMap<>(records);
        older.keySet().removeIf(id -> id.epoch() >= epoch);
        return older;
    }

    /**
     * Takes over from another machine that has a region what a transaction in doubt writes there, if this machine is the
     * primary of the region and does not serve it yet.
     *
     * @param id of the transaction
     * @param regions that it writes
     * @param write what the other machine has of it
     */
    void adopt(TxId id, List<Integer> regions, ReportedWrite write) {
        int number = FarmAddress.region(write.entry().address());
        if (!space.isPrimary(number)
                || space.serves(number)
                || space.regionOf(write.entry().address(), write.entry().image().length()) == null) {
            return;
        }
        TransactionRecord found = records.computeIfAbsent(id, any -> new TransactionRecord(regions));
        TransactionRecord.Write own = found.at(write.entry().address());
        if (own == null) {
            own = found.add(write.entry());
        }
        if (write.isCommitted() && !own.isCommitted()) {
            committed(own);
            if (isNewer(own)) {
                writer(own).lockForWriting(offset(own), own.entry().image().length());
                writer(own).write(offset(own), own.entry().image());
                writer(own).keepLocked(offset(own), own.entry().image());
            }
        }
    }

    /**
     * Locks what transactions older than an epoch write in regions that this machine is primary of and does not serve yet:
     * also what is committed here, as it may be seen elsewhere only in part.
     */
    void recoverLocks(int epoch) {
        for (TransactionRecord found : inDoubt(epoch).values()) {
            for (TransactionRecord.Write write : found.writes()) {
                int number = FarmAddress.region(write.address());
                if (space.isPrimary(number) && !space.serves(number) && !write.isLocked()) {
                    write.locked(true);
                    hold(write);
                }
            }
        }
    }

    /** One transaction more that is in doubt has locked an object. */
    private void hold(TransactionRecord.Write write) {
        holders.put(write.address(), holders.get(write.address()) + 1);
        writer(write).lockAgainstReaders(offset(write));
    }

    private NodeVerdict decide(TxId id, ByteBuffer message, boolean asPrimary) {
        WriteSet lacking = TransactionMessages.writes(message);
        TransactionRecord found = records.get(id);
        if (!TransactionMessages.commits(message)) {
            return found == null ? NodeVerdict.DONE : decideAbort(id, found, asPrimary);
        }
        if (found == null && !lacking.entries().isEmpty()) {
            found = new TransactionRecord(lacking.regions());
            records.put(id, found);
        }
        if (found != null) {
            for (WriteEntry entry : lacking.entries()) {
                if (found.at(entry.address()) == null
                        && space.regionOf(entry.address(), entry.image().length()) != null) {
                    TransactionRecord.Write ignored = found.add(entry);
                }
            }
            apply(found, asPrimary);
            found.writes().stream()
                    .filter(write -> isPrimary(write) == asPrimary)
                    .forEach(this::release);
        }
        return NodeVerdict.DONE;
    }

    private NodeVerdict decideAbort(TxId id, TransactionRecord found, boolean asPrimary) {
        if (found.isCommittedInAny()) {
            return NodeVerdict.REFUSED;
        }
        for (Iterator<TransactionRecord.Write> each = found.writes().iterator(); each.hasNext(); ) {
            TransactionRecord.Write write = each.next();
            if (isPrimary(write) == asPrimary) {
                release(write);
                each.remove();
            }
        }
        if (found.writes().isEmpty()) {
            records.remove(id);
        }
        return NodeVerdict.DONE;
    }

    /** All transactions that are older than an epoch are over everywhere. */
    void recovered(int epoch) {
        records.entrySet()
                .removeIf(entry ->
                        entry.getKey().epoch() < epoch && entry.getValue().isCommittedInAll());
    }
}
