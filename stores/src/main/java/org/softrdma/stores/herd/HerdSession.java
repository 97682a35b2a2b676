package org.softrdma.stores.herd;

/**
 * What the server remembers of a client, connected or not: by slot, the last number and what was answered to it. So a
 * request that comes again is executed once. Owned by the server's thread.
 */
final class HerdSession {
    private final int serial;
    private final int[] numbers;
    private final byte[] statuses;
    private boolean connected;
    private long usedNs;

    HerdSession(int serial, int slots) {
        this.serial = serial;
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

    /** Tells it from every other session of this server. */
    int serial() {
        return serial;
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

    void connected(boolean nowConnected, long nowNs) {
        connected = nowConnected;
        usedNs = nowNs;
    }

    boolean isConnected() {
        return connected;
    }

    long usedNs() {
        return usedNs;
    }
}
