package org.softrdma.net.transport;

import io.netty.channel.ChannelException;
import io.netty.channel.unix.Socket;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Distinguishes a host that is gone from a peer that does not read, by what Linux knows of a connection
 * ({@code TCP_INFO}, tcp(7)): how many probes went unanswered, and when something last arrived. On an idle connection
 * keep-alive sends the probes; otherwise retransmissions and probes of a closed window do.
 *
 * <p>Rejected: {@code TCP_USER_TIMEOUT}. It also ends a connection whose peer answers every probe but keeps its window
 * closed (tcp_probe_timer), as a stopped or slow application does. Keep-alive alone is not enough: it sends no probes
 * while bytes are in flight, and then only the kernel's own limit ends the connection, after a quarter of an hour.
 *
 * <pre>
 *   struct tcp_info, native byte order
 *   |  state  |  ca state  |  retransmits  |  probes  |   0
 *   ...
 *   |  ms since data came                             |  52
 *   |  ms since an acknowledgement came               |  56
 * </pre>
 *
 * <p>Thread: one event loop.
 */
final class HostWatch {
    private static final Logger LOG = LoggerFactory.getLogger(HostWatch.class);

    private static final int IPPROTO_TCP = 6;
    private static final int TCP_KEEPIDLE = 4;
    private static final int TCP_KEEPINTVL = 5;
    private static final int TCP_KEEPCNT = 6;
    private static final int TCP_INFO = 11;
    /** Since Linux 6.15: the longest wait between two probes, else two minutes. */
    private static final int TCP_RTO_MAX_MS = 44;

    private static final int LEAST_RTO_MAX_MS = 1000;
    private static final int DEFAULT_RTO_MAX_MS = 120_000;

    private static final int RETRANSMITS_OFFSET = 2;
    private static final int PROBES_OFFSET = 3;
    private static final int LAST_DATA_OFFSET = 52;
    private static final int LAST_ACKNOWLEDGEMENT_OFFSET = LAST_DATA_OFFSET + Integer.BYTES;
    private static final int INFO_BYTES = LAST_ACKNOWLEDGEMENT_OFFSET + Integer.BYTES;

    /**
     * Probes that must have gone unanswered. Waits between them reach two minutes, so a single lost probe says nothing,
     * however long ago the last answer arrived.
     */
    private static final int LEAST_QUESTIONS = 3;

    private static final int OCTET = 0xFF;
    private static final long UNSIGNED_INT = 0xFFFF_FFFFL;

    private final ByteBuffer info = ByteBuffer.allocateDirect(INFO_BYTES).order(ByteOrder.nativeOrder());

    /** Makes the kernel probe a silent host. */
    static void tune(Socket socket, SocketOptions options) throws IOException {
        socket.setKeepAlive(true);
        socket.setIntOpt(IPPROTO_TCP, TCP_KEEPIDLE, options.keepAliveSeconds());
        socket.setIntOpt(IPPROTO_TCP, TCP_KEEPINTVL, options.keepAliveSeconds());
        socket.setIntOpt(IPPROTO_TCP, TCP_KEEPCNT, options.keepAliveQuestions());
        int longestWaitMs = (int) Math.max(LEAST_RTO_MAX_MS, options.hostTimeoutMs() / LEAST_QUESTIONS);
        if (!offer(socket, TCP_RTO_MAX_MS, Math.min(longestWaitMs, DEFAULT_RTO_MAX_MS))) {
            LOG.debug("this kernel does not let a process set how often it probes a closed window");
        }
    }

    /**
     * Sets a TCP option that only some kernels know.
     *
     * @return false if this kernel does not take it; Netty reports that as a ChannelException, which is unchecked
     */
    static boolean offer(Socket socket, int option, int value) {
        try {
            socket.setIntOpt(IPPROTO_TCP, option, value);
            return true;
        } catch (IOException | ChannelException refused) {
            LOG.trace("TCP option {} is not set", option, refused);
            return false;
        }
    }

    /** True if enough probes went unanswered and nothing has arrived for the timeout. */
    boolean isSilent(Socket socket, long timeoutMs) {
        try {
            info.clear();
            socket.getRawOpt(IPPROTO_TCP, TCP_INFO, info);
        } catch (IOException | ChannelException e) {
            LOG.debug("cannot read TCP_INFO of {}", socket, e);
            return false; // The connection is broken, as its events will say.
        }
        int questions = (info.get(RETRANSMITS_OFFSET) & OCTET) + (info.get(PROBES_OFFSET) & OCTET);
        long silentMs = Math.min(
                info.getInt(LAST_DATA_OFFSET) & UNSIGNED_INT, info.getInt(LAST_ACKNOWLEDGEMENT_OFFSET) & UNSIGNED_INT);
        return questions >= LEAST_QUESTIONS && silentMs >= timeoutMs;
    }
}
