package org.softrdma.fabric.fault;

import java.util.ArrayList;
import java.util.List;

/**
 * Something that goes wrong.
 *
 * @param when it happens
 * @param what happens
 * @param perMille how often of a thousand occasions, as the seed chooses; bytes are an occasion once on each connection
 *     and direction, a time once in a run
 * @param times most times in a run
 * @param skipped occasions that go by before the first at which it may happen: n - 1 for the n-th
 */
public record Fault(When when, What what, int perMille, int times, int skipped) {
    /** How often of a thousand occasions a fault happens that always happens. */
    public static final int ALWAYS = 1000;

    /** Checks. */
    public Fault {
        if (perMille < 1 || perMille > ALWAYS) {
            throw new IllegalArgumentException("perMille=" + perMille + ": expected 1 to 1000");
        }
        Range.requireAtLeast(1, "times", times);
        Range.requireAtLeast(0, "skipped", skipped);
        requireFit(when, what);
        if (when instanceof When.AtTime && skipped > 0) {
            throw new IllegalArgumentException(
                    "skipped=" + skipped + ": expected 0, because " + when + " comes once in a run");
        }
    }

    /** A fault of a connection needs one, that of a datagram, of a completion and of a call as well; others happen at any occasion. */
    private static void requireFit(When when, What what) {
        List<String> possible = new ArrayList<>();
        boolean fits = false;
        if (what instanceof What.OnConnection) {
            possible.add("a connection: expected AfterBytes, OnMessage or OnRequest");
            fits = when instanceof When.OnConnection;
        }
        if (what instanceof What.OnDatagram) {
            possible.add("a datagram: expected OnDatagram or OnPacket");
            fits |= when instanceof When.ForDatagram;
        }
        if (what instanceof What.OnCompletion) {
            possible.add("a completion: expected OnCompletion");
            fits |= when instanceof When.OnCompletion;
        }
        if (what instanceof What.Refuse) {
            possible.add("a call: expected OnVerb");
            fits |= when instanceof When.OnVerb;
        }
        if (!fits && !possible.isEmpty()) {
            throw new IllegalArgumentException(
                    what + " happens to " + String.join("; or to ", possible) + ", not " + when);
        }
    }

    /** From the first occasion on. */
    public Fault(When when, What what, int perMille, int times) {
        this(when, what, perMille, times, 0);
    }

    /** At the first occasion. */
    public Fault(When when, What what) {
        this(when, what, ALWAYS, 1);
    }
}
