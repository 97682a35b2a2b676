package org.softrdma.rdmacore.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.softrdma.rdmacore.abi.VerbsAbi;
import org.softrdma.rdmacore.fake.FakeVerbsLibrary;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.EndCause;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePairState;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.WorkCompletion;

/**
 * Asynchronous events reach what they are about and keep nothing from being closed; on siw no queue gets the offset
 * that libsiw dreads.
 */
@Timeout(60)
class SharedContextTest {
    private static final int PORT = 1;

    private final FakeVerbsLibrary library = new FakeVerbsLibrary("fake0", false);
    private final CoreDevice device = open();
    private final CoreDevice sameDevice = open();
    private final ProtectionDomain domain = device.allocateProtectionDomain();
    private final CompletionQueue queue = device.createCompletionQueue(16);

    private CoreDevice open() {
        return open(library);
    }

    private static CoreDevice open(FakeVerbsLibrary library) {
        return new CoreDevice("fake", library, DeviceList.open(library), library.context(), Optional.empty());
    }

    @AfterEach
    void closeEverything() {
        queue.close();
        domain.close();
        device.close();
        sameDevice.close();
        assertEquals(0, library.live(), "native objects left");
    }

    private ConnectedPair connect() {
        return ConnectedPair.of(device, domain, queue);
    }

    @Test
    void shouldEndTheConnectionWhenItsQueuePairIsFatallyWrong() throws Exception {
        for (int type : new int[] {VerbsAbi.EVENT_QP_FATAL, VerbsAbi.EVENT_QP_REQ_ERR, VerbsAbi.EVENT_QP_ACCESS_ERR}) {
            try (ConnectedPair broken = connect();
                    ConnectedPair other = connect()) {
                library.raise(type, library.queuePair(broken.connecting().number()));
                String reason = broken.end();
                assertTrue(reason.contains("fake0 reported IBV_EVENT_QP_"), reason);
                assertEquals(QueuePairState.READY_TO_SEND, other.connecting().state());
                EndCause cause = type == VerbsAbi.EVENT_QP_ACCESS_ERR ? EndCause.PEER_ACCESS_ERROR : EndCause.UNKNOWN;
                assertEquals(cause, broken.connecting().endCause());
            }
        }
    }

    @Test
    void shouldEndEveryConnectionAndCountWhenTheDeviceIsFatallyWrong() throws Exception {
        try (ConnectedPair first = connect();
                ConnectedPair second = connect()) {
            library.raise(VerbsAbi.EVENT_DEVICE_FATAL, 0);
            first.end();
            String reason = second.end();
            assertTrue(reason.contains("IBV_EVENT_DEVICE_FATAL") || reason.contains("has ended"), reason);
            assertEquals(1, device.counters().get("deviceErrors"));
            assertEquals(1, sameDevice.counters().get("deviceErrors"));
        }
    }

    @Test
    void shouldCountAndGoOnWhenAPortIsDown() throws Exception {
        try (ConnectedPair connection = connect();
                ConnectedPair marker = connect()) {
            library.raise(VerbsAbi.EVENT_PORT_ERR, PORT);
            library.raise(
                    VerbsAbi.EVENT_QP_FATAL,
                    library.queuePair(marker.connecting().number()));
            marker.end();
            assertEquals(QueuePairState.READY_TO_SEND, connection.connecting().state());
            assertFalse(
                    connection.connecting().disconnected().toCompletableFuture().isDone());
            assertEquals(1, device.counters().get("portErrors"));
        }
    }

    @Test
    void shouldThrowAtThePollWhenCompletionsWereLost() throws Exception {
        try (ConnectedPair connection = connect()) {
            library.raise(VerbsAbi.EVENT_CQ_ERR, library.queue());
            String reason = connection.end();
            assertTrue(reason.contains("full completion queue") || reason.contains("has ended"), reason);
            VerbsException overrun = assertThrows(VerbsException.class, () -> queue.poll(WorkCompletion.array(1)));
            assertEquals(VerbsErrorCode.QUEUE_OVERRUN, overrun.code());
        }
    }

    @Test
    void shouldCloseWhatHasEventsThatNobodyHasRead() {
        for (int i = 0; i < 100; i++) {
            ConnectedPair connection = connect();
            library.raise(
                    VerbsAbi.EVENT_QP_FATAL,
                    library.queuePair(connection.accepting().number()));
            library.raise(
                    VerbsAbi.EVENT_QP_FATAL,
                    library.queuePair(connection.connecting().number()));
            connection.close();
        }
    }

    @Test
    void shouldCoverTheOffsetThatLibsiwTakesForNoneAsLongAsADeviceIsOpen() {
        long queueEntryBytes = 32; // struct siw_cqe
        FakeVerbsLibrary siw = new FakeVerbsLibrary("fake-siw0", true);
        CoreDevice first = open(siw);
        CoreDevice second = open(siw);
        List<Integer> sizes = siw.queueSizes();
        assertEquals(1, sizes.size(), "queues of two devices on one context: " + sizes);
        assertTrue(sizes.getFirst() * queueEntryBytes > 0x90000, "does not reach 0x90000: " + sizes);
        first.close();
        assertEquals(sizes, siw.queueSizes());
        second.close();
        assertEquals(0, siw.live(), "native objects left");
    }
}
