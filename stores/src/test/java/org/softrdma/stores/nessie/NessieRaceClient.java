package org.softrdma.stores.nessie;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.BitSet;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.random.RandomGenerator;
import org.softrdma.stores.NumberedValue;
import org.softrdma.stores.Outcome;
import org.softrdma.stores.StoreClient;
import org.softrdma.testkit.history.ProcessRecorder;
import org.softrdma.testkit.history.StoreAnswer;
import org.softrdma.testkit.history.StoreCall;

/** A client of a race, which records what it asks and what it is answered. Whoever holds the baton. */
final class NessieRaceClient {
    private static final int KEYS = 7;
    /** The key that changes most often where keys move. */
    private static final int STAYING = 0;

    private static final int GETS = 30;
    private static final int CHANGES = 30;
    private static final int MOST_WORDS = 12;
    private static final long PATIENCE_NS = TimeUnit.HOURS.toNanos(2);

    private final StoreClient client;
    private final ProcessRecorder<StoreCall, StoreAnswer> me;
    private final NessieRace race;
    private final RandomGenerator random;
    private final NessieRaceSettings settings;
    private final int[] keys = new int[NessieRace.WINDOW];
    private final int[] tickets = new int[NessieRace.WINDOW];
    private final boolean[] gets = new boolean[NessieRace.WINDOW];
    private final BitSet[] dead = new BitSet[NessieRace.WINDOW];
    private final int[] numbers = new int[NessieRace.WINDOW];
    private final boolean[] busy = new boolean[NessieRace.WINDOW];

    NessieRaceClient(
            StoreClient client,
            ProcessRecorder<StoreCall, StoreAnswer> me,
            NessieRace race,
            RandomGenerator random,
            NessieRaceSettings settings) {
        this.client = client;
        this.me = me;
        this.race = race;
        this.random = random;
        this.settings = settings;
    }

    /** GETs, a window of them at a time. */
    void read() {
        for (int i = 0; i < GETS; i++) {
            get(slot());
            if (random.nextInt(3) == 0) {
                drain();
            }
        }
        drain();
    }

    /** Changes, as long as somebody reads. */
    void write(BooleanSupplier goesOn) {
        if (settings.moving()) {
            for (int key = STAYING + 1; key < KEYS; key++) {
                int slot = slot();
                keys[slot] = key;
                put(slot);
            }
        }
        for (int i = 0; i < CHANGES && goesOn.getAsBoolean(); i++) {
            if (settings.moving() && random.nextInt(3) > 0) {
                makeRoomAndTakeIt();
            } else {
                change();
            }
        }
        drain();
    }

    /** A key comes back as soon as it has gone, so that the table stays nearly full, and others have to move. */
    private void makeRoomAndTakeIt() {
        int slot = slot();
        int key = random.nextInt(STAYING + 1, KEYS);
        keys[slot] = key;
        remove(slot);
        drain();
        slot = slot();
        keys[slot] = key;
        put(slot);
    }

    private void change() {
        int slot = slot();
        if (settings.moving()) {
            keys[slot] = STAYING;
        }
        switch (random.nextInt(8)) {
            case 0 -> get(slot);
            case 1, 2, 3 -> remove(slot);
            default -> put(slot);
        }
        if (random.nextBoolean()) {
            drain();
        }
    }

    private int slot() {
        while (true) {
            for (int slot = 0; slot < busy.length; slot++) {
                if (!busy[slot]) {
                    busy[slot] = true;
                    keys[slot] = key();
                    return slot;
                }
            }
            await();
        }
    }

    private int key() {
        return settings.moving() && random.nextInt(3) > 0 ? STAYING : random.nextInt(KEYS);
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
        dead[slot] = race.dead();
        begun(slot, true, StoreCall.get());
        assertTrue(client.startGet(name(slot), slot));
    }

    private void put(int slot) {
        int number = race.nextNumber();
        numbers[slot] = number;
        begun(slot, false, StoreCall.set(number));
        MemorySegment value = NumberedValue.of(keys[slot], number, 1 + random.nextInt(MOST_WORDS));
        assertTrue(client.startPut(name(slot), value, slot));
    }

    private void remove(int slot) {
        begun(slot, false, StoreCall.delete());
        assertTrue(client.startRemove(name(slot), slot));
    }

    private void begun(int slot, boolean get, StoreCall call) {
        gets[slot] = get;
        tickets[slot] = me.invoke("k" + keys[slot], call);
    }

    private void take(long tag, Outcome outcome, MemorySegment memory, long offset, long length) {
        int slot = (int) tag;
        busy[slot] = false;
        switch (outcome) {
            case FOUND -> {
                long number = NumberedValue.number(keys[slot], memory, offset, length);
                me.returned(tickets[slot], StoreAnswer.value(number));
                assertFalse(dead[slot].get((int) number), () -> "value " + number + " is of an old life");
            }
            case MISSING -> me.returned(tickets[slot], StoreAnswer.MISSING);
            case STORED -> {
                me.returned(tickets[slot], StoreAnswer.DONE);
                race.stored(numbers[slot]);
            }
            case REMOVED -> me.returned(tickets[slot], StoreAnswer.DONE);
            case FULL -> me.forget(tickets[slot]);
            case GAVE_UP -> throw new AssertionError(outcome);
            case LOST -> {
                assertTrue(settings.mayLoseAnswers(), "an answer was lost");
                if (gets[slot]) {
                    me.forget(tickets[slot]);
                }
            }
        }
    }
}
