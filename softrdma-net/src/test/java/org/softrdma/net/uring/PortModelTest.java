package org.softrdma.net.uring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.softrdma.net.memory.BufferOperations;
import org.softrdma.net.memory.NativeMemory;

/**
 * A port in every state that it can reach, beside a scripted kernel and an owner that does what the port asks of owners and no
 * more. The states are found by trying every step in each of them: what the peer does, what the owner does, in events and
 * outside of them, and when the loop has a turn. From each state the loop then runs until nothing happens. Whatever has
 * arrived must have been received by then, in order, with the end behind it, and room must have been told: an owner that
 * waits would wait for ever. With a submission queue of one entry each request makes the loop take completions first.
 */
class PortModelTest {
    /** Two buffers, which a large message does not fit into. */
    private static final int BUFFERS = 2;

    private static final int COMPLETIONS = 64;
    private static final int LARGE = 4;
    /** Bytes that nobody has received yet are no more than this, or there would be no end of states. */
    private static final int MOST_LEFT = 4;

    private static final int ASKED = 2;
    private static final int MOST_TURNS = 60;
    private static final int FEWEST_STATES = 2000;

    /** How the owner receives in an event. */
    enum Receiving {
        /** Until it finds nothing. */
        ALL,
        /** Once, and again in another event. */
        ONCE,
        /** What is lent first, then as the first. */
        LENT
    }

    /** Room is told by a request of its own: what has to do with it is tried beside the little of input that matters to it. */
    private static final Set<Step> OF_ROOM = EnumSet.of(
            Step.FILL_ROOM,
            Step.FILL_ROOM_IN_EVENT,
            Step.AWAIT_ROOM,
            Step.ROOM_OPENS,
            Step.PEER_ENDS,
            Step.PEER_RESETS,
            Step.EXPECT_LARGE,
            Step.PAUSE,
            Step.RESUME,
            Step.TURN,
            Step.COMPLETION_QUEUE_FULL);

    private static final Set<Step> OF_INPUT =
            EnumSet.complementOf(EnumSet.of(Step.FILL_ROOM, Step.FILL_ROOM_IN_EVENT, Step.AWAIT_ROOM, Step.ROOM_OPENS));

    private enum Step {
        ARRIVE_SHORT,
        ARRIVE_LARGE,
        PEER_ENDS,
        PEER_RESETS,
        ROOM_OPENS,
        COMPLETION_QUEUE_FULL,
        TURN,
        TAKE_ONCE,
        TAKE_ALL,
        EXPECT_SHORT,
        EXPECT_LARGE,
        PAUSE,
        PAUSE_IN_EVENT,
        RESUME,
        FILL_ROOM,
        /** And room opens again before the owner waits for it. */
        FILL_ROOM_IN_EVENT,
        AWAIT_ROOM
    }

    /** One port and its owner. */
    private static final class Owner implements PortEvents {
        private final Bench bench;
        private final RingPort port;
        private boolean paused;
        private boolean pauseNext;
        private boolean fillNext;
        private boolean full;
        private boolean awaitsRoom;
        private boolean over;
        private boolean failed;
        private long received;

        Owner(Bench bench) {
            this.bench = bench;
            port = bench.loop.open(ScriptedKernel.DESCRIPTOR, this);
            port.rearm();
        }

        @Override
        public void ready(boolean writable) {
            if (writable) {
                awaitsRoom = false;
                full = false;
            } else {
                assertFalse(paused, "an event of a port whose events are suppressed");
            }
            fillIfDue();
            receive(bench.receiving == Receiving.ONCE ? 1 : Integer.MAX_VALUE);
        }

        /** As the contract of a stream socket wants it. */
        void receive(int most) {
            long before = received;
            boolean more = true;
            for (int i = 0; more && i < most && !paused && !over; i++) {
                int got = bench.receiving == Receiving.LENT ? lend() : 0;
                if (got > 0) {
                    pauseIfDue();
                    continue;
                }
                got = receiveOnce();
                pauseIfDue();
                more = got == ASKED || (got > 0 && port.hasMore());
            }
            if (!paused && !over) {
                port.receiveAhead(received - before < LARGE);
                if (more) {
                    port.rearm();
                }
            }
        }

        private void fillIfDue() {
            if (fillNext && !bench.kernel.isReset()) {
                bench.kernel.fill();
                bench.kernel.room();
                bench.loop.poll(); // as when room is made for a request
                full = true;
                awaitsRoom = true;
                port.awaitRoom();
            }
            fillNext = false;
        }

        private void pauseIfDue() {
            if (pauseNext) {
                pauseNext = false;
                paused = true;
                port.pause();
            }
        }

        private int lend() {
            int lent = port.lend();
            check(port.lentAddress(), lent);
            return lent;
        }

        private int receiveOnce() {
            int ahead = port.copyAhead(bench.memory, bench.buffer, ASKED);
            if (ahead > 0) {
                check(bench.buffer, ahead);
                return ahead;
            }
            if (port.error() != 0 || port.isEnded()) {
                over = true;
                failed = port.error() != 0;
                return -1;
            }
            if (port.isReceivingAhead()) {
                return 0;
            }
            try {
                int got = bench.kernel.receive(bench.buffer, ASKED);
                if (got < ASKED) {
                    port.foundEmpty();
                }
                over = got < 0;
                check(bench.buffer, got);
                return got;
            } catch (IllegalStateException e) {
                over = true;
                failed = true;
                return -1;
            }
        }

        private void check(long address, int length) {
            for (int i = 0; i < length; i++) {
                assertEquals((byte) received, NativeMemory.getByte(address + i), "byte " + received);
                received++;
            }
        }

        @Override
        public void sent() {
            throw new AssertionError("it sends nothing");
        }

        @Override
        public String toString() {
            return port
                    + (paused ? ", paused" : "")
                    + (pauseNext ? ", pauses next" : "")
                    + (fillNext ? ", fills next" : "")
                    + (full ? ", full" : "")
                    + (awaitsRoom ? ", awaits room" : "")
                    + (over ? ", over" : "")
                    + (failed ? ", failed" : "");
        }
    }

    /** A loop on a scripted kernel, and one owner after the other. */
    private static final class Bench implements AutoCloseable {
        private final Receiving receiving;
        private final BufferOperations memory = new BufferOperations();
        private final Arena arena = Arena.ofConfined();
        private final long buffer = arena.allocate(ASKED).address();
        private final RingLoop loop;
        private ScriptedKernel kernel;
        private Owner owner;

        @SuppressWarnings("NullAway.Init") // the kernel by the loop's constructor, the owner by the first run
        Bench(Receiving receiving, boolean slowCancel, int submissions) throws IOException {
            this.receiving = receiving;
            loop = new RingLoop(
                    area -> {
                        kernel = new ScriptedKernel(area, slowCancel);
                        return kernel;
                    },
                    memory,
                    new RingLoop.Sizes(submissions, COMPLETIONS, BUFFERS, 1));
            loop.start();
        }

        /** Runs steps from the beginning; returns the state that they end in. */
        String run(List<Step> steps) {
            kernel.newSocket();
            owner = new Owner(this);
            for (Step step : steps) {
                run(step);
            }
            return owner + " | " + kernel;
        }

        void endRun() {
            owner.port.close();
            assertFalse(owner.port.isArmed(), "a request of a closed port");
            assertEquals(0, loop.buffers().held(), "buffers that a closed port holds");
        }

        private long left() {
            return kernel.sent() - owner.received;
        }

        boolean isPossible(Step step) {
            return switch (step) {
                case ARRIVE_SHORT -> !kernel.isEnded() && left() < MOST_LEFT;
                case ARRIVE_LARGE -> !kernel.isEnded() && left() + LARGE <= MOST_LEFT;
                case PEER_ENDS -> !kernel.isEnded();
                case PEER_RESETS -> !kernel.isReset();
                case ROOM_OPENS -> kernel.isFull();
                case PAUSE, PAUSE_IN_EVENT -> !owner.paused && !owner.pauseNext && !owner.over;
                case RESUME -> owner.paused;
                case TAKE_ONCE, TAKE_ALL, EXPECT_SHORT, EXPECT_LARGE -> !owner.paused && !owner.over;
                case FILL_ROOM, FILL_ROOM_IN_EVENT -> !owner.full && !owner.fillNext && !kernel.isReset();
                case AWAIT_ROOM -> owner.full && !owner.awaitsRoom;
                case TURN, COMPLETION_QUEUE_FULL -> true;
            };
        }

        private void run(Step step) {
            switch (step) {
                case ARRIVE_SHORT -> kernel.arrive(1);
                case ARRIVE_LARGE -> kernel.arrive(LARGE);
                case PEER_ENDS -> kernel.end();
                case PEER_RESETS -> kernel.reset();
                case ROOM_OPENS -> kernel.room();
                case COMPLETION_QUEUE_FULL -> kernel.endNextRequest();
                case TURN -> turn();
                case TAKE_ONCE -> owner.receive(1);
                case TAKE_ALL -> owner.receive(Integer.MAX_VALUE);
                case EXPECT_SHORT -> owner.port.receiveAhead(true);
                case EXPECT_LARGE -> owner.port.receiveAhead(false);
                case PAUSE -> {
                    owner.paused = true;
                    owner.port.pause();
                }
                case PAUSE_IN_EVENT -> owner.pauseNext = true;
                case RESUME -> {
                    owner.paused = false;
                    owner.port.rearm();
                }
                case FILL_ROOM -> {
                    kernel.fill();
                    owner.full = true;
                }
                case FILL_ROOM_IN_EVENT -> owner.fillNext = true;
                case AWAIT_ROOM -> {
                    owner.awaitsRoom = true;
                    owner.port.awaitRoom();
                }
            }
        }

        private void turn() {
            loop.poll();
            int ignored = loop.dispatch();
        }

        private boolean isQuiet() {
            String before = owner + " | " + kernel;
            if (!loop.isIdle() || kernel.hasWork()) {
                return false;
            }
            turn(); // submits what is queued
            return loop.isIdle() && !kernel.hasWork() && before.equals(owner + " | " + kernel);
        }

        private void untilQuiet() {
            int turns = 0;
            while (!isQuiet()) {
                turn();
                turns++;
                assertTrue(turns < MOST_TURNS, () -> "it does not come to rest: " + owner + " | " + kernel);
            }
        }

        /** From now on nothing happens but turns of the loop. */
        void settle() {
            owner.pauseNext = false;
            owner.fillNext = false;
            untilQuiet();
            if (owner.awaitsRoom) {
                assertTrue(kernel.isFull(), () -> "room was not told: " + owner + " | " + kernel);
                kernel.room();
                untilQuiet();
                assertFalse(owner.awaitsRoom, () -> "room was not told: " + owner + " | " + kernel);
            }
            if (owner.paused) {
                run(Step.RESUME);
                untilQuiet();
            }
            assertEquals(0, left(), () -> "bytes that were not received: " + owner + " | " + kernel);
            assertEquals(kernel.isEnded(), owner.over, () -> "the end: " + owner + " | " + kernel);
            assertTrue(owner.failed || !kernel.isReset() || owner.over, () -> "the reset: " + owner + " | " + kernel);
        }

        @Override
        public void close() {
            loop.close();
            arena.close();
        }
    }

    /** A sample has each kind of owner but one; all are tried by {@code ci/slow}. */
    static Stream<Arguments> owners() {
        return Stream.of(
                        Arguments.of(Receiving.ONCE, true, 1),
                        Arguments.of(Receiving.LENT, true, 16),
                        Arguments.of(Receiving.ALL, false, 16),
                        Arguments.of(Receiving.LENT, false, 1))
                .limit(Integer.getInteger("softrdma.sample", 1) == 1 ? Long.MAX_VALUE : 2);
    }

    @Tag("sampled")
    @ParameterizedTest
    @MethodSource("owners")
    void shouldTellOfAllInputInEveryOrderOfSteps(Receiving receiving, boolean slowCancel, int submissions)
            throws IOException {
        explore(receiving, slowCancel, submissions, OF_INPUT);
    }

    @ParameterizedTest
    @CsvSource({"false,16", "true,1"})
    void shouldTellOfRoomInEveryOrderOfSteps(boolean slowCancel, int submissions) throws IOException {
        explore(Receiving.ALL, slowCancel, submissions, OF_ROOM);
    }

    private static void explore(Receiving receiving, boolean slowCancel, int submissions, Set<Step> steps)
            throws IOException {
        Set<String> states = new HashSet<>();
        ArrayDeque<List<Step>> paths = new ArrayDeque<>();
        paths.add(List.of());
        try (Bench bench = new Bench(receiving, slowCancel, submissions)) {
            while (!paths.isEmpty()) {
                List<Step> path = paths.removeFirst();
                try {
                    if (states.add(bench.run(path))) {
                        for (Step step : steps) {
                            if (bench.isPossible(step)) {
                                List<Step> next = new ArrayList<>(path);
                                next.add(step);
                                paths.addLast(next);
                            }
                        }
                        bench.settle();
                    }
                    bench.endRun();
                } catch (AssertionError | RuntimeException e) {
                    throw new AssertionError("after " + path + ": " + e.getMessage(), e);
                }
            }
        }
        assertTrue(states.size() > FEWEST_STATES, () -> states.size() + " states: most steps lead nowhere");
    }
}
