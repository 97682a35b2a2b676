package org.softrdma.stores.race;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.BitSet;
import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;
import java.util.random.RandomGenerator;
import org.softrdma.stores.NumberedValue;
import org.softrdma.stores.Outcome;
import org.softrdma.stores.StoreClient;
import org.softrdma.testkit.history.ProcessRecorder;
import org.softrdma.testkit.history.StoreAnswer;
import org.softrdma.testkit.history.StoreCall;

/**
 * A client of a race that records what it asks and what it is answered, by slots: as many as its window has. The running thread.
 */
public final class RecordedStore {
    private static final long PATIENCE_NS = TimeUnit.HOURS.toNanos(2);

    private final StoreClient client;
    private final ProcessRecorder<StoreCall, StoreAnswer> me;
    private final RaceValues values;
    private final RandomGenerator random;
    private final Rules rules;
    private final IntSupplier usualKey;
    private final int[] keys;
    private final int[] tickets;
    private final boolean[] gets;
    private final BitSet[] dead;
    private final int[] numbers;
    private final boolean[] busy;

    /**
     * What a race allows.
     *
     * @param mayLose operations may have no answer
     * @param mayBeFull the store may refuse a PUT
     * @param mayMissFalsely a GET that finds nothing says nothing
     * @param mostWords of a value
     */
    public record Rules(boolean mayLose, boolean mayBeFull, boolean mayMissFalsely, int mostWords) {}

    /**
     * Records.
     *
     * @param usualKey draws the key of an operation
     */
    public RecordedStore(
            StoreClient client,
            ProcessRecorder<StoreCall, StoreAnswer> me,
            RaceValues values,
            RandomGenerator random,
            Rules rules,
            IntSupplier usualKey) {
        this.client = client;
        this.me = me;
        this.values = values;
        this.random = random;
        this.rules = rules;
        this.usualKey = usualKey;
        int window = client.window();
        keys = new int[window];
        tickets = new int[window];
        gets = new boolean[window];
        dead = new BitSet[window];
        numbers = new int[window];
        busy = new boolean[window];
    }

    /** A free slot, with a key that was drawn; it may have to wait for one. An operation in it follows. */
    public int slot() {
        while (true) {
            for (int slot = 0; slot < busy.length; slot++) {
                if (!busy[slot]) {
                    busy[slot] = true;
                    keys[slot] = usualKey.getAsInt();
                    return slot;
                }
            }
            await();
        }
    }

    /** A free slot with a certain key. Draws one all the same. */
    public int slot(int key) {
        int slot = slot();
        keys[slot] = key;
        return slot;
    }

    /** The key of a slot. */
    public int key(int slot) {
        return keys[slot];
    }

    /** Another key for a slot. */
    public void key(int slot, int key) {
        keys[slot] = key;
    }

    /** Waits for all results. */
    public void drain() {
        while (client.outstanding() > 0) {
            await();
        }
    }

    private void await() {
        int results = client.await(PATIENCE_NS, this::take);
        assertTrue(results > 0, "no result in hours");
    }

    private byte[] name(int slot) {
        return ("k" + keys[slot]).getBytes(StandardCharsets.US_ASCII);
    }

    /** Starts a GET. */
    public void get(int slot) {
        dead[slot] = values.dead();
        begun(slot, true, StoreCall.get());
        assertTrue(client.startGet(name(slot), slot));
    }

    /** Starts a PUT of a value that nobody has written yet, of a length that is drawn. */
    public void put(int slot) {
        numbers[slot] = values.next();
        begun(slot, false, StoreCall.set(numbers[slot]));
        MemorySegment value = NumberedValue.of(keys[slot], numbers[slot], 1 + random.nextInt(rules.mostWords()));
        assertTrue(client.startPut(name(slot), value, slot));
    }

    /** Starts a removal. */
    public void remove(int slot) {
        begun(slot, false, StoreCall.delete());
        assertTrue(client.startRemove(name(slot), slot));
    }

    private void begun(int slot, boolean get, StoreCall call) {
        gets[slot] = get;
        if (!get) {
            values.ask();
        }
        tickets[slot] = me.invoke("k" + keys[slot], call);
    }

    private void take(long tag, Outcome outcome, MemorySegment memory, long offset, long length) {
        int slot = (int) tag;
        busy[slot] = false;
        if (!gets[slot] && outcome != Outcome.LOST) {
            values.answer();
        }
        switch (outcome) {
            case FOUND -> {
                long number = NumberedValue.number(keys[slot], memory, offset, length);
                me.returned(tickets[slot], StoreAnswer.value(number));
                assertFalse(dead[slot].get((int) number), () -> "value " + number + " is of an old life");
            }
            case MISSING -> {
                if (gets[slot] && rules.mayMissFalsely()) {
                    me.forget(tickets[slot]);
                } else {
                    me.returned(tickets[slot], StoreAnswer.MISSING);
                }
            }
            case STORED -> {
                me.returned(tickets[slot], StoreAnswer.DONE);
                values.stored(numbers[slot]);
            }
            case REMOVED -> me.returned(tickets[slot], StoreAnswer.DONE);
            case FULL -> {
                assertTrue(rules.mayBeFull(), "the store is full");
                me.forget(tickets[slot]);
            }
            case GAVE_UP -> throw new AssertionError(outcome);
            case LOST -> {
                assertTrue(rules.mayLose(), "an answer was lost");
                if (gets[slot]) {
                    me.forget(tickets[slot]);
                }
            }
        }
    }
}
