package org.softrdma.fabric.scheduler;

/** Threads that live and die together: those of one node. */
public final class Group {
    private final String name;
    private boolean killed;
    private final long[] pausedUntilNs = new long[Kind.values().length];

    /** What a thread does. */
    public enum Kind {
        /** It runs the application. */
        PROCESS,
        /** It runs a part of the application, and ends with it: a run does not wait for it. */
        HELPER,
        /** It is an event loop of a device, so its RNIC. */
        LOOP
    }

    /** A group with no threads yet. */
    public Group(String name) {
        this.name = name;
    }

    /** For people. */
    public String name() {
        return name;
    }

    /** Its threads never run again, but to learn that they are dead. */
    public void kill() {
        killed = true;
    }

    /** True once it was killed. */
    public boolean isKilled() {
        return killed;
    }

    /** Its threads of a kind do not run before a time. */
    public void pause(Kind kind, long untilNs) {
        pausedUntilNs[kind.ordinal()] = untilNs;
    }

    /** When its threads of a kind may run again. */
    long pausedUntilNs(Kind kind) {
        return killed ? Long.MIN_VALUE : pausedUntilNs[kind.ordinal()];
    }
}
