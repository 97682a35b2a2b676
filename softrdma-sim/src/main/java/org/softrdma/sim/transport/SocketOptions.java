package org.softrdma.sim.transport;

/**
 * Options of every connection.
 *
 * @param sendBuffer bytes of SO_SNDBUF, 0 leaves it to the kernel
 * @param receiveBuffer bytes of SO_RCVBUF, 0 leaves it to the kernel
 * @param hostTimeoutMs after which a host that answers nothing is gone, 0 for never
 */
public record SocketOptions(int sendBuffer, int receiveBuffer, long hostTimeoutMs) {
    private static final int MS_PER_S = 1000;
    /** Questions within the timeout, the time before the first one included. */
    private static final int PARTS = 4;

    /** Seconds before a silent host is asked whether it is there (TCP_KEEPIDLE), and between the questions (TCP_KEEPINTVL). */
    int keepAliveSeconds() {
        return (int) Math.max(1, hostTimeoutMs / (PARTS * MS_PER_S));
    }

    /** Questions without an answer that end a connection on which nothing is under way (TCP_KEEPCNT). */
    int keepAliveQuestions() {
        return (int) Math.max(1, hostTimeoutMs / MS_PER_S / keepAliveSeconds() - 1);
    }
}
