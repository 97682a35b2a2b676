package org.softrdma.stores.nessie.worker;

import java.lang.foreign.MemorySegment;
import org.softrdma.stores.Outcome;
import org.softrdma.stores.client.OperationKind;
import org.softrdma.stores.nessie.layout.NessieShape;

/**
 * An operation of a worker, used again and again. What the slots of its key hold is known by rank. Owned by the
 * worker's thread.
 */
final class NessieOperation {
    /** What it waits for. */
    enum Phase {
        /** Nothing: nobody uses it. */
        FREE,
        /** Connections. */
        BEGUN,
        /** A free entry. */
        STOCK,
        /** Completions. */
        BATCH,
        /** Time. */
        PAUSED,
        /** The end of its handler. */
        DELIVERED
    }

    /** What a word of the key is to it. */
    enum Found {
        /** Not known yet. */
        UNKNOWN,
        /** It is empty. */
        EMPTY,
        /** It names an entry that is no more: as good as empty. */
        DANGLING,
        /** It names an entry of another key. */
        OTHER,
        /** It names a valid entry of the key. */
        VALID,
        /** It names a pending entry of the key. */
        PENDING,
        /** It names the entry that is to become valid. */
        OWN
    }

    /** Most entries of which an operation can say that nobody uses them. */
    static final int MOST_REMOVED = 8;

    /** No rank. */
    static final int NOWHERE = -1;

    final int index;

    // ---- what was asked

    OperationKind kind = OperationKind.GET;
    /** It is the janitor's, which looks at what a worker that is gone has left: nobody waits for a result. */
    boolean checks;

    long tag;
    long deadlineNs;
    int keyLength;
    int valueLength;
    long hash;
    final int[] slots = new int[NessieShape.MOST_WAYS];

    // ---- where it stands

    Phase phase = Phase.FREE;
    NessieStep step = NessieStep.GET_WORD;
    int outstanding;
    /** True once somebody may have seen a change that it has made, or is about to. */
    boolean exposed;

    /** True while it finishes what another worker has begun. */
    boolean helping;

    int rank;
    final long[] words = new long[NessieShape.MOST_WAYS];
    final long[] before = new long[NessieShape.MOST_WAYS];
    final Found[] found = new Found[NessieShape.MOST_WAYS];
    /** At which look it was found, by rank. */
    final int[] foundAt = new int[NessieShape.MOST_WAYS];

    final long[] tails = new long[NessieShape.MOST_WAYS];
    int scans;
    boolean bumped;
    /** Words whose entry was not there, by rank. */
    final long[] suspects = new long[NessieShape.MOST_WAYS];

    /** A word whose entry was not there when it should move. */
    long suspect;

    // ---- the entry that is to become valid

    int ownReference;
    int ownTable;
    int ownRank = NOWHERE;
    long ownWord;
    long ownTail;
    boolean withdrawing;
    /** REMOVE: a word that it has emptied, and the last 8 bytes of the entry which that named. */
    long clearedWord;

    long clearedTail;
    /** How it ends once nodes have their notices. */
    Outcome ending = Outcome.LOST;

    final long[] removed = new long[MOST_REMOVED];
    int removedCount;

    // ---- the word that has to move

    final int[] otherSlots = new int[NessieShape.MOST_WAYS];
    int moveSlot;
    long moveWord;
    int moveTo;
    long moveToWord;
    int moveReference;
    int moveDepth;
    long moveHash;

    // ---- waiting

    long waitedWord;
    long waitedSinceNs;
    long pauseNs;
    long wakeNs;

    // ---- what was found

    MemorySegment foundMemory = MemorySegment.NULL;
    long foundOffset;
    long foundLength;

    NessieOperation(int index) {
        this.index = index;
    }

    /** Forgets all but what was asked. */
    void reset() {
        outstanding = 0;
        exposed = false;
        helping = false;
        suspect = 0;
        ownReference = 0;
        ownRank = NOWHERE;
        removedCount = 0;
        clearedWord = 0;
        waitedWord = 0;
        pauseNs = 0;
        forgetScan();
    }

    /** Nothing is known of its slots. */
    void forgetScan() {
        scans = 0;
        bumped = false;
        for (int i = 0; i < found.length; i++) {
            found[i] = Found.UNKNOWN;
            suspects[i] = 0;
            words[i] = 0;
            before[i] = 0;
        }
    }

    /** No word names an entry any more that this word named. */
    void addRemoved(long word) {
        if (removedCount < MOST_REMOVED) {
            removed[removedCount++] = word;
        }
    }

    /** When there is something to do even if nothing completes. */
    long dueNs() {
        return phase == Phase.PAUSED ? Math.min(wakeNs, deadlineNs) : deadlineNs;
    }

    /** True if the operation waits for its buffers. */
    boolean isInBatch() {
        return phase == Phase.BATCH;
    }
}
