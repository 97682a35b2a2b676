package org.softrdma.testkit.history;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** What is recorded is what is checked. */
class HistoryRecorderTest {
    private final AtomicLong clock = new AtomicLong();
    private final HistoryRecorder<StoreCall, StoreAnswer> recorder = new HistoryRecorder<>(clock::getAndIncrement);

    @Test
    void shouldRecordWhatReturnsWhatIsLostAndNotWhatIsForgotten() {
        ProcessRecorder<StoreCall, StoreAnswer> process = recorder.process("p");
        int set = process.invoke("k", StoreCall.set(1));
        int lost = process.invoke("k", StoreCall.set(2));
        int read = process.invoke("k", StoreCall.get());
        process.returned(set, StoreAnswer.DONE);
        process.forget(read);
        assertEquals(
                List.of(
                        new Operation<>("p", "k", StoreCall.set(1), StoreAnswer.DONE, 0, 3),
                        Operation.unknown("p", "k", StoreCall.set(2), 1)),
                recorder.operations());
        assertThrows(IllegalStateException.class, () -> process.returned(set, StoreAnswer.DONE));
        assertThrows(IllegalStateException.class, () -> process.returned(read, StoreAnswer.MISSING));
        assertThrows(IllegalArgumentException.class, () -> process.forget(read + 1));
        process.returned(lost, StoreAnswer.DONE);
        assertEquals(
                2, recorder.operations().stream().filter(Operation::isKnown).count());
    }

    @Test
    void shouldRecordMoreThanAPage() {
        ProcessRecorder<StoreCall, StoreAnswer> process = recorder.process("p");
        for (int i = 0; i < 10_000; i++) {
            process.returned(process.invoke("k", StoreCall.set(i)), StoreAnswer.DONE);
        }
        List<Operation<StoreCall, StoreAnswer>> operations = recorder.operations();
        assertEquals(10_000, operations.size());
        for (int i = 0; i < operations.size(); i++) {
            assertEquals(
                    new Operation<>("p", "k", StoreCall.set(i), StoreAnswer.DONE, 2L * i, 2L * i + 1),
                    operations.get(i));
        }
    }

    @Test
    void shouldAcceptAMapThatThreadsShareAndRefuseOneThatIsCopied() throws Exception {
        HistoryRecorder<StoreCall, StoreAnswer> live = new HistoryRecorder<>(System::nanoTime);
        ConcurrentHashMap<String, Long> map = new ConcurrentHashMap<>();
        List<Future<?>> threads = new ArrayList<>();
        try (ExecutorService executor = Executors.newFixedThreadPool(4)) {
            for (int i = 0; i < 4; i++) {
                int number = i;
                threads.add(executor.submit(() -> use(map, live.process("thread " + number), number)));
            }
        }
        for (Future<?> thread : threads) {
            thread.get();
        }
        new HistoryChecker<>(StoreModel.keeping()).check(live.operations()).requireLinearizable();

        ConcurrentHashMap<String, Long> copy = new ConcurrentHashMap<>(map);
        use(map, live.process("owner"), 4);
        use(copy, live.process("owner of the copy"), 5);
        assertFalse(new HistoryChecker<>(StoreModel.keeping())
                .check(live.operations())
                .isLinearizable());
    }

    private static void use(
            ConcurrentHashMap<String, Long> map, ProcessRecorder<StoreCall, StoreAnswer> process, int number) {
        Random random = new Random(number);
        for (int i = 0; i < 5000; i++) {
            String key = "key" + random.nextInt(3);
            if (random.nextInt(3) == 0) {
                long value = number * 1_000_000L + i;
                int ticket = process.invoke(key, StoreCall.set(value));
                map.put(key, value);
                process.returned(ticket, StoreAnswer.DONE);
            } else {
                int ticket = process.invoke(key, StoreCall.get());
                Long value = map.get(key);
                process.returned(ticket, value == null ? StoreAnswer.MISSING : StoreAnswer.value(value));
            }
        }
    }
}
