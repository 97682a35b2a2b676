package org.softrdma.stores.herd;

import org.softrdma.stores.connection.ClientSession;

/**
 * What the server remembers of a client, connected or not: by slot, the last number and what was answered to it. So a
 * request that comes again is executed once. Owned by the server's thread; what it knows of a slot is the worker's that has
 * the slot, also when the client has another connection.
 */
final class HerdSession extends ClientSession {
    private final int[] numbers;
    private final byte[] statuses;

    HerdSession(int serial, int slots) {
        super(serial);
        numbers = new int[slots];
        statuses = new byte[slots];
    }

    /** What is to be done with a request. */
    enum Judgement {
        /** It is new. */
        EXECUTE,
        /** It has the last number: it was executed. */
        AGAIN,
        /** It is older than the last one. Nobody waits for it. */
        OLD
    }

    Judgement judge(int slot, int number) {
        int last = numbers[slot];
        if (last == 0) {
            return Judgement.EXECUTE;
        }
        int ahead = number - last;
        if (ahead == 0) {
            return Judgement.AGAIN;
        }
        return ahead > 0 ? Judgement.EXECUTE : Judgement.OLD;
    }

    /** The answer to the last number. */
    byte status(int slot) {
        return statuses[slot];
    }

    void executed(int slot, int number, byte status) {
        numbers[slot] = number;
        statuses[slot] = status;
    }
}
