package org.softrdma.farm.store;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.softrdma.farm.ring.RingEnd;
import org.softrdma.farm.table.TableKey;
import org.softrdma.stores.client.OperationKind;

/** One of the operations that a client may have on their way, used again and again. The client's thread. */
final class FarmOperation {
    /** How far it is. */
    enum State {
        /** Nothing is started. */
        FREE,
        /** Nothing was posted on this connection, or there is none. */
        WAITING,
        /** A GET: its lookup is under way, or pauses. */
        LOOKING,
        /** A change: the request was written, and no reply has come. */
        SENT
    }

    private final int index;
    private final MemorySegment key;
    private final MemorySegment value;
    private OperationKind kind = OperationKind.GET;
    private State state = State.FREE;
    private int keyLength;
    private int valueLength;
    private long tag;
    private long number;
    private long deadlineNs;
    private long resumeNs;
    private @Nullable TableKey tableKey;
    private @Nullable FarmLookup lookup;

    /**
     * A free one.
     *
     * @param index its number, which its READs have too
     * @param maxKeyLength longest key
     * @param maxValueLength longest value
     */
    FarmOperation(int index, int maxKeyLength, int maxValueLength) {
        this.index = index;
        key = MemorySegment.ofArray(new byte[maxKeyLength]);
        value = MemorySegment.ofArray(new byte[maxValueLength]);
    }

    /** There is another connection. */
    void connected(FarmView view) {
        TableKey newKey = new TableKey(view.shape());
        tableKey = newKey;
        lookup = new FarmLookup(index, view, newKey);
    }

    void start(OperationKind newKind, byte[] newKey, MemorySegment newValue, long newTag, long newDeadlineNs) {
        kind = newKind;
        keyLength = newKey.length;
        MemorySegment.copy(newKey, 0, key, ValueLayout.JAVA_BYTE, 0, keyLength);
        valueLength = (int) newValue.byteSize();
        MemorySegment.copy(newValue, 0, value, 0, valueLength);
        tag = newTag;
        deadlineNs = newDeadlineNs;
        state = State.WAITING;
    }

    // ---- GET

    /** Posts the first READ. */
    void look(long nowNs) {
        Objects.requireNonNull(tableKey).set(key, 0, keyLength);
        state = State.LOOKING;
        lookup().begin(nowNs);
    }

    FarmLookup lookup() {
        return Objects.requireNonNull(lookup);
    }

    /** When it goes on after a pause. */
    long resumeNs() {
        return resumeNs;
    }

    void resumeNs(long ns) {
        resumeNs = ns;
    }

    // ---- changes

    /** WRITEs the request if there is room for it. */
    boolean send(RingEnd rings, long newNumber) {
        long at = rings.claim(FarmRequestDescriptor.length(keyLength, valueLength));
        if (at == RingEnd.FULL) {
            return false;
        }
        byte operation = kind == OperationKind.PUT ? FarmRequestDescriptor.PUT : FarmRequestDescriptor.REMOVE;
        FarmRequestDescriptor.write(rings.sending(), at, operation, keyLength, valueLength, newNumber);
        long keyAt = at + FarmRequestDescriptor.KEY_OFFSET;
        MemorySegment.copy(key, 0, rings.sending(), keyAt, keyLength);
        MemorySegment.copy(value, 0, rings.sending(), keyAt + keyLength, valueLength);
        rings.send();
        number = newNumber;
        state = State.SENT;
        return true;
    }

    /** The number of the request that was sent. */
    long number() {
        return number;
    }

    // ---- what it is

    int index() {
        return index;
    }

    OperationKind kind() {
        return kind;
    }

    State state() {
        return state;
    }

    void state(State newState) {
        state = newState;
    }

    long tag() {
        return tag;
    }

    long deadlineNs() {
        return deadlineNs;
    }
}
