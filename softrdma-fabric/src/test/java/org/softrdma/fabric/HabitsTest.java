package org.softrdma.fabric;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.ValueLayout;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.softrdma.fabric.adversary.Habit;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.WorkCompletion;

/**
 * Programs that rely on more than verbs promise, each beside one that does not. The wrong one passes where the device
 * has every habit but the one that it cannot stand, and is caught where it has that alone; the right one passes with
 * all of them.
 */
class HabitsTest {
    private static final int SEEDS = 60;
    private static final int WORD = Long.BYTES;
    private static final int MESSAGES = 8;
    private static final long MILLISECOND_NS = TimeUnit.MILLISECONDS.toNanos(1);

    /** What a program is caught at. */
    private enum Verdict {
        FINE,
        CAUGHT
    }

    private interface Program {
        Verdict run(Ends ends) throws Exception;
    }

    /** Seeds by which a program is caught. */
    private static int caught(Set<Habit> habits, Program program) {
        int caught = 0;
        for (long seed = 0; seed < SEEDS; seed++) {
            Verdict[] verdict = new Verdict[1];
            Ends.run(seed, FabricSettings.DEFAULT.with(habits), ends -> verdict[0] = program.run(ends));
            caught += verdict[0] == Verdict.CAUGHT ? 1 : 0;
        }
        return caught;
    }

    private static void requireCaughtByNothingElse(Habit habit, Program wrong) {
        assertEquals(0, caught(EnumSet.complementOf(EnumSet.of(habit)), wrong), "runs that fail without the habit");
        int caught = caught(EnumSet.of(habit), wrong);
        assertTrue(caught > 0, "not one of " + SEEDS + " runs fails by the habit");
    }

    private static void requireNeverCaught(Program right) {
        assertEquals(0, caught(EnumSet.allOf(Habit.class), right));
    }

    private static Verdict fineIf(boolean holds) {
        return holds ? Verdict.FINE : Verdict.CAUGHT;
    }

    private static void accepted(PostStatus status) {
        assertEquals(PostStatus.ACCEPTED, status);
    }

    // ---- the vendor code of a failure

    private interface Judge {
        boolean isFlush(WorkCompletion completion);
    }

    /** Disconnects, and tells the RECVs that this flushed from those that failed. */
    private static Verdict disconnect(Ends ends, Judge judge) {
        Ends.Link link = ends.connect();
        MemoryRegion inbox = ends.client().region(WORD);
        accepted(link.client().postReceive(1, inbox, 0, WORD));
        link.client().disconnect();
        boolean flush = judge.isFlush(ends.client().next(ends.client().receives()));
        link.close();
        inbox.close();
        return fineIf(flush);
    }

    @Test
    void shouldCatchAProgramThatDecidesByTheVendorCode() {
        requireCaughtByNothingElse(
                Habit.VENDOR_CODES, ends -> disconnect(ends, completion -> completion.vendorCode() == 0));
    }

    @Test
    void shouldLetAProgramPassThatDecidesByTheStatus() {
        requireNeverCaught(ends -> disconnect(ends, completion -> completion.status() == CompletionStatus.FLUSHED));
    }

    @Test
    void shouldThrowWhereAProgramReadsFieldsThatAFailureDoesNotHave() {
        requireNeverCaught(ends -> disconnect(ends, completion -> {
            assertThrows(IllegalStateException.class, completion::opcode);
            assertThrows(IllegalStateException.class, completion::byteLength);
            return true;
        }));
    }

    // ---- events

    private interface Events {
        /** Takes the events of two messages that were polled; false if it waits in vain. */
        boolean take(Ends.Side side);
    }

    /**
     * Arms for each of two messages, but polls for them, and takes the events at the end: else the queue cannot be
     * closed.
     */
    private static Verdict pollArmed(Ends ends, Events events) {
        Ends.Link link = ends.connect();
        MemoryRegion inbox = ends.client().region(WORD);
        MemoryRegion message = ends.server().region(WORD);
        for (int i = 0; i < 2; i++) {
            accepted(link.client().postReceive(i, inbox, 0, WORD));
            ends.client().receives().requestNotification(false);
            accepted(link.server().postSend(i, message, 0, WORD, SendFlags.SIGNALLED));
            assertEquals(i, ends.client().next(ends.client().receives()).wrId());
        }
        boolean taken = events.take(ends.client());
        link.close();
        inbox.close();
        message.close();
        return fineIf(taken);
    }

    @Test
    void shouldCatchAProgramThatCountsEvents() {
        requireCaughtByNothingElse(
                Habit.MERGED_EVENTS,
                ends -> pollArmed(ends, side -> {
                    for (int i = 0; i < 2; i++) {
                        if (side.channel().await(100 * MILLISECOND_NS).isEmpty()) {
                            return false;
                        }
                        side.receives().acknowledgeEvents(1);
                    }
                    return true;
                }));
    }

    @Test
    void shouldLetAProgramPassThatTakesTheEventsThatAreThere() {
        requireNeverCaught(ends -> pollArmed(ends, side -> {
            while (side.channel().await(0).isPresent()) {
                side.receives().acknowledgeEvents(1);
            }
            return true;
        }));
    }

    private interface Waiter {
        /** Waits for a message; false if it was misled. */
        boolean await(Ends.Side side);
    }

    private static Verdict receive(Ends ends, Waiter waiter) {
        Ends.Link link = ends.connect();
        MemoryRegion inbox = ends.client().region(WORD);
        MemoryRegion message = ends.server().region(WORD);
        accepted(link.client().postReceive(1, inbox, 0, WORD));
        ends.serve(() -> {
            ends.fabric().scheduler().sleep(MILLISECOND_NS);
            accepted(link.server().postSend(2, message, 0, WORD, SendFlags.SIGNALLED));
        });
        boolean received = waiter.await(ends.client());
        CompletionStatus sent = ends.server().next(ends.server().sends()).status();
        assertEquals(CompletionStatus.SUCCESS, sent);
        link.close();
        inbox.close();
        message.close();
        return fineIf(received);
    }

    @Test
    void shouldCatchAProgramThatTakesTheCompletionOfAnEventForGranted() {
        requireCaughtByNothingElse(
                Habit.SPURIOUS_EVENTS,
                ends -> receive(ends, side -> {
                    side.receives().requestNotification(false);
                    assertTrue(side.channel().await(Ends.PATIENCE_NS).isPresent());
                    side.receives().acknowledgeEvents(1);
                    return side.receives().poll(WorkCompletion.array(1)) == 1;
                }));
    }

    @Test
    void shouldCatchAProgramThatDoesNotArmAgain() {
        requireCaughtByNothingElse(
                Habit.SPURIOUS_EVENTS,
                ends -> receive(ends, side -> {
                    side.receives().requestNotification(false);
                    while (side.receives().poll(WorkCompletion.array(1)) == 0) {
                        if (side.channel().await(100 * MILLISECOND_NS).isEmpty()) {
                            return false;
                        }
                        side.receives().acknowledgeEvents(1);
                    }
                    return true;
                }));
    }

    @Test
    void shouldLetAProgramPassThatArmsAndPollsBeforeEachWait() {
        requireNeverCaught(ends -> receive(ends, side -> {
            side.receives().requestNotification(false);
            while (side.receives().poll(WorkCompletion.array(1)) == 0) {
                if (side.channel().await(100 * MILLISECOND_NS).isEmpty()) {
                    return false;
                }
                side.receives().acknowledgeEvents(1);
                side.receives().requestNotification(false);
            }
            while (side.channel().await(0).isPresent()) {
                side.receives().acknowledgeEvents(1);
            }
            return true;
        }));
    }

    // ---- numbers that come again

    /**
     * The server lends memory to the client, then something else is registered; true if a late WRITE of the client
     * spares it.
     */
    private static Verdict lend(Ends ends, boolean takesBack) {
        Ends.Link link = ends.connect();
        MemoryRegion source = ends.client().region(WORD);
        source.memory().set(ValueLayout.JAVA_LONG, 0, 7);
        MemoryRegion lent = ends.server().region(WORD, AccessFlag.REMOTE_WRITE, AccessFlag.ZERO_BASED);
        int rkey = lent.rkey();
        lent.close();
        MemoryRegion other = ends.server().region(WORD, AccessFlag.REMOTE_WRITE, AccessFlag.ZERO_BASED);
        if (!takesBack) {
            accepted(link.client().postWrite(1, source, 0, WORD, 0, rkey, SendFlags.SIGNALLED));
            CompletionStatus ignored = ends.client().next(ends.client().sends()).status();
            ends.fabric().scheduler().sleep(MILLISECOND_NS);
        }
        long word = other.memory().get(ValueLayout.JAVA_LONG, 0);
        link.close();
        other.close();
        source.close();
        return fineIf(word == 0);
    }

    @Test
    void shouldCatchAProgramThatLeavesAPeerTheKeyOfARegionThatIsGone() {
        requireCaughtByNothingElse(Habit.NUMBERS_AGAIN, ends -> lend(ends, false));
    }

    @Test
    void shouldLetAProgramPassThatTakesTheKeyBackFirst() {
        requireNeverCaught(ends -> lend(ends, true));
    }

    /** Sessions by the number of their queue pair; true if a completion leads to its own session. */
    private static Verdict reconnect(Ends ends, boolean forgets) {
        Map<Integer, String> sessions = new HashMap<>();
        MemoryRegion message = ends.client().region(WORD);
        MemoryRegion inbox = ends.server().region(WORD);
        String found = "";
        for (String name : new String[] {"first", "second"}) {
            Ends.Link link = ends.connect();
            sessions.putIfAbsent(link.client().number(), name);
            accepted(link.server().postReceive(1, inbox, 0, WORD));
            accepted(link.client().postSend(2, message, 0, WORD, SendFlags.SIGNALLED));
            found = sessions.get(ends.client().next(ends.client().sends()).qpNumber());
            link.close();
            if (forgets) {
                sessions.remove(link.client().number());
            }
        }
        message.close();
        inbox.close();
        return fineIf("second".equals(found));
    }

    @Test
    void shouldCatchAProgramThatRemembersQueuePairsThatAreGone() {
        requireCaughtByNothingElse(Habit.NUMBERS_AGAIN, ends -> reconnect(ends, false));
    }

    @Test
    void shouldLetAProgramPassThatForgetsThem() {
        requireNeverCaught(ends -> reconnect(ends, true));
    }

    // ---- completions of different queues

    private interface Reuse {
        /** The answer is there; false if the SEND does not seem to have gone. */
        boolean sent(Ends.Side side);
    }

    private static Verdict ask(Ends ends, Reuse reuse) {
        Ends.Link link = ends.connect();
        MemoryRegion buffers = ends.client().region(2 * WORD);
        MemoryRegion answer = ends.server().region(WORD);
        accepted(link.server().postReceive(1, answer, 0, WORD));
        ends.serve(() -> {
            assertTrue(ends.server().next(ends.server().receives()).isSuccess());
            accepted(link.server().postSend(2, answer, 0, WORD, SendFlags.SIGNALLED));
        });
        accepted(link.client().postReceive(1, buffers, WORD, WORD));
        accepted(link.client().postSend(2, buffers, 0, WORD, SendFlags.SIGNALLED));
        assertTrue(ends.client().next(ends.client().receives()).isSuccess());
        boolean sent = reuse.sent(ends.client());
        link.close();
        buffers.close();
        answer.close();
        return fineIf(sent);
    }

    @Test
    void shouldCatchAProgramThatTakesTheAnswerForTheEndOfItsRequest() {
        requireCaughtByNothingElse(
                Habit.QUEUES_IN_ANY_ORDER,
                ends -> ask(ends, side -> side.sends().poll(WorkCompletion.array(1)) == 1));
    }

    @Test
    void shouldLetAProgramPassThatWaitsForBoth() {
        requireNeverCaught(ends -> ask(ends, side -> side.next(side.sends()).isSuccess()));
    }

    /** The order of one queue is promised. */
    @Test
    void shouldKeepTheOrderOfEachQueue() {
        requireNeverCaught(ends -> {
            Ends.Link link = ends.connect();
            MemoryRegion inbox = ends.server().region(WORD);
            MemoryRegion message = ends.client().region(WORD);
            for (int i = 0; i < MESSAGES; i++) {
                accepted(link.server().postReceive(i, inbox, 0, WORD));
                accepted(link.client().postSend(i, message, 0, WORD, SendFlags.SIGNALLED));
            }
            boolean ordered = true;
            for (int i = 0; i < MESSAGES; i++) {
                ordered &= ends.client().next(ends.client().sends()).wrId() == i;
                ordered &= ends.server().next(ends.server().receives()).wrId() == i;
            }
            link.close();
            inbox.close();
            message.close();
            return fineIf(ordered);
        });
    }

    /** Completions of a queue pair that is destroyed are gone, whether they were visible or not. */
    @Test
    void shouldShowNothingOfAQueuePairThatIsGone() {
        requireNeverCaught(ends -> {
            Ends.Link link = ends.connect();
            MemoryRegion inbox = ends.client().region(WORD);
            for (int i = 0; i < MESSAGES; i++) {
                accepted(link.client().postReceive(i, inbox, 0, WORD));
            }
            link.client().disconnect();
            long first = ends.client().next(ends.client().receives()).wrId();
            link.close();
            ends.fabric().scheduler().sleep(MILLISECOND_NS);
            boolean none = ends.client().receives().poll(WorkCompletion.array(1)) == 0;
            inbox.close();
            return fineIf(first == 0 && none);
        });
    }

    // ---- READs that a WRITE overtakes

    /** READs a word and WRITEs a new one some time later; fine if it has READ the old one. */
    private static Verdict exchange(Ends ends, long headStartNs, int flags) {
        Ends.Link link = ends.connect();
        MemoryRegion words = ends.client().region(2 * WORD, AccessFlag.READ_SINK);
        words.memory().set(ValueLayout.JAVA_LONG, WORD, 2);
        MemoryRegion remote = ends.server().region(WORD, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE);
        remote.memory().set(ValueLayout.JAVA_LONG, 0, 1);
        accepted(link.client().postRead(1, words, 0, WORD, remote.address(), remote.rkey(), SendFlags.SIGNALLED));
        ends.fabric().scheduler().sleep(headStartNs);
        accepted(link.client()
                .postWrite(2, words, WORD, WORD, remote.address(), remote.rkey(), SendFlags.SIGNALLED | flags));
        for (int i = 0; i < 2; i++) {
            assertTrue(ends.client().next(ends.client().sends()).isSuccess());
        }
        long read = words.memory().get(ValueLayout.JAVA_LONG, 0);
        link.close();
        words.close();
        remote.close();
        return fineIf(read == 1);
    }

    @Test
    void shouldCatchAProgramThatGivesAReadAHeadStartInsteadOfAFence() {
        requireCaughtByNothingElse(Habit.LATE_READS, ends -> exchange(ends, MILLISECOND_NS, SendFlags.NONE));
    }

    @Test
    void shouldLetAProgramPassThatFences() {
        requireNeverCaught(ends -> exchange(ends, MILLISECOND_NS, SendFlags.FENCE));
        requireNeverCaught(ends -> exchange(ends, 0, SendFlags.FENCE));
    }

    /**
     * The soft RNIC answers READs behind all that has arrived with them, so a WRITE right behind one overtakes it by
     * itself.
     */
    @Test
    void shouldCatchAWriteRightBehindAReadWithoutAnyHabit() {
        int caught = caught(EnumSet.noneOf(Habit.class), ends -> exchange(ends, 0, SendFlags.NONE));
        assertTrue(caught > 0, "not one of " + SEEDS + " runs fails");
    }
}
