package org.softrdma.farm.node;

import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.NanoClock;
import org.softrdma.farm.membership.Member;
import org.softrdma.farm.memory.LockFreeReader;
import org.softrdma.farm.message.NodeMessageDescriptor;
import org.softrdma.farm.space.FarmSpace;
import org.softrdma.stores.StoreCounters;

/**
 * What the tasks of a node share. The node's thread.
 *
 * @param member its part in epochs
 * @param space its part of the address space
 * @param peers the others
 * @param reads places for READs
 * @param own answers its own requests
 * @param reader judges objects
 * @param transactions its part in transactions of all machines
 * @param context of the node
 * @param counters what its tasks count
 * @param spareReservations of its transactions that were aborted
 */
record NodeParts(
        Member member,
        FarmSpace space,
        Peers peers,
        NodeReads reads,
        Peers.RequestHandler own,
        LockFreeReader reader,
        NodeTransactions transactions,
        FarmNodeContext context,
        StoreCounters counters,
        SpareReservations spareReservations) {
    private static final long PAUSE_NS = TimeUnit.MICROSECONDS.toNanos(20);
    private static final int MOST_DOUBLINGS = 8;

    int machine() {
        return member.machine();
    }

    NanoClock clock() {
        return context.nanoClock();
    }

    /** Sends a request to a member, or does it at once if that is this one: no message then. */
    void request(int machine, ByteBuffer message, Peers.AnswerHandler handler) {
        if (machine == machine()) {
            NodeMessageDescriptor.stamp(message, machine, member.epoch(), 0, transactions.truncated());
            own.onRequest(machine, message, answer -> {
                NodeMessageDescriptor.answers(answer, message);
                handler.onAnswer(answer);
            });
        } else {
            context.steps().step(NodeMessageDescriptor.kind(message));
            peers.request(machine, message, answer -> {
                context.steps().step(NodeMessageDescriptor.kind(answer));
                handler.onAnswer(answer);
            });
        }
    }

    /** When to try again after so many failures. */
    long pauseUntilNs(long nowNs, int failures) {
        return nowNs + 1 + context.random().nextLong(PAUSE_NS << Math.min(failures, MOST_DOUBLINGS));
    }
}
