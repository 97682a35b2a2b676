package org.softrdma.stores.herd;

import java.lang.foreign.MemorySegment;
import org.agrona.concurrent.NanoClock;
import org.softrdma.stores.MemorySteps;
import org.softrdma.stores.StoreCounter;
import org.softrdma.stores.StoreCounters;
import org.softrdma.stores.StoreServerContext;
import org.softrdma.stores.herd.part.HerdPart;
import org.softrdma.stores.herd.transport.HerdPeer;
import org.softrdma.stores.herd.wire.HerdReplyDescriptor;
import org.softrdma.stores.herd.wire.HerdRequest;
import org.softrdma.stores.herd.wire.HerdRequestForm;
import org.softrdma.stores.herd.wire.HerdShape;

/**
 * A worker: polls its slots of every client, executes what is there on its part of the keys, and answers. Nobody else
 * touches that part. Owned by the server's thread, on which workers take turns.
 */
final class HerdWorker {
    private final int index;
    private final HerdShape shape;
    private final HerdPart part;
    private final HerdRequestForm form;
    private final HerdRequest request;
    private final MemorySteps steps;
    private final NanoClock clock;
    private final StoreCounters counters;
    private long changes;

    HerdWorker(
            int index,
            HerdShape shape,
            HerdPart part,
            HerdRequestForm form,
            StoreServerContext context,
            StoreCounters counters) {
        this.index = index;
        this.shape = shape;
        this.part = part;
        this.form = form;
        this.counters = counters;
        request = new HerdRequest(form.maxLength());
        steps = context.steps();
        clock = context.nanoClock();
    }

    HerdPart part() {
        return part;
    }

    /** Changes that were executed. */
    long changes() {
        return changes;
    }

    /** Serves what is in the worker's slots of a client; returns how much. */
    int serve(HerdSeat seat) {
        int served = 0;
        int first = shape.firstSlot(index);
        for (int slot = first; slot < first + shape.window(); slot++) {
            if (!seat.peer().isOpen() || !seat.peer().hasRoom()) {
                return served; // the request waits in its slot
            }
            served += serve(seat, slot);
        }
        return served;
    }

    private int serve(HerdSeat seat, int slot) {
        HerdPeer peer = seat.peer();
        switch (form.take(peer.slots(), shape.end(slot), slot, seat.seen(), steps, request)) {
            case NOTHING -> {
                return 0;
            }
            case PART -> {
                if (seat.isPartForTooLong(slot, clock.nanoTime())) {
                    peer.drop();
                }
                return 0;
            }
            case WRONG -> {
                peer.drop();
                return 1;
            }
            case REQUEST -> {
                seat.isWhole(slot);
                steps.step(HerdStep.TAKEN);
            }
        }
        if (shape.worker(request.hash()) != index) {
            peer.drop(); // a key of another worker
            return 1;
        }
        HerdSession.Judgement judgement =
                form.isNumbered() ? seat.session().judge(slot, request.number()) : HerdSession.Judgement.EXECUTE;
        if (judgement != HerdSession.Judgement.EXECUTE) {
            counters.increment(StoreCounter.DUPLICATES);
        }
        if (judgement != HerdSession.Judgement.OLD) {
            answer(seat, slot, judgement == HerdSession.Judgement.AGAIN);
        }
        return 1;
    }

    private void answer(HerdSeat seat, int slot, boolean again) {
        HerdPeer peer = seat.peer();
        int length = HerdReplyDescriptor.VALUE_OFFSET;
        byte status;
        if (!request.operation().isChange()) {
            long found = find();
            status = status(found != HerdPart.NONE);
            seat.session().executed(slot, request.number(), status);
            length += found == HerdPart.NONE ? 0 : copyValue(found, peer.replies(), peer.nextReply() + length);
        } else if (again) {
            status = seat.session().status(slot);
        } else {
            status = change();
            changes++;
            seat.session().executed(slot, request.number(), status);
            steps.step(HerdStep.EXECUTED);
        }
        HerdReplyDescriptor.put(peer.replies(), peer.nextReply(), slot, request.number(), request.attempt(), status);
        peer.send(length);
        steps.step(HerdStep.ANSWERED);
    }

    private static byte status(boolean done) {
        return done ? HerdReplyDescriptor.DONE : HerdReplyDescriptor.MISSING;
    }

    private long find() {
        return part.find(request.memory(), request.key(), request.keyLength(), request.hash());
    }

    private int copyValue(long position, MemorySegment target, long at) {
        int length = part.valueLength(position);
        MemorySegment.copy(part.memory(), part.valueAt(position), target, at, length);
        return length;
    }

    /** Makes a change; returns the status of its answer. */
    private byte change() {
        MemorySegment memory = request.memory();
        if (request.operation() == HerdRequest.Operation.REMOVE) {
            return status(part.remove(memory, request.key(), request.keyLength(), request.hash()));
        }
        boolean stored = part.put(
                memory, request.key(), request.keyLength(), request.hash(), request.value(), request.valueLength());
        return stored ? HerdReplyDescriptor.DONE : HerdReplyDescriptor.FULL;
    }
}
