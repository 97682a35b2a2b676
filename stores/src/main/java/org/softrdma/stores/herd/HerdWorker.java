package org.softrdma.stores.herd;

import java.lang.foreign.MemorySegment;
import org.agrona.concurrent.Agent;
import org.agrona.concurrent.NanoClock;
import org.softrdma.stores.MemorySteps;
import org.softrdma.stores.StoreCounter;
import org.softrdma.stores.StoreCounters;
import org.softrdma.stores.StoreServerContext;
import org.softrdma.stores.client.OperationKind;
import org.softrdma.stores.herd.part.HerdPart;
import org.softrdma.stores.herd.transport.HerdPort;
import org.softrdma.stores.herd.transport.HerdReplies;
import org.softrdma.stores.herd.wire.HerdReplyDescriptor;
import org.softrdma.stores.herd.wire.HerdRequest;
import org.softrdma.stores.herd.wire.HerdRequestForm;
import org.softrdma.stores.herd.wire.HerdShape;

/**
 * A worker: polls the next slot of every client in turn, takes what is there, executes it on its part of the keys, and
 * answers; the answers of a turn leave with one doorbell. Nobody else touches that part. Owned by a thread of its own, or by
 * the server's, on which workers take turns.
 *
 * <p>It takes up to {@value TakenRequests#MOST} requests before it executes them, in the same order, so that the processor
 * waits for the memory of all their keys at a time, and not of one after the other.
 */
final class HerdWorker implements Agent {
    /** A turn ends after about so many requests, so that what else its thread has to do is done in time. */
    private static final int MOST_IN_A_TURN = 64;

    /** Where fewer requests wait, there is little to fetch at a time. */
    private static final int LEAST_TOUCHED = 2;

    private final int index;
    private final String roleName;
    private final HerdShape shape;
    private final HerdPart part;
    private final HerdRequestForm form;
    private final HerdRoster roster;
    private final HerdPort port;
    private final TakenRequests taken;
    private final MemorySteps steps;
    private final NanoClock clock;
    private final StoreCounters counters;
    private long nowNs;
    private long changes;
    private long touched;

    /**
     * A worker of a server.
     *
     * @param index its number
     * @param roleName its name
     * @param shape of a client's slots
     * @param part its keys
     * @param form of requests, of this worker alone
     * @param roster of the clients
     * @param port that carries answers
     * @param context of the server
     * @param counters of this worker
     */
    HerdWorker(
            int index,
            String roleName,
            HerdShape shape,
            HerdPart part,
            HerdRequestForm form,
            HerdRoster roster,
            HerdPort port,
            StoreServerContext context,
            StoreCounters counters) {
        this.index = index;
        this.roleName = roleName;
        this.shape = shape;
        this.part = part;
        this.form = form;
        this.roster = roster;
        this.port = port;
        this.counters = counters;
        taken = new TakenRequests(form.maxLength());
        steps = context.steps();
        clock = context.nanoClock();
    }

    @Override
    public String roleName() {
        return roleName;
    }

    HerdPart part() {
        return part;
    }

    /** Changes that were executed. */
    long changes() {
        return changes;
    }

    /** What was read ahead, mixed: nobody wants it, but the compiler would read nothing otherwise. */
    long touched() {
        return touched;
    }

    @Override
    public int doWork() {
        int work = serve(roster.take(index));
        roster.leave(index);
        return work;
    }

    private int serve(HerdSeat[] seats) {
        nowNs = clock.nanoTime();
        port.turn(index, nowNs);
        int work = 0;
        int round;
        do {
            round = 0;
            for (HerdSeat seat : seats) {
                round += take(seat);
            }
            work += round;
        } while (round > 0 && work < MOST_IN_A_TURN);
        for (int i = 0; work == 0 && i < seats.length; i++) {
            work = takeAll(seats[i]); // there is time to look everywhere
        }
        execute();
        if (work > 0) {
            for (HerdSeat seat : seats) {
                seat.lane(index).replies().flush();
            }
        }
        return work;
    }

    // ---- out of slots

    /** Takes what is in the next slot of a client; or, if there is nothing for some time, in any. */
    private int take(HerdSeat seat) {
        HerdLane lane = seat.lane(index);
        int found = take(seat, lane, lane.next());
        return found == 0 && lane.mayLook(nowNs) ? takeAll(seat) : found;
    }

    private int takeAll(HerdSeat seat) {
        HerdLane lane = seat.lane(index);
        int found = 0;
        int slot = lane.next();
        for (int i = 0; i < shape.window(); i++) {
            found += take(seat, lane, slot);
            slot = shape.next(slot);
        }
        return found;
    }

    private int take(HerdSeat seat, HerdLane lane, int slot) {
        if (seat.isCondemned() || !hasRoom(lane.replies())) {
            return 0; // the request waits in its slot
        }
        HerdRequest request = taken.next();
        switch (form.take(seat.peer().slots(), shape.end(slot), slot, seat.seen(), steps, request)) {
            case NOTHING -> {
                return 0;
            }
            case PART -> {
                if (seat.isPartForTooLong(slot, nowNs)) {
                    seat.condemn();
                }
                return 0;
            }
            case WRONG -> {
                seat.condemn();
                return 1;
            }
            case REQUEST -> {
                seat.isWhole(slot);
                steps.step(HerdStep.TAKEN);
            }
        }
        if (shape.worker(request.hash()) != index) {
            seat.condemn(); // a key of another worker
            return 1;
        }
        if (judge(seat, request) == HerdSession.Judgement.EXECUTE) {
            lane.taken(slot);
        }
        taken.add(seat);
        if (taken.isFull()) {
            execute();
        }
        return 1;
    }

    /** True if another answer has room behind those to what was taken; that is executed if there is none. */
    private boolean hasRoom(HerdReplies replies) {
        if (!replies.hasRoom(taken.size() + 1) && taken.size() > 0) {
            execute();
        }
        return replies.hasRoom(taken.size() + 1);
    }

    private HerdSession.Judgement judge(HerdSeat seat, HerdRequest request) {
        return form.isNumbered()
                ? seat.session().judge(request.slot(), request.number())
                : HerdSession.Judgement.EXECUTE;
    }

    // ---- on the part

    /** What was taken, in its order. */
    private void execute() {
        if (taken.size() >= LEAST_TOUCHED && part.isLarge()) {
            touch();
        }
        for (int i = 0; i < taken.size(); i++) {
            execute(taken.seat(i), taken.request(i));
        }
        taken.clear();
    }

    /** The processor fetches the index of all keys at a time, then all pairs. */
    private void touch() {
        long sum = 0;
        for (int i = 0; i < taken.size(); i++) {
            sum += part.touchIndex(taken.request(i).hash());
        }
        for (int i = 0; i < taken.size(); i++) {
            sum += part.touchPairs(taken.request(i).hash());
        }
        touched = sum;
    }

    private void execute(HerdSeat seat, HerdRequest request) {
        HerdSession.Judgement judgement = judge(seat, request);
        if (judgement != HerdSession.Judgement.EXECUTE) {
            counters.increment(StoreCounter.DUPLICATES);
        }
        if (judgement != HerdSession.Judgement.OLD) {
            HerdReplies replies = seat.lane(index).replies();
            answer(seat.session(), replies, request, judgement == HerdSession.Judgement.AGAIN);
        }
    }

    private void answer(HerdSession session, HerdReplies replies, HerdRequest request, boolean again) {
        int slot = request.slot();
        int length = HerdReplyDescriptor.VALUE_OFFSET;
        byte status;
        if (!request.operation().isChange()) {
            long found = part.find(request.memory(), request.key(), request.keyLength(), request.hash());
            status = status(found != HerdPart.NONE);
            session.executed(slot, request.number(), status);
            length += found == HerdPart.NONE ? 0 : copyValue(found, replies.memory(), replies.nextAt() + length);
        } else if (again) {
            status = session.status(slot);
        } else {
            status = change(request);
            changes++;
            session.executed(slot, request.number(), status);
            steps.step(HerdStep.EXECUTED);
        }
        HerdReplyDescriptor.put(replies.memory(), replies.nextAt(), slot, request.number(), request.attempt(), status);
        replies.add(length);
        steps.step(HerdStep.ANSWERED);
    }

    private static byte status(boolean done) {
        return done ? HerdReplyDescriptor.DONE : HerdReplyDescriptor.MISSING;
    }

    private int copyValue(long position, MemorySegment target, long at) {
        int length = part.valueLength(position);
        MemorySegment.copy(part.memory(), part.valueAt(position), target, at, length);
        return length;
    }

    /** Makes a change; returns the status of its answer. */
    private byte change(HerdRequest request) {
        MemorySegment memory = request.memory();
        if (request.operation() == OperationKind.REMOVE) {
            return status(part.remove(memory, request.key(), request.keyLength(), request.hash()));
        }
        boolean stored = part.put(
                memory, request.key(), request.keyLength(), request.hash(), request.value(), request.valueLength());
        return stored ? HerdReplyDescriptor.DONE : HerdReplyDescriptor.FULL;
    }
}
