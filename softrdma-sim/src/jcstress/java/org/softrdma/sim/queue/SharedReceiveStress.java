package org.softrdma.sim.queue;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.softrdma.verbs.Capabilities;
import org.softrdma.verbs.ReceiveWorkRequest;

/** The shared receive queue: one RECV is posted while two engines take. */
@JCStressTest
@Outcome(id = "0, 0", expect = Expect.ACCEPTABLE, desc = "Both came before it was posted.")
@Outcome(id = "7, 0", expect = Expect.ACCEPTABLE, desc = "The first engine has it, with all its fields.")
@Outcome(id = "0, 7", expect = Expect.ACCEPTABLE, desc = "The second engine has it, with all its fields.")
@Outcome(expect = Expect.FORBIDDEN, desc = "Both have it, or one without its fields.")
@State
public class SharedReceiveStress {
    private static final ReceiveWorkRequest REQUEST =
            new ReceiveWorkRequest().receive(1).add(4096, 7, 3);

    private final SoftSharedReceiveQueue shared;
    private final ReceiveQueue one;
    private final ReceiveQueue other;

    /** Made by jcstress. */
    public SharedReceiveStress() {
        ThreadedProgress progress = new ThreadedProgress();
        SoftCompletionQueue completions = new SoftCompletionQueue(4, progress, null, () -> {});
        CompletionSource source = new RecordingSource(1);
        shared = new SoftSharedReceiveQueue(
                new SoftSharedReceiveQueue.Size(2, 1),
                new StressDomain(),
                1,
                Capabilities.builder("stress", "none").maxMessageLength(7).build(),
                progress,
                new AsyncEvents(progress),
                () -> {});
        one = new ReceiveQueue(source, completions, shared);
        other = new ReceiveQueue(source, completions, shared);
    }

    /** The application. */
    @Actor
    public void poster() {
        shared.post(REQUEST);
    }

    /** An engine. */
    @Actor
    public void oneEngine(II_Result result) {
        result.r1 = taken(one);
    }

    /** Another engine. */
    @Actor
    public void otherEngine(II_Result result) {
        result.r2 = taken(other);
    }

    /** Length of the entry, if its address and key are right. */
    private static int taken(ReceiveQueue queue) {
        if (!queue.hasNext()) {
            return 0;
        }
        EntryTable entries = queue.entries();
        boolean whole = entries.address(queue.slot(), 0) == 4096 && entries.lkey(queue.slot(), 0) == 3;
        return whole ? (int) entries.total(queue.slot()) : -1;
    }
}
