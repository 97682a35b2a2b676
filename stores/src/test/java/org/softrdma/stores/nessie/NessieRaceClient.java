package org.softrdma.stores.nessie;

import java.util.function.BooleanSupplier;
import java.util.random.RandomGenerator;
import org.softrdma.stores.StoreClient;
import org.softrdma.stores.race.RaceValues;
import org.softrdma.stores.race.RecordedStore;
import org.softrdma.testkit.history.ProcessRecorder;
import org.softrdma.testkit.history.StoreAnswer;
import org.softrdma.testkit.history.StoreCall;

/** What a client of a race does. */
final class NessieRaceClient {
    private static final int KEYS = 7;
    /** The key that changes most often where keys move. */
    private static final int STAYING = 0;

    private static final int GETS = 30;
    private static final int CHANGES = 30;
    private static final int MOST_WORDS = 12;

    private final RecordedStore store;
    private final RandomGenerator random;
    private final boolean moving;

    NessieRaceClient(
            StoreClient client,
            ProcessRecorder<StoreCall, StoreAnswer> me,
            RaceValues values,
            RandomGenerator random,
            NessieRaceSettings settings) {
        this.random = random;
        moving = settings.moving();
        RecordedStore.Rules rules = new RecordedStore.Rules(settings.mayLoseAnswers(), true, false, MOST_WORDS);
        store = new RecordedStore(client, me, values, random, rules, this::key);
    }

    /** GETs, a window of them at a time. */
    void read() {
        for (int i = 0; i < GETS; i++) {
            store.get(store.slot());
            if (random.nextInt(3) == 0) {
                store.drain();
            }
        }
        store.drain();
    }

    /** Changes, as long as somebody reads. */
    void write(BooleanSupplier goesOn) {
        if (moving) {
            for (int key = STAYING + 1; key < KEYS; key++) {
                store.put(store.slot(key));
            }
        }
        for (int i = 0; i < CHANGES && goesOn.getAsBoolean(); i++) {
            if (moving && random.nextInt(3) > 0) {
                makeRoomAndTakeIt();
            } else {
                change();
            }
        }
        store.drain();
    }

    /** A key comes back as soon as it has gone, so that the table stays nearly full, and others have to move. */
    private void makeRoomAndTakeIt() {
        int slot = store.slot();
        int key = random.nextInt(STAYING + 1, KEYS);
        store.key(slot, key);
        store.remove(slot);
        store.drain();
        store.put(store.slot(key));
    }

    private void change() {
        int slot = store.slot();
        if (moving) {
            store.key(slot, STAYING);
        }
        switch (random.nextInt(8)) {
            case 0 -> store.get(slot);
            case 1, 2, 3 -> store.remove(slot);
            default -> store.put(slot);
        }
        if (random.nextBoolean()) {
            store.drain();
        }
    }

    private int key() {
        return moving && random.nextInt(3) > 0 ? STAYING : random.nextInt(KEYS);
    }
}
