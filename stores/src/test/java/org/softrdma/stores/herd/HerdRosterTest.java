package org.softrdma.stores.herd;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.softrdma.stores.herd.wire.HerdShape;

/** Who serves whom, and when nobody does any more. */
class HerdRosterTest {
    private static final int WORKERS = 2;
    private static final int CLIENTS = 10_000;
    private static final int AT_A_TIME = 3;

    private final HerdRoster roster = new HerdRoster(WORKERS);

    static HerdSeat seat(int client) {
        return new HerdSeat(new NoPeer(), client, new HerdSession(client, WORKERS), new HerdShape(WORKERS, 1, 64), 0);
    }

    @Test
    void shouldKnowWhoServesWhichList() {
        HerdSeat first = seat(1);
        HerdSeat second = seat(2);
        roster.add(first);
        roster.add(second);
        assertEquals(List.of(first, second), List.of(roster.take(0)));
        assertEquals(List.of(first, second), List.of(roster.take(1)));
        long without = roster.remove(first);
        assertFalse(roster.areAllPast(without), "both are in turns with it");
        roster.leave(0);
        assertEquals(List.of(second), List.of(roster.take(0)));
        assertFalse(roster.areAllPast(without), "the other one is still in its turn");
        roster.leave(1);
        assertEquals(List.of(second), List.of(roster.take(1)));
        assertTrue(roster.areAllPast(without));
        assertTrue(roster.areAllPast(without - 1));
    }

    @Test
    void shouldWaitForNoWorkerBetweenTwoTurns() {
        assertTrue(roster.areAllPast(roster.remove(seat(0))), "no worker has begun");
        HerdSeat seat = seat(1);
        roster.add(seat);
        assertEquals(List.of(seat), List.of(roster.take(0)));
        long without = roster.remove(seat);
        assertFalse(roster.areAllPast(without));
        roster.leave(0);
        assertTrue(roster.areAllPast(without));
        assertEquals(0, roster.take(0).length);
    }

    /** Clients come and go while workers, on threads of their own, serve who is there. */
    @Test
    void shouldLetNobodyTouchWhatIsFreed() throws Exception {
        boolean[] freed = new boolean[CLIENTS];
        AtomicBoolean stopping = new AtomicBoolean();
        try (ExecutorService threads = Executors.newFixedThreadPool(WORKERS)) {
            List<Future<Long>> workers = new ArrayList<>();
            for (int i = 0; i < WORKERS; i++) {
                int worker = i;
                workers.add(threads.submit(() -> work(worker, freed, stopping)));
            }
            try {
                comeAndGo(freed, () -> workers.stream().anyMatch(Future::isDone));
            } finally {
                stopping.set(true);
            }
            for (Future<Long> worker : workers) {
                assertTrue(worker.get() > 0, "no client was served");
            }
        }
    }

    private record Former(HerdSeat seat, long without) {}

    private void comeAndGo(boolean[] freed, BooleanSupplier failed) {
        Queue<HerdSeat> there = new ArrayDeque<>();
        Queue<Former> formers = new ArrayDeque<>();
        for (int client = 0; !failed.getAsBoolean() && (client < CLIENTS || !formers.isEmpty()); client++) {
            if (client < CLIENTS) {
                HerdSeat seat = seat(client);
                roster.add(seat);
                there.add(seat);
            }
            if (there.size() == AT_A_TIME) {
                HerdSeat gone = there.remove();
                formers.add(new Former(gone, roster.remove(gone)));
            }
            while (!formers.isEmpty() && roster.areAllPast(formers.element().without)) {
                freed[(int) formers.remove().seat.client()] = true;
            }
            Thread.yield();
        }
    }

    private long work(int worker, boolean[] freed, AtomicBoolean stopping) {
        long served = 0;
        while (!stopping.get()) {
            for (HerdSeat seat : roster.take(worker)) {
                assertFalse(freed[(int) seat.client()], () -> "client " + seat.client() + " is freed");
                served++;
            }
            roster.leave(worker);
            Thread.yield();
        }
        return served;
    }
}
