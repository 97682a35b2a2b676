package org.softrdma.farm.transaction;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import org.softrdma.farm.memory.FarmObjectDescriptor;
import org.softrdma.farm.memory.ObjectImage;
import org.softrdma.farm.message.NodeMessageDescriptor;
import org.softrdma.farm.message.NodeMessageKind;

/**
 * Bodies of a transaction's messages, little endian. The coordinator writes them.
 *
 * <pre>
 *  PREPARE, RECORD, SHIP, IN_DOUBT, DECIDE_REPLICA, DECIDE_PRIMARY
 *                   24 TxId | 40 u16 regions | 42 u16 entries | 44 u32 versions; DECIDE: 1 commit, 0 abort
 *                   | 48 each region that is written, u32, padded to 8 | entries: PREPARE of the receiver, IN_DOUBT of
 *                   the sender, DECIDE those that the receiver lacks, else all | RECORD, SHIP: u64 truncated, as in the
 *                   header, of the machine in TxId | SHIP: versions that were read, each {u64 address | u64 version}
 *  an entry          0 u64 address | 8 u64 version that was read | 16 u32 length of header and payload | 20 u8 change
 *                   | 21 u8 IN_DOUBT: 1 if the sender has committed it | 22 2 x 0
 *                   | 24 the object from its incarnation on, without line versions, padded to 8
 *  VALIDATE         24 TxId | 40 u32 count | 44 u32 0 | 48 each {u64 address | u64 version}
 *  COMMIT_REPLICA, COMMIT_PRIMARY, ABORT   24 TxId
 *  RUN              24 TxId | 40 u64 address | 48 u32 function | 52 u32 bytes | 56 argument
 * </pre>
 */
final class TransactionMessages {
    private static final int TX_OFFSET = NodeMessageDescriptor.BODY_OFFSET;
    private static final int REGIONS_OFFSET = TX_OFFSET + TxId.LENGTH;
    private static final int ENTRIES_OFFSET = REGIONS_OFFSET + Short.BYTES;
    private static final int VERSIONS_OFFSET = ENTRIES_OFFSET + Short.BYTES;
    private static final int LIST_OFFSET = REGIONS_OFFSET + Long.BYTES;

    private static final int ENTRY_ADDRESS = 0;
    private static final int ENTRY_VERSION = ENTRY_ADDRESS + Long.BYTES;
    private static final int ENTRY_LENGTH = ENTRY_VERSION + Long.BYTES;
    private static final int ENTRY_CHANGE = ENTRY_LENGTH + Integer.BYTES;
    private static final int ENTRY_COMMITTED = ENTRY_CHANGE + Byte.BYTES;
    private static final int ENTRY_OBJECT = ENTRY_LENGTH + Long.BYTES;
    private static final int VERSIONS = 2 * Long.BYTES;

    private static final int RUN_ADDRESS = TX_OFFSET + TxId.LENGTH;
    private static final int RUN_FUNCTION = RUN_ADDRESS + Long.BYTES;
    private static final int RUN_BYTES = RUN_FUNCTION + Integer.BYTES;
    private static final int RUN_ARGUMENT = RUN_BYTES + Integer.BYTES;

    private TransactionMessages() {}

    private static int padded(int length) {
        return length + Long.BYTES - 1 & -Long.BYTES;
    }

    static ByteBuffer prepare(TxId id, Collection<Integer> regions, List<WriteEntry> entries) {
        ByteBuffer message = NodeMessageDescriptor.request(NodeMessageKind.PREPARE, bytes(regions, entries));
        int ignored = put(message, id, regions, entries);
        return message;
    }

    /** What this machine has of a transaction in doubt. */
    static ByteBuffer inDoubt(TxId id, List<Integer> regions, List<ReportedWrite> writes) {
        List<WriteEntry> entries = writes.stream().map(ReportedWrite::entry).toList();
        ByteBuffer message = NodeMessageDescriptor.request(NodeMessageKind.IN_DOUBT, bytes(regions, entries));
        int ignored = put(message, id, regions, entries);
        int at = LIST_OFFSET + padded(regions.size() * Integer.BYTES);
        for (ReportedWrite write : writes) {
            message.put(at + ENTRY_COMMITTED, (byte) (write.isCommitted() ? 1 : 0));
            at += bytes(write.entry());
        }
        return message;
    }

    /** That was all that this machine has in doubt. */
    static ByteBuffer nothingMoreInDoubt() {
        return inDoubt(new TxId(0, 0, 0), List.of(), List.of());
    }

    /**
     * The decision of a transaction that was in doubt.
     *
     * @param kind DECIDE_REPLICA or DECIDE_PRIMARY
     * @param commits whether it commits
     * @param lacking what the receiver does not have of it
     */
    static ByteBuffer decision(
            NodeMessageKind kind, TxId id, boolean commits, List<Integer> regions, List<WriteEntry> lacking) {
        ByteBuffer message = NodeMessageDescriptor.request(kind, bytes(regions, lacking));
        int ignored = put(message, id, regions, lacking);
        return message.putInt(VERSIONS_OFFSET, commits ? 1 : 0);
    }

    /** A whole transaction, for the primary of all that it reads and writes. */
    static ByteBuffer ship(
            TxId id, Collection<Integer> regions, List<WriteEntry> entries, List<ObjectVersion> reads, long truncated) {
        ByteBuffer message = NodeMessageDescriptor.request(
                NodeMessageKind.SHIP, bytes(regions, entries) + Long.BYTES + reads.size() * VERSIONS);
        int end = put(message, id, regions, entries);
        message.putInt(VERSIONS_OFFSET, reads.size()).putLong(end, truncated);
        put(message, end + Long.BYTES, reads);
        return message;
    }

    /** What a replica gets of a SHIP that is valid: all but the versions. */
    static ByteBuffer record(ByteBuffer ship) {
        int length = writes(ship).end() + Long.BYTES;
        ByteBuffer message =
                NodeMessageDescriptor.request(NodeMessageKind.RECORD, length - NodeMessageDescriptor.BODY_OFFSET);
        message.put(TX_OFFSET, ship, TX_OFFSET, length - TX_OFFSET);
        return message.putInt(VERSIONS_OFFSET, 0);
    }

    static ByteBuffer run(TxId id, long address, int function, byte[] argument) {
        ByteBuffer message =
                NodeMessageDescriptor.request(NodeMessageKind.RUN, RUN_ARGUMENT - TX_OFFSET + argument.length);
        id.put(message, TX_OFFSET);
        return message.putLong(RUN_ADDRESS, address)
                .putInt(RUN_FUNCTION, function)
                .putInt(RUN_BYTES, argument.length)
                .put(RUN_ARGUMENT, argument);
    }

    /** Bytes of a transaction that is shipped. */
    static int shipped(Collection<Integer> regions, List<WriteEntry> entries, List<ObjectVersion> reads) {
        return TX_OFFSET + bytes(regions, entries) + Long.BYTES + reads.size() * VERSIONS;
    }

    private static int bytes(Collection<Integer> regions, List<WriteEntry> entries) {
        int length = TxId.LENGTH + Long.BYTES + padded(regions.size() * Integer.BYTES);
        for (WriteEntry entry : entries) {
            length += bytes(entry);
        }
        return length;
    }

    private static int bytes(WriteEntry entry) {
        return ENTRY_OBJECT + padded(entry.image().length() - FarmObjectDescriptor.INCARNATION_OFFSET);
    }

    /** Where the entries end. */
    private static int put(ByteBuffer message, TxId id, Collection<Integer> regions, List<WriteEntry> entries) {
        id.put(message, TX_OFFSET);
        message.putShort(REGIONS_OFFSET, (short) regions.size()).putShort(ENTRIES_OFFSET, (short) entries.size());
        int at = LIST_OFFSET;
        for (int region : regions) {
            message.putInt(at, region);
            at += Integer.BYTES;
        }
        at = LIST_OFFSET + padded(regions.size() * Integer.BYTES);
        for (WriteEntry entry : entries) {
            ObjectImage image = entry.image();
            message.putLong(at + ENTRY_ADDRESS, entry.address())
                    .putLong(at + ENTRY_VERSION, entry.version())
                    .putInt(at + ENTRY_LENGTH, image.length())
                    .put(at + ENTRY_CHANGE, (byte) entry.change().ordinal());
            int bytes = image.length() - FarmObjectDescriptor.INCARNATION_OFFSET;
            image.get(FarmObjectDescriptor.INCARNATION_OFFSET, message, at + ENTRY_OBJECT, bytes);
            at += bytes(entry);
        }
        return at;
    }

    private static void put(ByteBuffer message, int offset, List<ObjectVersion> reads) {
        int at = offset;
        for (ObjectVersion read : reads) {
            message.putLong(at, read.address()).putLong(at + Long.BYTES, read.version());
            at += VERSIONS;
        }
    }

    static ByteBuffer validate(TxId id, List<ObjectVersion> reads) {
        ByteBuffer message = NodeMessageDescriptor.request(
                NodeMessageKind.VALIDATE, TxId.LENGTH + Long.BYTES + reads.size() * VERSIONS);
        id.put(message, TX_OFFSET);
        message.putInt(REGIONS_OFFSET, reads.size());
        put(message, LIST_OFFSET, reads);
        return message;
    }

    /** COMMIT_REPLICA, COMMIT_PRIMARY or ABORT. */
    static ByteBuffer decision(NodeMessageKind kind, TxId id) {
        ByteBuffer message = NodeMessageDescriptor.request(kind, TxId.LENGTH);
        id.put(message, TX_OFFSET);
        return message;
    }

    // ---- at the receiver

    /** True if a message is long enough to name its transaction, and says what it needs. */
    static boolean isValid(ByteBuffer message) {
        return switch (NodeMessageDescriptor.kind(message)) {
            case PREPARE, VALIDATE, RECORD, SHIP, IN_DOUBT, DECIDE_REPLICA, DECIDE_PRIMARY ->
                message.limit() >= LIST_OFFSET;
            case CAPABILITY, ALLOCATE, COPY, COMMIT_REPLICA, COMMIT_PRIMARY, ABORT -> message.limit() >= REGIONS_OFFSET;
            case RECOVERED -> true;
            case RUN ->
                message.limit() >= RUN_ARGUMENT
                        && message.getInt(RUN_BYTES) >= 0
                        && message.getInt(RUN_BYTES) <= message.limit() - RUN_ARGUMENT;
        };
    }

    static TxId id(ByteBuffer message) {
        return TxId.at(message, TX_OFFSET);
    }

    /** What a message says that its transaction writes; nothing if it does not have what it says. */
    static WriteSet writes(ByteBuffer message) {
        int regions = Short.toUnsignedInt(message.getShort(REGIONS_OFFSET));
        int count = Short.toUnsignedInt(message.getShort(ENTRIES_OFFSET));
        int at = LIST_OFFSET + padded(regions * Integer.BYTES);
        NodeMessageKind kind = NodeMessageDescriptor.kind(message);
        int tail = kind == NodeMessageKind.RECORD || kind == NodeMessageKind.SHIP ? Long.BYTES : 0;
        List<Integer> written = new ArrayList<>();
        for (int i = 0; i < regions && at <= message.limit(); i++) {
            written.add(message.getInt(LIST_OFFSET + i * Integer.BYTES));
        }
        List<WriteEntry> entries = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            if (at + ENTRY_OBJECT > message.limit()) {
                return WriteSet.NONE;
            }
            int length = message.getInt(at + ENTRY_LENGTH);
            int change = message.get(at + ENTRY_CHANGE);
            int bytes = length - FarmObjectDescriptor.INCARNATION_OFFSET;
            if (length < FarmObjectDescriptor.PAYLOAD_OFFSET
                    || bytes > message.limit() - at - ENTRY_OBJECT
                    || change < 1
                    || change >= WriteEntry.Change.values().length) {
                return WriteSet.NONE;
            }
            ObjectImage image = new ObjectImage();
            image.reset(length, message.getLong(at + ENTRY_VERSION));
            image.put(FarmObjectDescriptor.INCARNATION_OFFSET, message, at + ENTRY_OBJECT, bytes);
            entries.add(new WriteEntry(message.getLong(at + ENTRY_ADDRESS), WriteEntry.Change.values()[change], image));
            at += ENTRY_OBJECT + padded(bytes);
        }
        return at + tail > message.limit() ? WriteSet.NONE : new WriteSet(written, entries, at);
    }

    /** True if a DECIDE is to commit. */
    static boolean commits(ByteBuffer decision) {
        return decision.getInt(VERSIONS_OFFSET) != 0;
    }

    /** What an IN_DOUBT says that its sender has. */
    static List<ReportedWrite> reported(ByteBuffer inDoubt, WriteSet writes) {
        List<ReportedWrite> reported = new ArrayList<>();
        int at = LIST_OFFSET + padded(writes.regions().size() * Integer.BYTES);
        for (WriteEntry entry : writes.entries()) {
            reported.add(new ReportedWrite(entry, inDoubt.get(at + ENTRY_COMMITTED) != 0));
            at += bytes(entry);
        }
        return reported;
    }

    /** The object that a RUN is for. */
    static long address(ByteBuffer run) {
        return run.getLong(RUN_ADDRESS);
    }

    static int function(ByteBuffer run) {
        return run.getInt(RUN_FUNCTION);
    }

    /** The argument of a RUN, little endian; it cannot be written. */
    static ByteBuffer argument(ByteBuffer run) {
        return run.slice(RUN_ARGUMENT, run.getInt(RUN_BYTES)).asReadOnlyBuffer().order(ByteOrder.LITTLE_ENDIAN);
    }

    /** Transactions of the machine that a RECORD or a SHIP names are over up to this one. */
    static long truncated(ByteBuffer message, WriteSet writes) {
        return message.getLong(writes.end());
    }

    /** The versions of a SHIP, or empty if it does not have what it says. */
    static Optional<List<ObjectVersion>> reads(ByteBuffer ship, WriteSet writes) {
        return versions(ship, ship.getInt(VERSIONS_OFFSET), writes.end() + Long.BYTES);
    }

    /** The versions of a VALIDATE, or none if it does not have what it says. */
    static List<ObjectVersion> versions(ByteBuffer message) {
        return versions(message, message.getInt(REGIONS_OFFSET), LIST_OFFSET).orElse(List.of());
    }

    private static Optional<List<ObjectVersion>> versions(ByteBuffer message, int count, int offset) {
        if (count < 0 || offset > message.limit() || count > (message.limit() - offset) / VERSIONS) {
            return Optional.empty();
        }
        List<ObjectVersion> versions = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            int at = offset + i * VERSIONS;
            versions.add(new ObjectVersion(message.getLong(at), message.getLong(at + Long.BYTES)));
        }
        return Optional.of(versions);
    }
}
