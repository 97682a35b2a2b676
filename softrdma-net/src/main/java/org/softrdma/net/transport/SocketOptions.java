package org.softrdma.net.transport;

/**
 * Options of every connection, and of every socket for datagrams.
 *
 * @param sendBuffer bytes of SO_SNDBUF, 0 leaves it to the kernel
 * @param receiveBuffer bytes of SO_RCVBUF, 0 leaves it to the kernel
 * @param hostTimeoutMs after this time without an answer a host counts as gone; 0 for never
 * @param ipv6Only a listening socket on {@code ::} takes no connections over IPv4; java.nio cannot do that
 * @param keepAlive whether an idle connection to a host that is gone ends, with hostTimeoutMs 0 by the times of the kernel
 */
public record SocketOptions(
        int sendBuffer, int receiveBuffer, long hostTimeoutMs, boolean ipv6Only, boolean keepAlive) {
    private static final int MS_PER_S = 1000;
    /** Bytes of its buffer, if nobody says otherwise: a socket for datagrams holds those of all its peers, and has nobody that it could ask to wait. */
    public static final int DATAGRAM_RECEIVE_BUFFER = 8 << 20;

    /** Parts of the timeout: the time before the first probe and those between probes. */
    private static final int PARTS = 4;

    /** Those of a device: as with rdma_cm, {@code ::} takes IPv4, too. Idle connections end only by the timeout. */
    public SocketOptions(int sendBuffer, int receiveBuffer, long hostTimeoutMs) {
        this(sendBuffer, receiveBuffer, hostTimeoutMs, false, hostTimeoutMs > 0);
    }

    /** Bytes of SO_RCVBUF that a socket for datagrams asks for; Linux gives at most net.core.rmem_max. */
    int datagramReceiveBuffer() {
        return receiveBuffer > 0 ? receiveBuffer : DATAGRAM_RECEIVE_BUFFER;
    }

    /** Seconds of silence before the first probe (TCP_KEEPIDLE), and between probes (TCP_KEEPINTVL). */
    int keepAliveSeconds() {
        return (int) Math.max(1, hostTimeoutMs / (PARTS * MS_PER_S));
    }

    /** Unanswered probes that end an idle connection (TCP_KEEPCNT). */
    int keepAliveQuestions() {
        return (int) Math.max(1, hostTimeoutMs / MS_PER_S / keepAliveSeconds() - 1);
    }
}
