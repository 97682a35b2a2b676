package org.softrdma.stores.herd;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.softrdma.stores.MemorySteps;
import org.softrdma.stores.Protocol;
import org.softrdma.stores.herd.part.HerdPart;
import org.softrdma.stores.herd.wire.HerdTestRequest;

/** In which order a worker does what waits. */
class HerdWorkerTest {
    private static final int WAITING = 20;

    /** What a worker asks of a part that has nothing. */
    private record ToldPart(List<String> told, boolean isLarge) implements HerdPart {
        @Override
        public long find(MemorySegment memory, long key, int keyLength, long hash) {
            told.add("find " + hash);
            return NONE;
        }

        @Override
        public long touchIndex(long hash) {
            told.add("index " + hash);
            return 0;
        }

        @Override
        public long touchPairs(long hash) {
            told.add("pairs " + hash);
            return 0;
        }

        @Override
        public boolean put(MemorySegment memory, long key, int keyLength, long hash, long value, int valueLength) {
            return told.add("put");
        }

        @Override
        public boolean remove(MemorySegment memory, long key, int keyLength, long hash) {
            return told.add("remove");
        }

        @Override
        public MemorySegment memory() {
            return MemorySegment.NULL;
        }

        @Override
        public long valueAt(long position) {
            throw new IllegalArgumentException("position=" + position + ": there is no pair");
        }

        @Override
        public int valueLength(long position) {
            throw new IllegalArgumentException("position=" + position + ": there is no pair");
        }

        @Override
        public long pairs() {
            return 0;
        }

        @Override
        public long dataBytes() {
            return 0;
        }

        @Override
        public long usedBytes() {
            return 0;
        }

        @Override
        public long allBytes() {
            return 0;
        }
    }

    private final List<String> told = new ArrayList<>();

    private LoneWorker worker(boolean large) {
        return new LoneWorker(new ToldPart(told, large), Protocol.PAPER, WAITING, MemorySteps.OF_JVM);
    }

    private static List<String> of(String call, int from, int to) {
        return IntStream.range(from, to).mapToObj(key -> call + " " + key).toList();
    }

    private static List<Integer> slots(LoneWorker worker) {
        return IntStream.range(0, worker.count()).mapToObj(worker::slot).toList();
    }

    private static List<Integer> upTo(int slot) {
        return IntStream.range(0, slot).boxed().toList();
    }

    @Test
    void shouldTouchAllThatWaitsBeforeItExecutesTheFirst() {
        LoneWorker worker = worker(true);
        for (int slot = 0; slot < WAITING; slot++) {
            worker.ask(slot, slot);
        }
        assertEquals(WAITING, worker.turn());
        List<String> expected = new ArrayList<>();
        for (int from = 0; from < WAITING; from += TakenRequests.MOST) {
            int to = Math.min(WAITING, from + TakenRequests.MOST);
            expected.addAll(of("index", from, to));
            expected.addAll(of("pairs", from, to));
            expected.addAll(of("find", from, to));
        }
        assertEquals(expected, told);
        assertEquals(upTo(WAITING), slots(worker));
    }

    @Test
    void shouldTouchNothingForOneRequest() {
        LoneWorker worker = worker(true);
        worker.ask(0, 5);
        assertEquals(1, worker.turn());
        assertEquals(List.of("find 5"), told);
    }

    @Test
    void shouldTouchNothingOfAPartThatIsSmall() {
        LoneWorker worker = worker(false);
        worker.ask(0, 0);
        worker.ask(1, 1);
        assertEquals(2, worker.turn());
        assertEquals(of("find", 0, 2), told);
    }

    /** Where a request was lost, the next one is not in the next slot. It does not wait until nothing else is asked. */
    @Test
    void shouldFindARequestBehindAnEmptySlotWhileOthersAsk() {
        LoneWorker worker = worker(false);
        worker.ask(0, 0);
        worker.ask(5, 5);
        assertEquals(2, worker.turn());
        assertEquals(List.of(0, 5), slots(worker));
    }

    /** What has no room waits in its slot, in the published form too, where a request that was taken is nowhere else. */
    @Test
    void shouldTakeNoMoreThanItsAnswersHaveRoom() {
        LoneWorker worker = worker(true);
        for (int slot = 0; slot < WAITING; slot++) {
            worker.ask(slot, slot);
        }
        for (int answered = 0; answered < WAITING; answered += 3) {
            assertEquals(answered, worker.count());
            worker.room(3);
            int ignored = worker.turn();
        }
        assertEquals(upTo(WAITING), slots(worker));
        assertEquals(0, worker.turn());
    }

    /** Or else a client with few buffers would get nothing while others ask. */
    @Test
    void shouldExecuteWhatItHasTakenToMakeRoom() {
        LoneWorker worker = worker(true);
        worker.roomAtATime(2);
        for (int slot = 0; slot < WAITING; slot++) {
            worker.ask(slot, slot);
        }
        assertEquals(WAITING, worker.turn());
        assertEquals(upTo(WAITING), slots(worker));
    }

    /** A request that comes again before its first copy is executed is executed once. */
    @Test
    void shouldExecuteOnceWhatItHasTakenTwice() {
        LoneWorker[] worker = new LoneWorker[1];
        MemorySteps again = new MemorySteps() {
            private boolean done;

            @Override
            public void step(Enum<?> point) {
                if (point == HerdStep.TAKEN && !done) {
                    done = true;
                    worker[0].ask(HerdTestRequest.put(0, 1, 2));
                }
            }
        };
        worker[0] = new LoneWorker(new ToldPart(told, true), Protocol.SAFE, 1, again);
        worker[0].ask(HerdTestRequest.put(0, 1, 1));
        assertEquals(2, worker[0].turn());
        assertEquals(List.of("put"), told.subList(told.size() - 1, told.size()));
        assertEquals(1, told.stream().filter("put"::equals).count());
        assertEquals(2, worker[0].count());
        assertEquals(1, worker[0].attempt(0));
        assertEquals(2, worker[0].attempt(1));
    }

    /** Copies of long requests take no more memory than those of short ones. */
    @Test
    void shouldTakeFewerLongRequests() {
        assertEquals(TakenRequests.MOST, taken(1000));
        assertEquals(4, taken(64 << 10));
        assertEquals(1, taken(1 << 20));
    }

    private static int taken(int longest) {
        TakenRequests taken = new TakenRequests(longest);
        HerdSeat seat = HerdRosterTest.seat(1);
        while (!taken.isFull()) {
            assertEquals(taken.size(), indexOf(taken));
            taken.add(seat);
        }
        return taken.size();
    }

    private static int indexOf(TakenRequests taken) {
        int index = 0;
        while (taken.request(index) != taken.next()) {
            index++;
        }
        return index;
    }
}
