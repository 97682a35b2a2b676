package org.softrdma.fabric.scheduler;

import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** A thread that runs only in its turn. Its state belongs to the running thread. */
public final class SimulatedThread {
    /** Looks of a thread that polls before it counts as one that waits for time to pass. */
    private static final int LOOKS = 8;

    enum State {
        /** It goes on when its turn comes. */
        READY,
        /** It waits for a condition, or for the end of a time. */
        WAITING,
        /** It polls for something that others do. */
        POLLING,
        /** It is gone. */
        ENDED
    }

    private final int id;
    private final Group group;
    private final Group.Kind kind;
    private final Thread thread;
    private State state = State.READY;
    private @Nullable BooleanSupplier condition;
    private long deadlineNs;
    private long changesSeen;
    private int looks;

    /** The word between threads: set by the thread that gives way, cleared by this thread. */
    private volatile boolean mayRun;

    /** It was interrupted while it could not run. Set and cleared by this thread. */
    private volatile boolean interrupted;

    SimulatedThread(int id, String name, Group group, Group.Kind kind, Runnable body) {
        this.id = id;
        this.group = group;
        this.kind = kind;
        thread = Thread.ofVirtual().name(group.name() + "/" + name).unstarted(body);
    }

    /** For people: {@code node/what}. */
    public String name() {
        return thread.getName();
    }

    int id() {
        return id;
    }

    Group group() {
        return group;
    }

    Group.Kind kind() {
        return kind;
    }

    /** The thread that it is to the JVM. */
    public Thread thread() {
        return thread;
    }

    /** True once its body has returned or thrown. */
    public boolean isEnded() {
        return state == State.ENDED;
    }

    boolean isPolling() {
        return state == State.POLLING;
    }

    void ready() {
        state = State.READY;
    }

    void waitFor(BooleanSupplier newCondition, long newDeadlineNs) {
        state = State.WAITING;
        condition = newCondition;
        deadlineNs = newDeadlineNs;
    }

    void poll(long changes) {
        state = State.POLLING;
        looks = changes == changesSeen ? looks + 1 : 1;
        changesSeen = changes;
    }

    void ended() {
        state = State.ENDED;
        condition = null;
    }

    /** True if it can go on now. */
    boolean canRun(long nowNs, long changes) {
        if (state == State.ENDED || group.pausedUntilNs(kind) > nowNs) {
            return false;
        }
        return group.isKilled()
                || switch (state) {
                    case READY -> true;
                    case WAITING -> deadlineNs <= nowNs || isInterrupted() || holds();
                    case POLLING -> changes != changesSeen || looks < LOOKS;
                    case ENDED -> false;
                };
    }

    private boolean isInterrupted() {
        return thread.isInterrupted() || interrupted;
    }

    private boolean holds() {
        return condition != null && condition.getAsBoolean();
    }

    /** When it can go on although nothing happens before, or {@link Source#NEVER}. */
    long nextNs(long nowNs) {
        long pausedUntilNs = group.pausedUntilNs(kind);
        return switch (state) {
            case ENDED -> Source.NEVER;
            case WAITING -> pausedUntilNs > nowNs ? pausedUntilNs : deadlineNs;
            case READY, POLLING -> pausedUntilNs > nowNs ? pausedUntilNs : Source.NEVER;
        };
    }

    /** Starts it, or lets it go on. */
    void resume() {
        mayRun = true;
        if (thread.getState() == Thread.State.NEW) {
            thread.start();
        } else {
            LockSupport.unpark(thread);
        }
    }

    /** Returns when it may run. This thread. */
    void awaitTurn() {
        while (!mayRun) {
            LockSupport.park(this);
            if (thread.isInterrupted()) {
                interrupted = true; // before it is cleared, which parking needs: whoever chooses sees one or the other
                boolean ignored = Thread.interrupted();
            }
        }
        mayRun = false;
        if (interrupted) {
            interrupted = false;
            thread.interrupt();
        }
    }

    /** For people: what it is doing. */
    String describe() {
        return "%s #%d is %s%s"
                .formatted(
                        name(),
                        id,
                        state,
                        state == State.WAITING && deadlineNs != Source.NEVER ? " until " + deadlineNs + " ns" : "");
    }

    @Override
    public String toString() {
        return name();
    }
}
