package org.softrdma.net.transport;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.netty.channel.epoll.Epoll;
import io.netty.channel.unix.Socket;
import java.io.IOException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class HostWatchTest {
    private static final int TCP_KEEPCNT = 6;
    /** linux/tcp.h numbers its options from 1; no kernel knows this one, as those before 6.15 do not know 44. */
    private static final int UNKNOWN_TCP_OPTION = 9999;

    private Socket socket;

    @BeforeEach
    void open() {
        assumeTrue(Epoll.isAvailable(), "needs epoll");
        socket = Socket.newSocketStream();
    }

    @AfterEach
    void close() throws IOException {
        if (socket != null) {
            socket.close();
        }
    }

    @Test
    void shouldSetAnOptionThatTheKernelKnows() {
        assertTrue(HostWatch.offer(socket, TCP_KEEPCNT, 3));
    }

    @Test
    void shouldGoOnWhereTheKernelDoesNotKnowAnOption() {
        assertFalse(HostWatch.offer(socket, UNKNOWN_TCP_OPTION, 1000));
    }
}
