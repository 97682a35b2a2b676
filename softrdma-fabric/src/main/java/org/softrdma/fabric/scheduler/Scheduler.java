package org.softrdma.fabric.scheduler;

import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import org.agrona.concurrent.NanoClock;
import org.jspecify.annotations.Nullable;
import org.softrdma.net.transport.Waits;

/**
 * Runs simulated threads one at a time. A thread runs until it waits, polls, or comes to a point where the seed lets
 * another one run; then the seed chooses among those that can go on and the sources that have something due. The clock
 * stands at a step's time while it runs, moves a little between steps, and leaps when nobody can run or all that run
 * only poll.
 *
 * <p>There is no scheduler's thread: the thread that gives way chooses which one runs next. So what a thread does between
 * two waits is seen by all others, and nothing here needs a lock.
 *
 * <p>A thread that blocks by the JVM's own means while it runs stops everybody, which {@link #run} reports
 * after a while.
 */
public final class Scheduler implements Waits, NanoClock {
    /** Virtual nanoseconds that a step may take. */
    private static final int STEP_NS = 1000;
    /** Misuses that a failure tells: the first of a loop's. */
    private static final int MOST_MISUSES = 8;
    /** A leap of the clock where all poll and nothing is due; each further one is twice as long, up to the longest. */
    private static final long FIRST_LEAP_NS = TimeUnit.MICROSECONDS.toNanos(10);

    /** How much more likely it is that a thread stands still at an edge. */
    private static final int EDGE = 8;

    private static final long LONGEST_LEAP_NS = TimeUnit.SECONDS.toNanos(1);

    private final Choices choices;
    private final Trace trace = new Trace();
    private final Limits limits;
    private final List<SimulatedThread> threads = new ArrayList<>();
    private final List<Source> sources = new ArrayList<>();
    private final List<SimulatedThread> able = new ArrayList<>();
    private final List<Source> due = new ArrayList<>();
    private final CountDownLatch over = new CountDownLatch(1);
    /** How often somebody was chosen. The running thread counts; the thread that waits for the end looks. */
    private final AtomicLong turns = new AtomicLong();

    private long nowNs = TimeUnit.SECONDS.toNanos(1);
    private long changes;
    private long leapNs = FIRST_LEAP_NS;
    private int processes;
    private int stalls;
    private long longestStallNs;
    private boolean begun;
    private boolean ending;
    private @Nullable SimulatedThread running;
    /** True while the running thread chooses the next one. */
    private boolean choosing;

    private @Nullable Throwable failure;
    /** What came out of other threads after the failure; the running thread. */
    private final List<Throwable> others = new ArrayList<>();
    /** What threads that are not of the simulation were told; any thread. */
    private final Queue<IllegalStateException> misuses = new ConcurrentLinkedQueue<>();

    /**
     * Bounds of a run: beyond them it counts as one that never ends.
     *
     * @param steps most steps
     * @param virtualNs most virtual time
     * @param realNs most time of the machine without a turn, for a thread that blocks outside
     * @param preemptions times of a thousand that a thread gives way at a point where it may
     */
    public record Limits(long steps, long virtualNs, long realNs, int preemptions) {
        /** Ten million steps, a day, two minutes; one time of four. */
        public static final Limits DEFAULT =
                new Limits(10_000_000, TimeUnit.DAYS.toNanos(1), TimeUnit.MINUTES.toNanos(2), 250);
    }

    /** Nobody runs yet. */
    public Scheduler(Choices choices, Limits limits) {
        this.choices = choices;
        this.limits = limits;
    }

    /** The seed's choices. */
    public Choices choices() {
        return choices;
    }

    /** What happened. */
    public Trace trace() {
        return trace;
    }

    @Override
    public long nanoTime() {
        return nowNs;
    }

    /** Something that happens without a thread. Before the run, or by the running thread. */
    public void add(Source source) {
        sources.add(source);
    }

    /** A note in the trace by the thread that runs. */
    public void note(String action, long number) {
        SimulatedThread self = running;
        trace.step(nowNs, self == null ? "" : self.name(), action, number);
    }

    // ---- the run

    /**
     * Runs a process, and all that it starts, until every process has ended; then unwinds what is left. Once, and not
     * from a simulated thread.
     *
     * @throws SimulationException if a process has thrown, if nobody can go on, or if a limit is reached. What other
     *     processes were throwing then, and what threads outside of the simulation were told, is suppressed in it
     */
    public void run(Group group, String name, Runnable main) {
        if (begun) {
            throw new IllegalStateException(
                    "a simulation runs once: make another one, with the same seed if it is to do the same");
        }
        begun = true;
        SimulatedThread first = start(group, name, Group.Kind.PROCESS, main);
        running = first;
        first.resume();
        boolean done;
        try {
            done = endsWhileItMoves(() -> over.await(limits.realNs(), TimeUnit.NANOSECONDS), turns::get);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw failed("interrupted", e);
        }
        if (!done) {
            throw failed(blocked(), null);
        }
        if (failure != null) {
            throw failed(String.valueOf(failure), failure);
        }
    }

    /** Waits for the end of a run. */
    interface Look {
        /** Waits for a while: true if it is over. */
        boolean isOver() throws InterruptedException;
    }

    /** Looks until a run is over, as long as turns come between two looks: so it may take long on a busy machine. */
    static boolean endsWhileItMoves(Look look, LongSupplier turns) throws InterruptedException {
        long before;
        do {
            before = turns.getAsLong();
            if (look.isOver()) {
                return true;
            }
        } while (turns.getAsLong() != before);
        return false;
    }

    private SimulationException failed(String reason, @Nullable Throwable cause) {
        List<String> living = threads.stream()
                .filter(thread -> !thread.isEnded())
                .map(SimulatedThread::describe)
                .toList();
        SimulationException failed = new SimulationException(choices.seed(), reason, living, trace, cause);
        others.stream().filter(other -> other != cause).forEach(failed::addSuppressed);
        misuses.forEach(failed::addSuppressed);
        return failed;
    }

    /** True once every thread has ended: nobody touches anything any more. */
    public boolean isOver() {
        return over.getCount() == 0;
    }

    private String blocked() {
        SimulatedThread stuck = running;
        StringBuilder text = new StringBuilder("nothing has moved for "
                + TimeUnit.NANOSECONDS.toSeconds(limits.realNs())
                + " s of the machine's time: the thread that runs blocks or loops"
                + " outside of the simulation; wait by the clock, the idle strategy and the verbs of its node");
        if (stuck != null) {
            text.append("\n  ").append(stuck.describe());
            for (StackTraceElement element : stuck.thread().getStackTrace()) {
                text.append("\n    at ").append(element);
            }
        }
        return text.toString();
    }

    /**
     * A new thread, which goes on when its turn comes. Before the run, or by the running thread.
     *
     * @param group it dies with
     * @param name for people
     * @param kind what it does
     * @param body what; what comes out of it ends the run
     */
    public SimulatedThread start(Group group, String name, Group.Kind kind, Runnable body) {
        SimulatedThread[] self = new SimulatedThread[1];
        self[0] = new SimulatedThread(threads.size(), name, group, kind, () -> live(self[0], body));
        threads.add(self[0]);
        if (kind == Group.Kind.PROCESS) {
            processes++;
        }
        changes++;
        return self[0];
    }

    private void live(SimulatedThread self, Runnable body) {
        self.awaitTurn();
        try {
            requireAlive(self);
            body.run();
        } catch (Unwinding e) {
            // as it should be
        } catch (Throwable e) {
            thrown(self, e);
        }
        self.ended();
        changes++;
        if (self.kind() == Group.Kind.PROCESS && --processes == 0) {
            ending = true;
        }
        handOver(next());
    }

    private void thrown(SimulatedThread self, Throwable e) {
        if (self.group().isKilled()) {
            return; // it came of the unwinding
        }
        if (!ending) {
            fail(e);
        } else if (failure != null && !comesOfUnwinding(e)) {
            others.add(e); // it was on its way when the run failed, and may be the reason
        }
    }

    private static boolean comesOfUnwinding(Throwable e) {
        for (Throwable cause = e; cause != null; cause = cause.getCause()) {
            if (cause instanceof Unwinding) {
                return true;
            }
        }
        return false;
    }

    private void fail(Throwable cause) {
        if (failure == null) {
            failure = cause;
        }
        ending = true;
    }

    private void handOver(@Nullable SimulatedThread next) {
        running = next;
        if (next == null) {
            over.countDown();
        } else {
            next.resume();
        }
    }

    // ---- what threads do

    @Override
    public boolean until(BooleanSupplier condition, long timeoutNs) {
        SimulatedThread self = self();
        if (condition.getAsBoolean()) {
            step();
            return true;
        }
        if (timeoutNs <= 0) {
            idle();
            return condition.getAsBoolean();
        }
        self.waitFor(condition, timeoutNs > Source.NEVER - nowNs ? Source.NEVER : nowNs + timeoutNs);
        pass(self);
        requireAlive(self);
        return condition.getAsBoolean();
    }

    /** Lets time pass. */
    public void sleep(long durationNs) {
        boolean ignored = until(() -> false, durationNs);
    }

    @Override
    public void idle() {
        SimulatedThread self = self();
        self.poll(changes);
        pass(self);
        requireAlive(self);
    }

    /**
     * A point where another thread may run, if the seed says so. It never throws: who is in the middle of something
     * ends it, even if its node is dead by then.
     */
    public void step() {
        step(stalls);
    }

    /**
     * A step point at which it matters most to stand still, as behind the first piece of a copy: that is more likely
     * there.
     */
    public void edge() {
        step(Math.min(1000, EDGE * stalls));
    }

    private void step(int stallsHere) {
        SimulatedThread current = running;
        if (current == null || !isRunningHere() || ending || current.group().isKilled()) {
            return;
        }
        if (choices.chance(stallsHere)) {
            current.waitFor(() -> false, nowNs + choices.between(1, longestStallNs));
            pass(current);
        } else if (choices.chance(limits.preemptions())) {
            current.ready();
            pass(current);
        }
    }

    /**
     * From now on threads stand still at some of their steps, for so long that others can do much meanwhile: in a copy
     * of a device, in a change of an item.
     *
     * @param perMille how often of a thousand steps; 0 unless set
     * @param longestNs the longest time
     */
    public void stalls(int perMille, long longestNs) {
        if (perMille < 0 || perMille > 1000 || longestNs < 1) {
            throw new IllegalArgumentException(
                    "perMille=" + perMille + ", longestNs=" + longestNs + ": expected 0 to 1000, and at least 1");
        }
        stalls = perMille;
        longestStallNs = longestNs;
    }

    /** True on a thread that only cleans up: its node was killed, or the run is over. */
    public boolean isUnwinding() {
        SimulatedThread current = running;
        return ending || (current != null && isRunningHere() && current.group().isKilled());
    }

    /** How many processes have not ended. */
    public int processes() {
        return processes;
    }

    /** True on the running thread. */
    public boolean isRunningHere() {
        SimulatedThread current = running;
        return current != null && current.thread() == Thread.currentThread();
    }

    private SimulatedThread self() {
        SimulatedThread current = running;
        if (current == null || current.thread() != Thread.currentThread()) {
            throw misused("thread \"" + Thread.currentThread().getName()
                    + "\" is not a thread of this simulation, or not running in it now: start it as a process"
                    + " of a node");
        }
        requireAlive(current);
        return current;
    }

    /** Kept for the failure of the run, because the thread that gets it may be nobody's. */
    private IllegalStateException misused(String message) {
        IllegalStateException misuse = new IllegalStateException(message);
        if (misuses.size() < MOST_MISUSES) {
            misuses.add(misuse);
        }
        return misuse;
    }

    private void pass(SimulatedThread self) {
        if (choosing) {
            throw new IllegalStateException(
                    "a condition that a thread waits for must not wait itself: whoever chooses the next thread asks it");
        }
        SimulatedThread next = next();
        if (next != self) {
            handOver(next);
            self.awaitTurn();
        }
        self.ready();
    }

    private void requireAlive(SimulatedThread self) {
        if (ending) {
            throw new Unwinding("the run is over");
        }
        if (self.group().isKilled()) {
            throw new Unwinding("node " + self.group().name() + " was killed");
        }
    }

    // ---- who is next

    /** Chooses who runs next, and lets sources do what they do before it; null if nobody is left. */
    private @Nullable SimulatedThread next() {
        choosing = true;
        try {
            return chosen();
        } finally {
            choosing = false;
        }
    }

    private @Nullable SimulatedThread chosen() {
        while (!ending) {
            turns.setRelease(turns.getPlain() + 1);
            collect();
            int choicesNow = able.size() + due.size();
            if (choicesNow == 0) {
                leap();
                continue;
            }
            int choice = choices.below(choicesNow);
            nowNs += 1 + choices.below(STEP_NS);
            if (trace.steps() > limits.steps() || nowNs > limits.virtualNs()) {
                fail(new IllegalStateException("no end after " + trace.steps() + " steps and "
                        + TimeUnit.NANOSECONDS.toMillis(nowNs) + " ms of virtual time"));
                break;
            }
            if (choice < able.size()) {
                SimulatedThread next = able.get(choice);
                if (!next.isPolling()) {
                    changed();
                }
                trace.step(nowNs, next.name(), "runs", next.id());
                return next;
            }
            changed();
            due.get(choice - able.size()).step();
        }
        return unwound();
    }

    private void changed() {
        changes++;
        leapNs = FIRST_LEAP_NS;
    }

    private void collect() {
        able.clear();
        due.clear();
        for (SimulatedThread thread : threads) {
            if (canRun(thread)) {
                able.add(thread);
            }
        }
        for (Source source : sources) {
            if (source.nextNs() <= nowNs) {
                due.add(source);
            }
        }
    }

    private boolean canRun(SimulatedThread thread) {
        try {
            return thread.canRun(nowNs, changes);
        } catch (RuntimeException | Error e) {
            fail(e); // what a thread waits for must not throw
            return false;
        }
    }

    /** Nobody can run now: the clock leaps to what comes next. */
    private void leap() {
        long nextNs = Source.NEVER;
        boolean polled = false;
        for (SimulatedThread thread : threads) {
            nextNs = Math.min(nextNs, thread.nextNs(nowNs));
            polled |= thread.isPolling();
        }
        for (Source source : sources) {
            nextNs = Math.min(nextNs, source.nextNs());
        }
        if (nextNs == Source.NEVER && polled) {
            nextNs = nowNs + leapNs;
            leapNs = Math.min(leapNs * 2, LONGEST_LEAP_NS);
        }
        if (nextNs == Source.NEVER) {
            fail(new IllegalStateException("nobody can go on: every thread waits, and nothing is due"));
            return;
        }
        nowNs = Math.max(nowNs, nextNs);
        changes++; // time has passed: that is what those who poll may wait for
        trace.step(nowNs, "", "the clock leaps", 0);
    }

    /** The next one that has to learn that it is over, in the order of their births; null when all have. */
    private @Nullable SimulatedThread unwound() {
        for (SimulatedThread thread : threads) {
            if (!thread.isEnded() && thread != running) {
                return thread;
            }
        }
        SimulatedThread last = running;
        return last != null && !last.isEnded() ? last : null;
    }
}
