package org.softrdma.stores.pilaf;

import java.util.Arrays;
import org.softrdma.stores.connection.ClientSession;

/**
 * What the server remembers of a client, connected or not: by message slot, the last change and its answer. So a client
 * that got no answer because its connection ended asks again with the same ticket, and the change is made once. Owned
 * by the server's thread.
 */
final class PilafSession extends ClientSession {
    private static final long NOTHING = -1;

    private final long[] tickets;
    private final byte[] statuses;

    PilafSession(int serial, int window) {
        super(serial);
        tickets = new long[window];
        statuses = new byte[window];
        Arrays.fill(tickets, NOTHING);
    }

    /** What is to be done with a change. */
    enum Judgement {
        /** It is new. */
        MAKE,
        /** It was made: {@link #status} was the answer. */
        ANSWER,
        /** It is older than the last one, or of no slot: no client of ours asks so. */
        REFUSE
    }

    Judgement judge(long ticket) {
        int slot = PilafRequestDescriptor.slot(ticket);
        if (slot >= tickets.length || PilafRequestDescriptor.number(ticket) < last(slot)) {
            return Judgement.REFUSE;
        }
        return tickets[slot] == ticket ? Judgement.ANSWER : Judgement.MAKE;
    }

    private long last(int slot) {
        return tickets[slot] == NOTHING ? 0 : PilafRequestDescriptor.number(tickets[slot]);
    }

    byte status(long ticket) {
        return statuses[PilafRequestDescriptor.slot(ticket)];
    }

    void made(long ticket, byte status) {
        int slot = PilafRequestDescriptor.slot(ticket);
        tickets[slot] = ticket;
        statuses[slot] = status;
    }
}
