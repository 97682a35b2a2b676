package org.softrdma.sim.queue;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;
import org.softrdma.verbs.CompletionOpcode;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.WorkCompletion;

/** The completion entry: an engine places data and pushes a completion; who polls it sees the entry and the data. */
@JCStressTest
@Outcome(id = "0, 0, 0", expect = Expect.ACCEPTABLE, desc = "Nothing to poll.")
@Outcome(id = "1, 7, 1", expect = Expect.ACCEPTABLE, desc = "The completion and what it tells of.")
@Outcome(expect = Expect.FORBIDDEN, desc = "A completion without its fields, or before its data.")
@State
public class CompletionEntryStress {
    private static final long WR_ID = 7;

    private final RecordingSource source = new RecordingSource(1);
    private final SoftCompletionQueue completions = new SoftCompletionQueue(1, new ThreadedProgress(), null, () -> {});
    private final WorkCompletion[] polled = WorkCompletion.array(1);
    private int data;

    /** Made by jcstress. */
    public CompletionEntryStress() {}

    /** The engine. */
    @Actor
    public void engine() {
        data = 1;
        completions.push(source, WR_ID, CompletionStatus.SUCCESS, CompletionOpcode.READ, 1, 0, 1, false);
    }

    /** The application. */
    @Actor
    public void poller(III_Result result) {
        result.r1 = completions.poll(polled);
        if (result.r1 > 0) {
            result.r2 = (int) polled[0].wrId();
            result.r3 = data;
        }
    }
}
