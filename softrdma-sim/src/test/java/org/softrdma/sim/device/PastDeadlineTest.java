package org.softrdma.sim.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.softrdma.sim.peer.TestDevice;
import org.softrdma.verbs.CompletionChannel;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.Connector;

/** Times that are over, however long ago, in both modes of progress. */
@Timeout(value = 1, unit = TimeUnit.MINUTES)
class PastDeadlineTest {
    @ParameterizedTest
    @ValueSource(strings = {"engine", "manual"})
    void shouldNotWaitOnceItsTimeIsOver(String progress) throws Exception {
        try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                TestDevice device = new TestDevice("progress", progress)) {
            for (long timeoutNs : new long[] {0, -1, Long.MIN_VALUE}) {
                assertEquals(Optional.empty(), device.listener().next(timeoutNs));
                assertEquals(Optional.empty(), device.device().awaitEvent(timeoutNs));
                try (CompletionChannel channel = device.device().createCompletionChannel()) {
                    assertEquals(Optional.empty(), channel.await(timeoutNs));
                }
                InetSocketAddress address = (InetSocketAddress) silent.getLocalSocketAddress();
                Connector connector = device.device().resolve(address, timeoutNs);
                device.own(connector.createQueuePair(
                        device.domain(), QueuePairAttributes.of(device.queue(), QueuePairLimits.of(1, 1))));
                VerbsException late = assertThrows(
                        VerbsException.class, () -> connector.connect(ConnectionParameters.DEFAULT, timeoutNs));
                assertEquals(VerbsErrorCode.TIMED_OUT, late.code());
                connector.close();
                int ignored = device.device().progress(timeoutNs);
            }
        }
    }
}
