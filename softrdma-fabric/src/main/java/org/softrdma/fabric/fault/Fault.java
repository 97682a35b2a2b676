package org.softrdma.fabric.fault;

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
        boolean onDatagram = when instanceof When.ForDatagram;
        if (what instanceof What.OnDatagram && !(what instanceof What.OnConnection) && !onDatagram) {
            throw new IllegalArgumentException(
                    what + " happens to a datagram: expected OnDatagram or OnPacket, not " + when);
        }
        if (what instanceof What.OnConnection && !(what instanceof What.OnDatagram) && onDatagram) {
            throw new IllegalArgumentException(
                    what + " happens to a connection: expected AfterBytes, OnMessage or OnRequest, not " + when);
        }
        if (when instanceof When.AtTime) {
            if (what instanceof What.OnConnection) {
                throw new IllegalArgumentException(
                        what + " happens to a connection: expected AfterBytes, OnMessage or OnRequest, not " + when);
            }
            if (skipped > 0) {
                throw new IllegalArgumentException(
                        "skipped=" + skipped + ": expected 0, because " + when + " comes once in a run");
            }
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
