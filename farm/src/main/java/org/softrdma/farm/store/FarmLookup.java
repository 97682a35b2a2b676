package org.softrdma.farm.store;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import org.softrdma.farm.memory.FarmAddress;
import org.softrdma.farm.memory.FatPointerDescriptor;
import org.softrdma.farm.memory.ObjectImage;
import org.softrdma.farm.memory.ReadVerdict;
import org.softrdma.farm.table.FarmBucketDescriptor;
import org.softrdma.farm.table.FarmPairDescriptor;
import org.softrdma.farm.table.NeighbourVerdict;
import org.softrdma.farm.table.TableKey;
import org.softrdma.farm.table.TableShape;
import org.softrdma.stores.Outcome;
import org.softrdma.stores.StoreCounter;

/**
 * The lookup of one key, READ by READ (section 3.6 of the paper):
 *
 * <ol>
 *   <li>READ the bucket of the key and the one behind it. Look for the key in both.
 *   <li>If pairs are outside of the table, READ the pair of each slot that has the key's hash, and compare keys.
 *   <li>READ the chain of the bucket, block by block, and do the same with each.
 * </ol>
 *
 * Anything inconsistent, or with another incarnation than its pointer, changed during the lookup, which then restarts after
 * a pause. So a miss means that the key was absent. The client's thread.
 */
final class FarmLookup {
    private static final int MOST_CANDIDATES = 16;

    private enum Step {
        BUCKETS,
        BLOCK,
        PAIR,
        PAUSE
    }

    /** An object that a pointer names. */
    private static final class Pointer {
        private long address;
        private int length;
        private int incarnation;

        private void take(ObjectImage image, int pointer) {
            address = FatPointerDescriptor.address(image, pointer);
            length = FatPointerDescriptor.length(image, pointer);
            incarnation = FatPointerDescriptor.incarnation(image, pointer);
        }
    }

    private final int operation;
    private final FarmView view;
    private final FarmConnection connection;
    private final TableKey key;
    private final Pointer[] candidates = new Pointer[MOST_CANDIDATES];
    private final Pointer next = new Pointer();
    private int candidate;
    private int candidateCount;
    private Step step = Step.PAUSE;
    private long postedNs;
    private int valueOffset;
    private int valueLength;
    private int restarts;

    /**
     * Lookups of one operation's number.
     *
     * @param operation the number
     * @param view of the table
     * @param key of the lookup, set before it begins
     */
    FarmLookup(int operation, FarmView view, TableKey key) {
        this.operation = operation;
        this.view = view;
        this.key = key;
        connection = view.connection();
        for (int i = 0; i < MOST_CANDIDATES; i++) {
            candidates[i] = new Pointer();
        }
    }

    /** Begins the lookup of another key. */
    void begin(long nowNs) {
        restarts = 0;
        readBuckets(nowNs);
    }

    /** Goes on after a pause. */
    void resume(long nowNs) {
        readBuckets(nowNs);
    }

    private void readBuckets(long nowNs) {
        step = Step.BUCKETS;
        candidate = 0;
        candidateCount = 0;
        view.counters().increment(StoreCounter.PROBES);
        read(bucketAddress(), view.neighbours().length(), nowNs);
    }

    private long bucketAddress() {
        TableShape shape = view.shape();
        return FarmAddress.of(shape.shard(key.hash()), (long) shape.home(key.hash()) * shape.stride());
    }

    private void read(long address, int bytes, long nowNs) {
        postedNs = nowNs;
        if (bytes > connection.sinkLength() || !connection.read(operation, address, bytes)) {
            pause();
        }
    }

    /** True while a READ is under way. */
    boolean isReading() {
        return step != Step.PAUSE;
    }

    /** How often it has begun again. */
    int restarts() {
        return restarts;
    }

    /**
     * The READ has come.
     *
     * @param nowNs the time
     * @return FOUND, MISSING, or null if the lookup goes on: by another READ, or after a pause
     */
    @Nullable
    Outcome onRead(long nowNs) {
        if (view.mayHaveWrapped(nowNs - postedNs)) {
            view.counters().increment(StoreCounter.LINE_RETRIES);
            return pause();
        }
        return switch (step) {
            case BUCKETS -> onBuckets(nowNs);
            case BLOCK -> onBlock(nowNs);
            case PAIR -> onPair(nowNs);
            case PAUSE -> null;
        };
    }

    private @Nullable Outcome onBuckets(long nowNs) {
        long start = FarmAddress.offset(bucketAddress());
        NeighbourVerdict verdict = view.neighbours().read(connection.sinkMemory(), connection.sinkOf(operation), start);
        if (verdict != NeighbourVerdict.CONSISTENT) {
            view.count(verdict);
            return pause();
        }
        FarmBucketDescriptor layout = view.bucket();
        ObjectImage first = view.neighbours().first();
        next.take(first, layout.nextOffset());
        if (search(first, layout) || search(view.neighbours().second(), layout)) {
            return Outcome.FOUND;
        }
        return goOn(nowNs);
    }

    private @Nullable Outcome onBlock(long nowNs) {
        if (!isGood(next)) {
            return pause();
        }
        FarmBucketDescriptor layout = view.block();
        next.take(view.image(), layout.nextOffset());
        return search(view.image(), layout) ? Outcome.FOUND : goOn(nowNs);
    }

    private @Nullable Outcome onPair(long nowNs) {
        ObjectImage image = view.image();
        if (!isGood(candidates[candidate]) || !FarmPairDescriptor.isValid(image)) {
            return pause();
        }
        if (FarmPairDescriptor.keyLength(image) == key.length() && key.isAt(image, FarmPairDescriptor.KEY_OFFSET)) {
            valueOffset = FarmPairDescriptor.KEY_OFFSET + key.length();
            valueLength = FarmPairDescriptor.valueLength(image);
            view.found(image);
            return Outcome.FOUND;
        }
        candidate++;
        return goOn(nowNs);
    }

    /** True if the READ object is the one that the pointer means, at one instant. */
    private boolean isGood(Pointer pointer) {
        ReadVerdict verdict = view.read(operation, FarmAddress.offset(pointer.address), pointer.length);
        if (verdict != ReadVerdict.CONSISTENT) {
            view.count(verdict);
            return false;
        }
        if ((int) view.image().incarnation() != pointer.incarnation) {
            view.counters().increment(StoreCounter.INCARNATION_RESTARTS);
            return false;
        }
        return true;
    }

    /** Looks for the key. True if it is there; or notes pairs to READ. */
    private boolean search(ObjectImage image, FarmBucketDescriptor layout) {
        for (int slot = key.slotIn(image, layout, 0); slot >= 0; slot = key.slotIn(image, layout, slot + 1)) {
            int at = layout.slotOffset(slot);
            if (view.shape().inline()) {
                valueOffset = at + view.shape().keyLength();
                valueLength = view.shape().valueLength();
                view.found(image);
                return true;
            }
            if (candidateCount < MOST_CANDIDATES) {
                candidates[candidateCount++].take(image, at + Long.BYTES);
            }
        }
        return false;
    }

    private @Nullable Outcome goOn(long nowNs) {
        if (candidate < candidateCount) {
            step = Step.PAIR;
            follow(candidates[candidate], nowNs);
            return null;
        }
        candidate = 0;
        candidateCount = 0;
        if (next.address == FarmAddress.NONE) {
            return Outcome.MISSING;
        }
        if (next.length != view.block().length()) {
            return pause();
        }
        step = Step.BLOCK;
        view.counters().increment(StoreCounter.PROBES);
        follow(next, nowNs);
        return null;
    }

    private void follow(Pointer pointer, long nowNs) {
        if (pointer.length < FarmPairDescriptor.KEY_OFFSET || pointer.length > connection.sinkLength()) {
            pause();
        } else {
            read(pointer.address, view.bytesOf(pointer.address, pointer.length), nowNs);
        }
    }

    private @Nullable Outcome pause() {
        step = Step.PAUSE;
        restarts++;
        return null;
    }

    // ---- what was found

    /** The memory that has the value, until the next READ of any lookup has come. */
    MemorySegment value() {
        return view.foundIn();
    }

    /** Where the value is in it. */
    int valueOffset() {
        return valueOffset;
    }

    /** Bytes of the value. */
    int valueLength() {
        return valueLength;
    }
}
