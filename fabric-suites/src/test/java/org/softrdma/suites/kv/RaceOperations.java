package org.softrdma.suites.kv;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.softrdma.fabric.scheduler.Scheduler;
import org.softrdma.kv.client.KvCommands;
import org.softrdma.kv.client.KvException;
import org.softrdma.kv.client.KvItem;
import org.softrdma.kv.client.KvRefusedException;
import org.softrdma.kv.client.SetStatus;
import org.softrdma.testkit.history.ProcessRecorder;
import org.softrdma.testkit.history.StoreAnswer;
import org.softrdma.testkit.history.StoreCall;

/**
 * Operations on the few keys of a race, recorded with what came of them. Where things go wrong, a change without an
 * answer has an unknown outcome.
 */
final class RaceOperations {
    /** Words of a value: with key and header all have chunks of one class, five of them in a page. */
    private static final int LEAST_WORDS = 12;

    private static final int MOST_WORDS = 16;

    /** Longer than clients wait before they connect again. */
    private static final long RETRY_NS = TimeUnit.MILLISECONDS.toNanos(300);

    private static final int MOST_ATTEMPTS = 100;

    private final RaceSettings settings;
    private final RandomGenerator random;
    private final Scheduler scheduler;
    private final RaceFigures figures;
    private long lastNumber;

    RaceOperations(RaceSettings settings, RandomGenerator random, Scheduler scheduler, RaceFigures figures) {
        this.settings = settings;
        this.random = random;
        this.scheduler = scheduler;
        this.figures = figures;
    }

    /** Connects a client, again and again where things go wrong. */
    <C> C connected(Supplier<C> connecting) {
        for (int attempt = 1; ; attempt++) {
            try {
                return connecting.get();
            } catch (KvException e) {
                requireFaulty(e);
                if (attempt == MOST_ATTEMPTS) {
                    throw e;
                }
                figures.unanswered++;
                scheduler.sleep(RETRY_NS);
            }
        }
    }

    /** Does what no history records; it may fail where things go wrong. */
    void unrecorded(Runnable operation) {
        try {
            operation.run();
        } catch (KvException e) {
            requireFaulty(e);
            figures.unanswered++;
            scheduler.sleep(RETRY_NS);
        }
    }

    void get(KvCommands client, ProcessRecorder<StoreCall, StoreAnswer> me, int key) {
        Optional<KvItem> ignored = item(client, me, key);
    }

    private Optional<KvItem> item(KvCommands client, ProcessRecorder<StoreCall, StoreAnswer> me, int key) {
        int ticket = me.invoke(nameOf(key), StoreCall.get());
        Optional<KvItem> item;
        try {
            item = client.get(name(key));
        } catch (KvException e) {
            requireFaulty(e);
            me.forget(ticket);
            figures.unanswered++;
            scheduler.sleep(RETRY_NS);
            return Optional.empty();
        }
        me.returned(ticket, item.map(found -> value(key, found.value())).orElse(StoreAnswer.MISSING));
        return item;
    }

    void change(KvCommands client, ProcessRecorder<StoreCall, StoreAnswer> me) {
        int key = key();
        switch (random.nextInt(8)) {
            case 0, 1 ->
                answered(
                        me,
                        me.invoke(nameOf(key), StoreCall.delete()),
                        () -> client.delete(name(key)) ? StoreAnswer.DONE : StoreAnswer.MISSING);
            case 2 -> {
                long number = nextNumber();
                store(me, key, StoreCall.add(number), () -> client.add(name(key), 0, 0, newValue(key, number)));
            }
            case 3 -> compareAndSet(client, me, key);
            default -> set(client, me, key);
        }
    }

    private void set(KvCommands client, ProcessRecorder<StoreCall, StoreAnswer> me, int key) {
        long number = nextNumber();
        int exptime = exptime();
        boolean lasts = exptime >= 0;
        // What expires at once deletes the key; if no answer comes, so it may have.
        int ticket = me.invoke(nameOf(key), lasts ? StoreCall.set(number) : StoreCall.delete());
        answered(me, ticket, () -> {
            boolean stored = isStored(client.set(name(key), 0, exptime, newValue(key, number)));
            return stored && lasts ? StoreAnswer.DONE : StoreAnswer.GONE;
        });
    }

    private int exptime() {
        int choice = random.nextInt(8);
        if (choice == 0) {
            return -1;
        }
        return settings.losing() && choice < 4 ? 1 : 0;
    }

    private void compareAndSet(KvCommands client, ProcessRecorder<StoreCall, StoreAnswer> me, int key) {
        Optional<KvItem> item = item(client, me, key);
        if (item.isPresent()) {
            long number = nextNumber();
            long expected = VersionedValue.number(key, item.get().value());
            store(
                    me,
                    key,
                    StoreCall.cas(expected, number),
                    () -> client.cas(
                            name(key), 0, 0, newValue(key, number), item.get().cas()));
        }
    }

    private void store(
            ProcessRecorder<StoreCall, StoreAnswer> me, int key, StoreCall call, Supplier<SetStatus> storing) {
        int ticket = me.invoke(nameOf(key), call);
        SetStatus status;
        try {
            status = storing.get();
        } catch (KvException e) {
            lost(me, ticket, e);
            return;
        }
        switch (status) {
            case STORED -> me.returned(ticket, StoreAnswer.DONE);
            case NOT_STORED, EXISTS -> me.returned(ticket, StoreAnswer.REFUSED);
            case NOT_FOUND -> me.returned(ticket, StoreAnswer.MISSING);
            case OUT_OF_MEMORY, TOO_LARGE -> {
                boolean ignored = isStored(status);
                me.forget(ticket); // nothing was changed
            }
        }
    }

    private void answered(ProcessRecorder<StoreCall, StoreAnswer> me, int ticket, Supplier<StoreAnswer> operation) {
        StoreAnswer answer;
        try {
            answer = operation.get();
        } catch (KvException e) {
            lost(me, ticket, e);
            return;
        }
        me.returned(ticket, answer);
    }

    /** A change has no answer: unless the server has refused it, it may be made, now or later. */
    private void lost(ProcessRecorder<StoreCall, StoreAnswer> me, int ticket, KvException reason) {
        requireFaulty(reason);
        if (reason instanceof KvRefusedException) {
            me.forget(ticket);
        }
        scheduler.sleep(RETRY_NS);
    }

    private void requireFaulty(KvException reason) {
        if (!settings.faulty()) {
            throw reason;
        }
    }

    /** False if there was no memory, which only a store that loses may say: somebody is busy with every key. */
    boolean isStored(SetStatus status) {
        assertTrue(
                status == SetStatus.STORED || (settings.losing() && status == SetStatus.OUT_OF_MEMORY),
                () -> "seed " + settings.seed() + ": " + status);
        if (status != SetStatus.STORED) {
            figures.refused++;
        }
        return status == SetStatus.STORED;
    }

    // ---- keys and values

    int key() {
        return random.nextInt(4) == 0 ? 1 : 0;
    }

    /** The number of a value that nobody has written yet. */
    long nextNumber() {
        return ++lastNumber;
    }

    byte[] newValue(int key, long number) {
        return VersionedValue.of(key, number, words());
    }

    int words() {
        return random.nextInt(8) == 0 ? 1 : random.nextInt(LEAST_WORDS, MOST_WORDS + 1);
    }

    static StoreAnswer value(int key, byte[] value) {
        return StoreAnswer.value(VersionedValue.number(key, value));
    }

    static String nameOf(int key) {
        return "k" + key;
    }

    static byte[] name(int key) {
        return nameOf(key).getBytes(StandardCharsets.US_ASCII);
    }
}
