package org.softrdma.stores.pilaf;

import org.softrdma.stores.Outcome;
import org.softrdma.stores.client.ClientOperation;
import org.softrdma.stores.client.OperationKind;

/** An operation of a client, used again and again. Owned by the client's thread. */
final class PilafOperation extends ClientOperation {
    /** What it waits for once it is started. */
    enum Phase {
        /** A connection. */
        BEGUN,
        /** The READ of an entry. */
        ENTRY,
        /** The READ of an extent. */
        EXTENT,
        /** The READs of all entries, after a miss. */
        CONFIRM,
        /** A message slot. */
        UNSENT,
        /** A reply. */
        SENT,
        /** Its handler: nobody knows what became of it. */
        UNKNOWN
    }

    final long[] headers = new long[PilafHash.WAYS];
    OperationKind kind = OperationKind.GET;
    Phase phase = Phase.BEGUN;
    int keyLength;
    int valueLength;
    long hash;
    int rank;
    int retries;
    int messageSlot;
    boolean handedOver;

    PilafOperation(int index) {
        super(index);
    }

    /** What a status of a reply means for it. */
    Outcome outcome(byte status) {
        return switch (status) {
            case PilafReplyDescriptor.MISSING -> Outcome.MISSING;
            case PilafReplyDescriptor.FULL -> Outcome.FULL;
            default -> kind.success();
        };
    }

    /** True if it is started, and waits for that. */
    boolean isIn(Phase which) {
        return phase == which && isStarted();
    }

    /** True if the device may write to its buffers. */
    boolean isReading() {
        return isStarted() && (phase == Phase.ENTRY || phase == Phase.EXTENT || phase == Phase.CONFIRM);
    }
}
