package org.softrdma.stores.herd;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.BitSet;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import org.softrdma.stores.NumberedValue;
import org.softrdma.stores.Outcome;
import org.softrdma.stores.StoreClient;
import org.softrdma.testkit.history.ProcessRecorder;
import org.softrdma.testkit.history.StoreAnswer;
import org.softrdma.testkit.history.StoreCall;

/** A client of a race, which records what it asks and what it is answered. Whoever holds the baton. */
final class HerdRaceClient {
    private static final int KEYS = 20;
    private static final int OPERATIONS = 50;
    private static final int MOST_WORDS = 12;
    private static final long PATIENCE_NS = TimeUnit.HOURS.toNanos(2);

    private final StoreClient client;
    private final ProcessRecorder<StoreCall, StoreAnswer> me;
    private final HerdRaceValues values;
    private final RandomGenerator random;
    private final HerdRaceSettings settings;
    private final int words;
    private final int[] keys = new int[HerdRace.WINDOW];
    private final int[] tickets = new int[HerdRace.WINDOW];
    private final boolean[] gets = new boolean[HerdRace.WINDOW];
    private final BitSet[] dead = new BitSet[HerdRace.WINDOW];
    private final int[] numbers = new int[HerdRace.WINDOW];
    private final boolean[] busy = new boolean[HerdRace.WINDOW];

    HerdRaceClient(
            StoreClient client,
            ProcessRecorder<StoreCall, StoreAnswer> me,
            HerdRaceValues values,
            RandomGenerator random,
            HerdRaceSettings settings) {
        this.client = client;
        this.me = me;
        this.values = values;
        this.random = random;
        this.settings = settings;
        words = settings.seed() % 2 == 0 ? 2 : MOST_WORDS; // so that the index is full first, or the log
    }

    /** Operations, a window of them at a time. */
    void race() {
        for (int i = 0; i < OPERATIONS; i++) {
            int slot = slot();
            switch (random.nextInt(8)) {
                case 0, 1, 2 -> get(slot);
                case 3 -> remove(slot);
                default -> put(slot);
            }
            if (random.nextInt(3) == 0) {
                drain();
            }
        }
        drain();
    }

    private int slot() {
        while (true) {
            for (int slot = 0; slot < busy.length; slot++) {
                if (!busy[slot]) {
                    busy[slot] = true;
                    keys[slot] = random.nextInt(random.nextBoolean() ? 3 : KEYS);
                    return slot;
                }
            }
            await();
        }
    }

    private void drain() {
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

    private void get(int slot) {
        dead[slot] = values.dead();
        begun(slot, true, StoreCall.get());
        assertTrue(client.startGet(name(slot), slot));
    }

    private void put(int slot) {
        numbers[slot] = values.next();
        begun(slot, false, StoreCall.set(numbers[slot]));
        MemorySegment value = NumberedValue.of(keys[slot], numbers[slot], 1 + random.nextInt(words));
        assertTrue(client.startPut(name(slot), value, slot));
    }

    private void remove(int slot) {
        numbers[slot] = 0;
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
            values.answer(numbers[slot]);
        }
        switch (outcome) {
            case FOUND -> {
                long number = NumberedValue.number(keys[slot], memory, offset, length);
                me.returned(tickets[slot], StoreAnswer.value(number));
                assertFalse(dead[slot].get((int) number), () -> "value " + number + " is of an old life");
            }
            case MISSING -> me.returned(tickets[slot], StoreAnswer.MISSING);
            case STORED, REMOVED -> me.returned(tickets[slot], StoreAnswer.DONE);
            case FULL, GAVE_UP -> throw new AssertionError(outcome);
            case LOST -> {
                assertTrue(settings.mayLoseAnswers(), "an answer was lost");
                if (gets[slot]) {
                    me.forget(tickets[slot]);
                }
            }
        }
    }
}
