package org.softrdma.stores.herd;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.softrdma.stores.herd.wire.HerdShape;

/**
 * The memory of a client that goes, while a worker has a turn: plain fields stand for it. The server frees it once no worker is
 * in a turn with a list that has the client; so a worker never touches freed memory, and all that it did there was done before.
 */
@JCStressTest
@Outcome(id = "0, 0", expect = Expect.ACCEPTABLE, desc = "the client was gone, or the server waits for the worker")
@Outcome(id = "0, 1", expect = Expect.ACCEPTABLE, desc = "freed after a turn without the client")
@Outcome(id = "1, 0", expect = Expect.ACCEPTABLE, desc = "touched, and not freed meanwhile")
@Outcome(id = "1, 2", expect = Expect.ACCEPTABLE, desc = "touched, then freed")
@Outcome(expect = Expect.FORBIDDEN, desc = "touched when it was freed, or what was done there is done later")
@State
public class HerdRosterStress {
    private static final int TOUCHED = 1;
    private static final int TOUCHED_WHEN_FREED = 9;

    private final HerdRoster roster = new HerdRoster(1);
    private final HerdSeat client = new HerdSeat(new NoPeer(), 1, new HerdSession(1, 1), new HerdShape(1, 1, 64), 0);
    private boolean freed;
    private int done;

    /** Puts the client on the list. */
    public HerdRosterStress() {
        roster.add(client);
    }

    /** A worker's turn. */
    @Actor
    public void worker(II_Result result) {
        for (HerdSeat seat : roster.take(0)) {
            result.r1 = freed || seat != client ? TOUCHED_WHEN_FREED : TOUCHED;
            done = TOUCHED;
        }
        roster.leave(0);
    }

    /** The server's turn: the client goes, and its memory with it. */
    @Actor
    public void server(II_Result result) {
        long without = roster.remove(client);
        if (roster.areAllPast(without)) {
            result.r2 = done + 1;
            freed = true;
        }
    }
}
