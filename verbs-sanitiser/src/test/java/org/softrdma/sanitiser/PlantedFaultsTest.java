package org.softrdma.sanitiser;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.softrdma.sanitiser.finding.Finding;
import org.softrdma.sanitiser.finding.FindingException;
import org.softrdma.sanitiser.finding.Findings;
import org.softrdma.sanitiser.finding.Rule;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.SendWorkRequest;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.WorkCompletion;
import org.softrdma.verbs.device.VerbsDevice;
import org.softrdma.verbs.device.VerbsProviders;

/** A program breaks each rule once, and the sanitiser names the rule, the request and both queue pairs. */
class PlantedFaultsTest {
    private static final long BYTES = 64;

    @Test
    void shouldFindAPostThatNamesAClosedRegion() {
        try (SanitisedPair pair = SanitisedPair.connect()) {
            MemoryRegion target = pair.region(BYTES, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
            MemoryRegion source = pair.region(BYTES);
            source.close();

            pair.requester.postWrite(7, source, 0, BYTES, target.address(), target.rkey(), SendFlags.SIGNALLED);

            Finding found = pair.finding(Rule.USE_AFTER_DEREGISTRATION, pair.requester, pair.responder);
            assertNotNull(found.request());
            assertEquals(7, found.request().wrId());
            assertEquals(
                    CompletionStatus.LOCAL_PROTECTION_ERROR,
                    pair.completion(pair.requesterQueue).status());
        }
    }

    @Test
    void shouldFindAPostThatNamesAClosedRegionByItsKey() {
        try (SanitisedPair pair = SanitisedPair.connect()) {
            MemoryRegion sink = pair.region(BYTES, AccessFlag.READ_SINK);
            MemoryRegion source = pair.region(BYTES, AccessFlag.REMOTE_READ);
            SendWorkRequest read = new SendWorkRequest()
                    .read(7, source.address(), source.rkey(), SendFlags.SIGNALLED)
                    .add(sink, 0, BYTES);
            sink.close();

            pair.requester.post(read);

            pair.finding(Rule.USE_AFTER_DEREGISTRATION, pair.requester, pair.responder);
        }
    }

    @Test
    void shouldRefuseAPostWhoseArenaIsClosed() {
        try (SanitisedPair pair = SanitisedPair.connect()) {
            MemoryRegion target = pair.region(BYTES, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
            MemoryRegion source;
            try (Arena arena = Arena.ofShared()) {
                source = pair.own(pair.domain.register(arena.allocate(BYTES), Set.of()));
            }

            assertThrows(
                    FindingException.class,
                    () -> pair.requester.postWrite(7, source, 0, BYTES, target.address(), target.rkey(), 0));

            pair.finding(Rule.ARENA_CLOSED, pair.requester, pair.responder);
        }
    }

    @Test
    void shouldFindAnArenaThatIsClosedBeforeItsRegion() {
        try (SanitisedPair pair = SanitisedPair.connect()) {
            MemoryRegion region;
            try (Arena arena = Arena.ofShared()) {
                region = pair.domain.register(arena.allocate(BYTES), Set.of());
            }

            region.close();

            Finding found = pair.finding();
            assertEquals(Rule.ARENA_CLOSED, found.rule());
            assertTrue(found.text().contains("PlantedFaultsTest"), found::text);
        }
    }

    @Test
    void shouldFindARegionThatIsClosedUnderARequest() {
        try (SanitisedPair pair = SanitisedPair.connect()) {
            MemoryRegion inbox = pair.region(BYTES, AccessFlag.RECEIVE_SINK);
            pair.responder.postReceive(7, inbox, 0, BYTES);

            inbox.close();

            Finding found = pair.finding(Rule.DEREGISTERED_WHILE_OUTSTANDING, pair.responder, pair.requester);
            assertTrue(found.text().contains("RECV with wrId 7"), found::text);
        }
    }

    @Test
    void shouldFindASourceThatChangesBeforeItsCompletion() {
        try (SanitisedPair pair = SanitisedPair.connect()) {
            MemoryRegion source = pair.region(BYTES);
            MemoryRegion target = pair.region(BYTES, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
            pair.requester.postWrite(7, source, 0, BYTES, target.address(), target.rkey(), SendFlags.SIGNALLED);

            source.memory().set(ValueLayout.JAVA_BYTE, 40, (byte) 1);
            pair.completion(pair.requesterQueue);

            Finding found = pair.finding(Rule.SOURCE_TOUCHED, pair.requester, pair.responder);
            assertNotNull(found.buffer());
            assertEquals(40, found.buffer().offset());
        }
    }

    @Test
    void shouldFindTheSourceOfAnUnsignalledRequestThatChangesBeforeTheNextSignalledOneCompletes() {
        try (SanitisedPair pair = SanitisedPair.connect()) {
            MemoryRegion source = pair.region(2 * BYTES);
            MemoryRegion target = pair.region(BYTES, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
            pair.requester.postWrite(7, source, 0, BYTES, target.address(), target.rkey(), SendFlags.NONE);
            pair.requester.postWrite(8, source, BYTES, BYTES, target.address(), target.rkey(), SendFlags.SIGNALLED);

            source.memory().set(ValueLayout.JAVA_BYTE, 0, (byte) 1);
            pair.completion(pair.requesterQueue);

            Finding found = pair.finding(Rule.SOURCE_TOUCHED, pair.requester, pair.responder);
            assertTrue(found.text().contains("WRITE with wrId 7"), found::text);
        }
    }

    @Test
    void shouldFindAWriteToAReceiveBufferBehindTheMessage() {
        try (SanitisedPair pair = SanitisedPair.connect()) {
            MemoryRegion inbox = pair.region(BYTES, AccessFlag.RECEIVE_SINK);
            MemoryRegion message = pair.region(16);
            pair.responder.postReceive(7, inbox, 0, BYTES);
            pair.requester.postSend(8, message, 0, 16, SendFlags.SIGNALLED);

            inbox.memory().set(ValueLayout.JAVA_BYTE, 40, (byte) 1);
            pair.completion(pair.responderQueue);

            Finding found = pair.finding(Rule.SINK_TOUCHED, pair.responder, pair.requester);
            assertNotNull(found.buffer());
            assertEquals(40, found.buffer().offset());
        }
    }

    @Test
    void shouldFindTwoReadsIntoOneBuffer() {
        try (SanitisedPair pair = SanitisedPair.connect()) {
            MemoryRegion source = pair.region(2 * BYTES, AccessFlag.REMOTE_READ);
            MemoryRegion sink = pair.region(BYTES, AccessFlag.READ_SINK);
            pair.requester.postRead(7, sink, 0, BYTES, source.address(), source.rkey(), SendFlags.SIGNALLED);

            pair.requester.postRead(8, sink, 32, 32, source.address() + BYTES, source.rkey(), SendFlags.SIGNALLED);

            Finding found = pair.finding(Rule.SINKS_OVERLAP, pair.requester, pair.responder);
            assertTrue(found.what().contains("READ with wrId 7"), found::text);
        }
    }

    @Test
    void shouldFindASendQueueThatNoCompletionCanFree() {
        try (SanitisedPair pair = SanitisedPair.connect()) {
            MemoryRegion source = pair.region(BYTES);
            MemoryRegion target = pair.region(BYTES, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);

            PostStatus status = PostStatus.ACCEPTED;
            for (int wrId = 0; status == PostStatus.ACCEPTED; wrId++) {
                status = pair.requester.postWrite(
                        wrId, source, 0, BYTES, target.address(), target.rkey(), SendFlags.NONE);
            }

            Finding found = pair.finding(Rule.SEND_QUEUE_STARVED, pair.requester, pair.responder);
            int depth = pair.requester.limits().maxSendWorkRequests();
            assertTrue(found.text().contains("WRITE with wrId " + (depth - 1) + ","), found::text);
        }
    }

    @Test
    void shouldFindASendForWhichThePeerHasPostedNoReceive() {
        try (SanitisedPair pair = SanitisedPair.connect()) {
            MemoryRegion message = pair.region(BYTES);
            MemoryRegion inbox = pair.region(BYTES, AccessFlag.RECEIVE_SINK);
            pair.responder.postReceive(1, inbox, 0, BYTES);
            pair.requester.postSend(7, message, 0, BYTES, SendFlags.SIGNALLED);
            assertEquals(0, pair.findings.count(), pair.findings::toString);

            pair.requester.postSend(8, message, 0, BYTES, SendFlags.SIGNALLED);

            Finding found = pair.finding(Rule.SEND_WITHOUT_RECEIVE, pair.requester, pair.responder);
            assertTrue(found.text().contains("SEND with wrId 8"), found::text);
        }
    }

    /** A RECV that finds its queue full takes no SEND. */
    @Test
    void shouldNotCountAReceiveThatWasNotAccepted() {
        try (SanitisedPair pair = SanitisedPair.connect(QueuePairLimits.of(16, 2), 64)) {
            int depth = pair.responder.limits().maxReceiveWorkRequests();
            MemoryRegion message = pair.region(BYTES);
            MemoryRegion inbox = pair.region((depth + 1L) * BYTES, AccessFlag.RECEIVE_SINK);
            for (int i = 0; i <= depth; i++) {
                PostStatus expected = i < depth ? PostStatus.ACCEPTED : PostStatus.QUEUE_FULL;
                assertEquals(expected, pair.responder.postReceive(i, inbox, (long) i * BYTES, BYTES));
            }
            for (int i = 0; i < depth; i++) {
                pair.requester.postSend(i, message, 0, BYTES, SendFlags.SIGNALLED);
            }
            assertEquals(0, pair.findings.count(), pair.findings::toString);

            pair.requester.postSend(99, message, 0, BYTES, SendFlags.SIGNALLED);

            Finding found = pair.finding(Rule.SEND_WITHOUT_RECEIVE, pair.requester, pair.responder);
            assertTrue(found.text().contains("SEND with wrId 99"), found::text);
        }
    }

    @Test
    void shouldFindAReadOfTheOpcodeOfAFailedCompletion() {
        try (SanitisedPair pair = SanitisedPair.connect()) {
            MemoryRegion inbox = pair.region(BYTES, AccessFlag.RECEIVE_SINK);
            pair.responder.postReceive(7, inbox, 0, BYTES);
            pair.requester.disconnect();
            WorkCompletion flushed = pair.completion(pair.responderQueue);
            assertEquals(CompletionStatus.FLUSHED, flushed.status());

            assertThrows(IllegalStateException.class, flushed::opcode);

            Finding found = pair.finding(Rule.INVALID_FIELD_READ, pair.responder, pair.requester);
            assertTrue(found.what().contains("opcode"), found::text);
        }
    }

    @Test
    void shouldFindACompletionQueueWithTooFewEntries() {
        try (SanitisedPair pair = SanitisedPair.connect(QueuePairLimits.of(4, 16), 2)) {
            MemoryRegion inbox = pair.region(16 * BYTES, AccessFlag.RECEIVE_SINK);
            int entries = pair.responderQueue.entries();
            for (int i = 0; i < entries; i++) {
                pair.responder.postReceive(i, inbox, i * BYTES, BYTES);
            }
            assertEquals(0, pair.findings.count(), pair.findings::toString);

            pair.responder.postReceive(entries, inbox, entries * BYTES, BYTES);

            pair.finding(Rule.COMPLETION_QUEUE_OVERCOMMITTED, pair.responder, pair.requester);
        }
    }

    @Test
    void shouldFindAWaitForAQueueThatWasNotPolledSinceItWasArmed() {
        try (SanitisedPair pair = SanitisedPair.connect()) {
            MemoryRegion inbox = pair.region(BYTES, AccessFlag.RECEIVE_SINK);
            pair.responder.postReceive(7, inbox, 0, BYTES);

            pair.responderQueue.requestNotification(false);
            assertTrue(pair.responderChannel.await(1).isEmpty());

            assertEquals(Rule.MISSED_WAKE_UP, pair.finding().rule());
        }
    }

    @Test
    void shouldFindAWaitForAQueueThatWasNotArmedAgain() {
        try (SanitisedPair pair = SanitisedPair.connect()) {
            MemoryRegion inbox = pair.region(2 * BYTES, AccessFlag.RECEIVE_SINK);
            MemoryRegion message = pair.region(BYTES);
            pair.responder.postReceive(7, inbox, 0, BYTES);
            pair.responder.postReceive(8, inbox, BYTES, BYTES);
            pair.responderQueue.requestNotification(false);
            pair.responderQueue.poll(WorkCompletion.array(4));
            pair.requester.postSend(9, message, 0, BYTES, SendFlags.SIGNALLED);
            assertTrue(pair.responderChannel.await(TimeUnit.SECONDS.toNanos(10)).isPresent());
            pair.responderQueue.acknowledgeEvents(1);
            assertEquals(7, pair.completion(pair.responderQueue).wrId());
            assertEquals(0, pair.findings.count(), pair.findings::toString);

            assertTrue(pair.responderChannel.await(1).isEmpty());

            assertEquals(Rule.NOT_REARMED, pair.finding().rule());
        }
    }

    @Test
    void shouldFindAReadIntoARegionThatDoesNotSaySo() {
        try (SanitisedPair pair = SanitisedPair.connect()) {
            MemoryRegion source = pair.region(BYTES, AccessFlag.REMOTE_READ);
            MemoryRegion sink = pair.region(BYTES, AccessFlag.LOCAL_WRITE);

            pair.requester.postRead(7, sink, 0, BYTES, source.address(), source.rkey(), SendFlags.SIGNALLED);

            pair.finding(Rule.READ_SINK_NOT_DECLARED, pair.requester, pair.responder);
        }
    }

    @Test
    void shouldNameWhatIsOpenWhenTheDeviceIsClosedAndWhereItWasCreated() {
        Findings findings = new Findings();
        Sanitiser sanitiser = new Sanitiser(findings);
        VerbsDevice device = sanitiser.wrap(VerbsProviders.named("sim").open(Map.of()));
        ProtectionDomain domain = device.allocateProtectionDomain();
        assertEquals("protection domain", sanitiser.openObjects().getLast().what());

        assertThrows(VerbsException.class, device::close);

        assertEquals(1, findings.count(), findings::toString);
        Finding found = findings.of(Rule.LEAKED).getFirst();
        assertEquals(PlantedFaultsTest.class.getName(), found.where().getFirst().getClassName());
        domain.close();
        device.close();
        assertEquals(1, findings.count(), findings::toString);
        assertTrue(sanitiser.openObjects().isEmpty(), sanitiser.openObjects()::toString);
    }
}
