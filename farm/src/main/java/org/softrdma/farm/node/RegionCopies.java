package org.softrdma.farm.node;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import org.softrdma.farm.space.FarmRegion;

/**
 * Makes this machine's copies of regions whole, one region after the other, while transactions go on.
 *
 * <ol>
 *   <li>It begins in each epoch when all transactions of older epochs are over: what they have written, the primary has.
 *   <li>What transactions of this epoch write, the copy is told as a replica. So an object that the primary hands over is
 *       put down only if it is newer than what is here.
 *   <li>At the end it says that the copy is whole. That holds in this epoch only: in the next one the copy begins again,
 *       as it may lack the record of something that is in doubt.
 * </ol>
 *
 * <p>The node's thread.
 */
final class RegionCopies {
    private final NodeParts node;
    private final Deque<Integer> missing = new ArrayDeque<>();
    private long from;
    private boolean asked;
    private int failures;
    private long notBeforeNs = Long.MIN_VALUE;

    /** Nothing to copy. */
    RegionCopies(NodeParts node) {
        this.node = node;
    }

    /** An epoch was learnt, and the space has its configuration. */
    void onEpoch() {
        missing.clear();
        from = 0;
        asked = false;
        node.space().configuration().regions().forEach((region, placement) -> {
            if (placement.copies().contains(node.machine())) {
                missing.add(region);
            }
        });
    }

    /** Asks for the next objects; returns the amount of work. */
    int doWork(long nowNs) {
        Integer region = missing.peek();
        if (region == null
                || asked
                || nowNs < notBeforeNs
                || !node.member().isRunning()
                || !node.transactions().recovery().isOver()) {
            return 0;
        }
        asked = true;
        node.request(
                node.space().configuration().primary(region),
                CopiedObjects.request(region, from),
                answer -> onAnswer(region, answer));
        return 1;
    }

    private void onAnswer(int number, ByteBuffer answer) {
        asked = false;
        FarmRegion region = node.space().region(number);
        if (region == null || !CopiedObjects.isValid(answer, from) || !CopiedObjects.put(answer, region)) {
            notBeforeNs = node.pauseUntilNs(node.clock().nanoTime(), ++failures);
            return;
        }
        failures = 0;
        from = CopiedObjects.next(answer);
        if (CopiedObjects.isAll(answer)) {
            int ignored = missing.remove();
            node.member().whole(number);
        }
    }
}
