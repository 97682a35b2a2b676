package org.softrdma.sim.device;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.ConnectionRejectedException;
import org.softrdma.verbs.cm.Connector;
import org.softrdma.verbs.cm.Listener;
import org.softrdma.verbs.device.VerbsDevice;
import org.softrdma.verbs.device.VerbsProviders;

/** A call that an engine lets fail throws an exception with the frames of the caller: they say which call it was. */
class CallersFramesTest {
    private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(20);
    private static final InetSocketAddress ANY = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

    private VerbsDevice device;
    private ProtectionDomain domain;
    private CompletionQueue completions;

    @BeforeEach
    void open() {
        device = VerbsProviders.named("sim").open(Map.of());
        domain = device.allocateProtectionDomain();
        completions = device.createCompletionQueue(16);
    }

    @AfterEach
    void close() {
        completions.close();
        domain.close();
        device.close();
    }

    private VerbsException failureToConnect(InetSocketAddress remote, long timeoutNs) {
        try (Connector connector = device.resolve(remote, timeoutNs);
                QueuePair pair = connector.createQueuePair(
                        domain, QueuePairAttributes.of(completions, QueuePairLimits.of(1, 1)))) {
            assertSame(QueuePairState.INITIAL, pair.state());
            return assertThrows(VerbsException.class, () -> connector.connect(ConnectionParameters.DEFAULT, timeoutNs));
        }
    }

    /** It is this thread's, and the engine's is behind it. */
    private static void assertIsForCaller(VerbsErrorCode code, VerbsException thrown) {
        assertSame(code, thrown.code(), thrown::toString);
        assertTrue(hasFrameHere(thrown), () -> Arrays.toString(thrown.getStackTrace()));
        VerbsException found = assertInstanceOf(VerbsException.class, thrown.getCause());
        assertSame(code, found.code());
        assertEquals(thrown.getMessage(), found.getMessage());
    }

    private static boolean hasFrameHere(Throwable thrown) {
        return Arrays.stream(thrown.getStackTrace())
                .anyMatch(frame -> frame.getClassName().equals(CallersFramesTest.class.getName()));
    }

    @Test
    void shouldShowWhichConnectFoundNobody() throws Exception {
        InetSocketAddress nobody;
        try (ServerSocket socket = new ServerSocket(0, 1, ANY.getAddress())) {
            nobody = (InetSocketAddress) socket.getLocalSocketAddress();
        }

        assertIsForCaller(VerbsErrorCode.UNREACHABLE, failureToConnect(nobody, TIMEOUT_NS));
    }

    @Test
    void shouldShowWhichConnectTookTooLongAndTheLimitAsItWasPassed() throws Exception {
        try (ServerSocket mute = new ServerSocket(0, 1, ANY.getAddress())) {
            VerbsException late = failureToConnect((InetSocketAddress) mute.getLocalSocketAddress(), 5000);

            assertIsForCaller(VerbsErrorCode.TIMED_OUT, late);
            assertTrue(String.valueOf(late.getMessage()).endsWith(" did not come within 5000 ns"), late::toString);
        }
    }

    @Test
    void shouldShowWhichConnectWasRejectedAndKeepThePrivateData() {
        byte[] reason = {1, 2, 3};
        try (Listener listener = device.listen(ANY, 1)) {
            CompletableFuture<Void> rejecting = CompletableFuture.runAsync(
                    () -> listener.next(TIMEOUT_NS).orElseThrow().reject(reason));
            VerbsException rejected = failureToConnect(listener.localAddress(), TIMEOUT_NS);

            assertIsForCaller(VerbsErrorCode.REJECTED, rejected);
            assertArrayEquals(
                    reason,
                    assertInstanceOf(ConnectionRejectedException.class, rejected)
                            .privateData());
            rejecting.join();
        }
    }

    @Test
    void shouldShowWhichListenFoundThePortInUse() {
        try (Listener listener = device.listen(ANY, 1)) {
            VerbsException inUse = assertThrows(VerbsException.class, () -> device.listen(listener.localAddress(), 1));

            assertSame(VerbsErrorCode.ADDRESS_IN_USE, inUse.code());
            assertTrue(hasFrameHere(inUse), () -> Arrays.toString(inUse.getStackTrace()));
        }
    }
}
