package org.softrdma.stores.herd;

import java.util.random.RandomGenerator;
import org.softrdma.stores.StoreClient;
import org.softrdma.stores.race.RaceValues;
import org.softrdma.stores.race.RecordedStore;
import org.softrdma.testkit.history.ProcessRecorder;
import org.softrdma.testkit.history.StoreAnswer;
import org.softrdma.testkit.history.StoreCall;

/** What a client of a race does. */
final class HerdRaceClient {
    private static final int KEYS = 20;
    private static final int OPERATIONS = 50;
    private static final int MOST_WORDS = 12;

    private final RecordedStore store;
    private final RandomGenerator random;

    HerdRaceClient(
            StoreClient client,
            ProcessRecorder<StoreCall, StoreAnswer> me,
            RaceValues values,
            RandomGenerator random,
            HerdRaceSettings settings) {
        this.random = random;
        int words = settings.seed() % 2 == 0 ? 2 : MOST_WORDS; // so that the index is full first, or the log
        // NessieSD refuses a key if those that are there have all words of all of them: five keys with four words, for
        // one.
        RecordedStore.Rules rules =
                new RecordedStore.Rules(settings.mayLoseAnswers(), settings.nessieSd(), false, words);
        store = new RecordedStore(client, me, values, random, rules, this::key);
    }

    /** Operations, a window of them at a time. */
    void race() {
        for (int i = 0; i < OPERATIONS; i++) {
            int slot = store.slot();
            switch (random.nextInt(8)) {
                case 0, 1, 2 -> store.get(slot);
                case 3 -> store.remove(slot);
                default -> store.put(slot);
            }
            if (random.nextInt(3) == 0) {
                store.drain();
            }
        }
        store.drain();
    }

    private int key() {
        return random.nextInt(random.nextBoolean() ? 3 : KEYS);
    }
}
