package org.softrdma.rdmacore.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.softrdma.rdmacore.abi.VerbsAbi;
import org.softrdma.verbs.AsyncEvent;
import org.softrdma.verbs.AsyncEvent.CompletionQueueEvent;
import org.softrdma.verbs.AsyncEvent.DeviceEvent;
import org.softrdma.verbs.AsyncEvent.QueuePairEvent;
import org.softrdma.verbs.AsyncEvent.SharedReceiveQueueEvent;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.SharedReceiveQueue;

/** Asynchronous events become events of the application's own objects, on the device that has them. */
@Timeout(60)
class EventsTest {
    private static final int PORT = 3;
    private static final int EVENT_LID_CHANGE = 11;

    private static AsyncEvent next(CoreDevice device) {
        return device.awaitEvent(FakePair.TIMEOUT_NS).orElseThrow();
    }

    @Test
    void shouldTellWhatHasHappenedToAQueuePairThatIsInErrorThen() throws Exception {
        try (FakePair pair = FakePair.roce()) {
            CoreDevice sameContext = pair.own(pair.open());
            int[] types = {
                VerbsAbi.EVENT_QP_FATAL,
                VerbsAbi.EVENT_QP_REQ_ERR,
                VerbsAbi.EVENT_QP_ACCESS_ERR,
                VerbsAbi.EVENT_QP_LAST_WQE_REACHED
            };
            for (int i = 0; i < types.length; i++) {
                ConnectedPair connection = pair.connect();
                pair.library.raise(
                        types[i], pair.library.queuePair(connection.accepting().number()));
                assertEquals(
                        new QueuePairEvent(connection.accepting(), QueuePairEvent.Kind.values()[i]), next(pair.device));
                assertEquals(QueuePairState.ERROR, connection.accepting().state());
            }
            assertEquals(Optional.empty(), sameContext.awaitEvent(0));
        }
    }

    @Test
    void shouldTellEveryDeviceOfTheContextWhatHasHappenedToIt() throws Exception {
        try (FakePair pair = FakePair.roce()) {
            CoreDevice sameContext = pair.own(pair.open());
            pair.library.raise(VerbsAbi.EVENT_PORT_ERR, PORT);
            pair.library.raise(VerbsAbi.EVENT_PORT_ACTIVE, PORT);
            pair.library.raise(EVENT_LID_CHANGE, PORT);
            pair.library.raise(VerbsAbi.EVENT_DEVICE_FATAL, 0);
            for (CoreDevice each : new CoreDevice[] {pair.device, sameContext}) {
                assertEquals(new DeviceEvent(DeviceEvent.Kind.PORT_DOWN, "port 3"), next(each));
                assertEquals(new DeviceEvent(DeviceEvent.Kind.PORT_ACTIVE, "port 3"), next(each));
                assertEquals(new DeviceEvent(DeviceEvent.Kind.OTHER, "asynchronous event 11"), next(each));
                assertEquals(new DeviceEvent(DeviceEvent.Kind.FATAL, "IBV_EVENT_DEVICE_FATAL"), next(each));
            }
        }
    }

    @Test
    void shouldTellThatACompletionQueueHasLostCompletionsOnceItsQueuePairsAreInError() throws Exception {
        try (FakePair pair = FakePair.roce()) {
            ConnectedPair connection = pair.connect();
            pair.library.raise(VerbsAbi.EVENT_CQ_ERR, pair.library.queue());
            assertEquals(new CompletionQueueEvent(pair.queue), next(pair.device));
            assertEquals(QueuePairState.ERROR, connection.accepting().state());
        }
    }

    @Test
    void shouldDropTheEventsOfWhatIsClosed() throws Exception {
        try (FakePair pair = FakePair.roce()) {
            ConnectedPair connection = ConnectedPair.of(pair.device, pair.domain, pair.queue);
            SharedReceiveQueue receives = pair.domain.createSharedReceiveQueue(4, 1);
            pair.library.raise(
                    VerbsAbi.EVENT_QP_FATAL,
                    pair.library.queuePair(connection.accepting().number()));
            connection.end();
            receives.arm(1);
            pair.library.raise(VerbsAbi.EVENT_SRQ_ERR, pair.library.sharedQueue());
            connection.close();
            receives.close();
            pair.library.raise(VerbsAbi.EVENT_PORT_ACTIVE, 1);

            assertEquals(new DeviceEvent(DeviceEvent.Kind.PORT_ACTIVE, "port 1"), next(pair.device));
        }
    }

    @Test
    void shouldTellThatASharedReceiveQueueHasFailed() throws Exception {
        try (FakePair pair = FakePair.roce()) {
            SharedReceiveQueue receives = pair.own(pair.domain.createSharedReceiveQueue(4, 1));
            pair.library.raise(VerbsAbi.EVENT_SRQ_ERR, pair.library.sharedQueue());
            assertEquals(new SharedReceiveQueueEvent(receives, SharedReceiveQueueEvent.Kind.ERROR), next(pair.device));
        }
    }

    @Test
    void shouldWaitNoLongerThanItMay() throws Exception {
        try (FakePair pair = FakePair.roce()) {
            assertEquals(Optional.empty(), pair.device.awaitEvent(0));
            assertEquals(Optional.empty(), pair.device.awaitEvent(1_000_000));
            Thread.currentThread().interrupt();
            assertThrows(org.softrdma.verbs.VerbsException.class, () -> pair.device.awaitEvent(FakePair.TIMEOUT_NS));
            assertTrue(Thread.interrupted(), "the flag stays set");
        }
    }
}
