package org.softrdma.sim.fabric.fault;

/**
 * Something that goes wrong.
 *
 * @param when it happens
 * @param what happens
 * @param perMille how often of a thousand occasions, as the seed chooses; bytes are an occasion once on each connection and
 *     direction, a time once in a run
 * @param times most times in a run
 */
public record Fault(When when, What what, int perMille, int times) {
    /** Checks. */
    public Fault {
        if (perMille < 1 || perMille > 1000) {
            throw new IllegalArgumentException("perMille=" + perMille + ": expected 1 to 1000");
        }
        if (times < 1) {
            throw new IllegalArgumentException("times=" + times + ": expected at least 1");
        }
        boolean onDatagram = when instanceof When.OnDatagram;
        if ((what instanceof What.Lose || what instanceof What.Repeat) && !onDatagram) {
            throw new IllegalArgumentException(what + " happens to a datagram: expected OnDatagram, not " + when);
        }
        boolean connection = what instanceof What.Reset || what instanceof What.Corrupt;
        if ((connection && onDatagram)
                || ((connection || what instanceof What.Delay) && when instanceof When.AtTime)) {
            throw new IllegalArgumentException(
                    what + " happens to a connection: expected AfterBytes or OnMessage, not " + when);
        }
    }
}
