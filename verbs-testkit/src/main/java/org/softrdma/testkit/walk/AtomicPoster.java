package org.softrdma.testkit.walk;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import org.softrdma.testkit.walk.TargetChooser.Target;
import org.softrdma.testkit.walk.WalkRequest.Fault;
import org.softrdma.testkit.walk.WalkRequest.Operands;
import org.softrdma.testkit.walk.WalkRequest.Part;
import org.softrdma.verbs.CompletionOpcode;
import org.softrdma.verbs.Feature;

/** Chooses atomics: words that both sides allow, or that the peer must refuse. The walk's thread. */
final class AtomicPoster {
    private static final int FAULTY = 3;

    private final WalkState state;
    private final Poster poster;
    private final PartChooser parts;
    private final TargetChooser targets;

    AtomicPoster(WalkState state, Poster poster) {
        this.state = state;
        this.poster = poster;
        parts = new PartChooser(state);
        targets = new TargetChooser(state);
    }

    /** Posts an atomic. With a bad buffer of its own it may have been executed or not, so none of those is posted. */
    boolean post(WalkEnd end) {
        if (!state.uses(end.node(), Feature.ATOMICS) || !poster.mayPost(end)) {
            return false;
        }
        Fault fault = state.breaks(FAULTY) ? Fault.REMOTE : Fault.NONE;
        List<Part> sink = parts.wordSink(end.domain());
        Target word = targets.word(end, fault == Fault.REMOTE);
        if (sink.isEmpty() || word == null) {
            return false;
        }
        CompletionOpcode kind = state.percent(50) ? CompletionOpcode.FETCH_AND_ADD : CompletionOpcode.COMPARE_AND_SWAP;
        return poster.postWanted(new WalkRequest(
                        state.nextId(),
                        end,
                        kind,
                        poster.manner(end, kind, fault, Long.BYTES),
                        sink,
                        word.part(),
                        fault)
                .with(operands(word.part(), fault))
                .about(word.binding()));
    }

    /** What a compare-and-swap expects is often there. */
    private Operands operands(Part word, Fault fault) {
        long expected = state.random().nextLong();
        if (fault == Fault.NONE && state.percent(60)) {
            byte[] now =
                    word.region().buffer().contents(word.from(), Long.BYTES).bytes();
            expected = ByteBuffer.wrap(now).order(ByteOrder.nativeOrder()).getLong();
        }
        return Operands.ofAtomic(expected, state.random().nextLong());
    }
}
