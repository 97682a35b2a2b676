package org.softrdma.sim.queue;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;
import org.softrdma.sim.memory.MemoryOperations;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.SendWorkRequest;

/** What the doorbell is rung for: a request is posted while the engine, awake already, looks at the send queue. */
@JCStressTest
@Outcome(id = "0, 0, 0", expect = Expect.ACCEPTABLE, desc = "Nothing posted yet; the doorbell brings the engine back.")
@Outcome(id = "1, 7000, 9", expect = Expect.ACCEPTABLE, desc = "The request with all its fields.")
@Outcome(expect = Expect.FORBIDDEN, desc = "A request without some of its fields.")
@State
public class PostedRequestStress {
    private static final SendWorkRequest REQUEST =
            new SendWorkRequest().write(1, 7000, 9, SendFlags.NONE).add(64, 8, 3);

    private final SendQueue queue;

    /** Made by jcstress. */
    public PostedRequestStress() {
        SoftCompletionQueue completions = new SoftCompletionQueue(1, new ThreadedProgress(), null, () -> {});
        queue = new SendQueue(
                new RecordingSource(1),
                completions,
                new QueuePairLimits(1, 1, 1, 1, 0),
                false,
                false,
                new MemoryOperations());
    }

    /** The application. */
    @Actor
    public void poster() {
        queue.post(REQUEST);
    }

    /** The engine. */
    @Actor
    public void engine(III_Result result) {
        if (queue.hasUnsent()) {
            int slot = queue.slot(queue.cursor());
            result.r1 = 1;
            result.r2 = (int) queue.remoteAddress(slot);
            result.r3 = queue.rkey(slot);
        }
    }
}
