package org.softrdma.sim.peer;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.softrdma.net.transport.EveryTransport;

/** Peers that are rejected and do not close hold a bounded number of descriptors; who has waited longest is reset first. */
class LingeringLimitTest {
    private static final byte[] REQUEST = Frames.mpa(Frames.REQUEST_KEY, Frames.ENHANCED, 2, Frames.depths(0, 1, 1));
    private static final int LIMIT = 8;
    private static final int REJECTED = 40;

    @ParameterizedTest
    @CsvSource({"epoll, 1", "uring, 1", "nio, 1", "epoll, 2"})
    @ExtendWith(EveryTransport.SkipUnavailable.class)
    void shouldResetTheOldestWhenTooManyWaitForTheirPeer(String transport, int threads) throws IOException {
        Deque<RawPeer> peers = new ArrayDeque<>();
        try (TestDevice server = new TestDevice(
                "transport",
                transport,
                "threads",
                "" + threads,
                "lingering",
                "" + LIMIT,
                "linger-timeout",
                "3600000")) {
            for (int i = 0; i < REJECTED; i++) {
                RawPeer peer = server.own(RawPeer.connect(server.address()));
                peers.add(peer);
                peer.sendBytes(REQUEST);
                server.request().close();
                peer.receiveMpa();
                // The listener; and each engine may be about to reset one.
                assertTrue(
                        server.counter("openSockets") <= 1 + LIMIT + threads,
                        () -> server.counter("openSockets") + " open");
            }
            TestDevice.await(
                    () -> "resets, now " + server.counter("lingeringReset"),
                    () -> server.counter("lingeringReset") == REJECTED - LIMIT);
            // An engine counts a reset before it closes the socket.
            TestDevice.await(
                    () -> "the sockets of those that were reset, now " + server.counter("openSockets") + " open",
                    () -> server.counter("openSockets") == 1 + LIMIT);
            for (int i = 0; i < REJECTED - LIMIT; i++) {
                peers.removeFirst().expectReset();
            }
            for (RawPeer peer : peers) {
                peer.sendBytes(new byte[1]);
            }
        }
    }
}
