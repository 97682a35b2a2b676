package org.softrdma.stores.pilaf;

import java.util.function.BooleanSupplier;
import java.util.random.RandomGenerator;
import org.softrdma.stores.StoreClient;
import org.softrdma.stores.race.RaceValues;
import org.softrdma.stores.race.RecordedStore;
import org.softrdma.testkit.history.ProcessRecorder;
import org.softrdma.testkit.history.StoreAnswer;
import org.softrdma.testkit.history.StoreCall;

/** What a client of a race does. */
final class PilafRaceClient {
    private static final int KEYS = 7;
    /** The key that nobody removes where keys move. */
    private static final int STAYING = 0;

    private static final int GETS = 30;
    private static final int CHANGES = 40;
    private static final int MOST_WORDS = 12;

    private final RecordedStore store;
    private final RandomGenerator random;
    private final boolean moving;

    PilafRaceClient(
            StoreClient client,
            ProcessRecorder<StoreCall, StoreAnswer> me,
            RaceValues values,
            RandomGenerator random,
            PilafRaceSettings settings) {
        this.random = random;
        moving = settings.moving();
        RecordedStore.Rules rules =
                new RecordedStore.Rules(settings.mayLoseAnswers(), false, settings.forgiving(), MOST_WORDS);
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
            store.put(store.slot(STAYING));
            store.drain();
        }
        for (int i = 0; i < CHANGES && goesOn.getAsBoolean(); i++) {
            int slot = store.slot();
            if (moving && store.key(slot) == STAYING) {
                store.key(slot, random.nextInt(STAYING + 1, KEYS));
            }
            switch (random.nextInt(8)) {
                case 0 -> store.get(slot);
                case 1, 2 -> store.remove(slot);
                case 3 -> {
                    if (moving) {
                        store.put(slot);
                    } else {
                        store.remove(slot);
                    }
                }
                default -> store.put(slot);
            }
            if (random.nextBoolean()) {
                store.drain();
            }
        }
        store.drain();
    }

    /** Where keys move, mostly the one that stays. */
    private int key() {
        return moving && random.nextBoolean() ? STAYING : random.nextInt(KEYS);
    }
}
