package org.softrdma.verbs.provider;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.Mockito.doThrow;
import static org.mockito.Mockito.mock;

import java.util.EnumSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.AddressHandle;
import org.softrdma.verbs.Capabilities;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.MemoryWindow;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.QueuePairType;
import org.softrdma.verbs.ReceiveWorkRequest;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.SendOpcode;
import org.softrdma.verbs.SendWorkRequest;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;

/** What can be posted, by opcode: features, entries, lengths, flags. */
class PostingRulesTest {
    private static final int LONGEST = 1000;
    private static final int INLINE = 100;
    private static final int ENTRIES = 3;
    private static final int READ_ENTRIES = 2;
    private static final int UNIT = 256;

    private final MemoryRegion region = mock(MemoryRegion.class);
    private final MemoryWindow window = mock(MemoryWindow.class);
    private final PostingRules rules = rules(EnumSet.allOf(Feature.class));

    private static PostingRules rules(Set<Feature> features) {
        return new PostingRules(
                new QueuePairLimits(10, 10, ENTRIES, ENTRIES, INLINE),
                Capabilities.builder("test", "iWARP")
                        .maxScatterGather(ENTRIES)
                        .maxScatterGatherRead(READ_ENTRIES)
                        .maxMessageLength(LONGEST)
                        .features(features)
                        .build());
    }

    private SendWorkRequest request(SendOpcode opcode, int flags) {
        SendWorkRequest request = new SendWorkRequest();
        return switch (opcode) {
            case SEND -> request.send(1, flags);
            case WRITE -> request.write(1, 2, 3, flags);
            case READ -> request.read(1, 2, 3, flags);
            case SEND_IMMEDIATE -> request.sendImmediate(1, 4, flags);
            case SEND_INVALIDATE -> request.sendInvalidate(1, 4, flags);
            case WRITE_IMMEDIATE -> request.writeImmediate(1, 2, 3, 4, flags);
            case COMPARE_AND_SWAP -> request.compareAndSwap(1, 2, 3, 4, 5, flags);
            case FETCH_AND_ADD -> request.fetchAndAdd(1, 2, 3, 4, flags);
            case INVALIDATE -> request.invalidate(1, 4, flags);
            case BIND_WINDOW -> request.bindWindow(1, window, Set.of(AccessFlag.REMOTE_READ), flags);
        };
    }

    private SendWorkRequest withEntries(SendOpcode opcode, int entries) {
        SendWorkRequest request = request(opcode, SendFlags.NONE);
        for (int i = 0; i < entries; i++) {
            request.add(100, 8, 1);
        }
        return request;
    }

    private static int usualEntries(SendOpcode opcode) {
        return opcode == SendOpcode.INVALIDATE ? 0 : 1;
    }

    @Test
    void shouldNameTheFeatureThatTheDeviceLacks() {
        for (SendOpcode opcode : SendOpcode.values()) {
            if (opcode.feature().isEmpty()) {
                rules(Set.of()).check(opcode, SendFlags.NONE);
                rules(Set.of()).check(withEntries(opcode, usualEntries(opcode)));
                continue;
            }
            Feature feature = opcode.feature().get();
            EnumSet<Feature> others = EnumSet.complementOf(EnumSet.of(feature));
            for (PostingRules lacking : new PostingRules[] {rules(others), rules(Set.of())}) {
                VerbsException refused = assertThrows(
                        VerbsException.class, () -> lacking.check(withEntries(opcode, usualEntries(opcode))));
                assertEquals(VerbsErrorCode.NOT_SUPPORTED, refused.code());
                String message = String.valueOf(refused.getMessage());
                assertTrue(message.contains(feature.name()) && message.contains("iWARP"), message);
                assertThrows(VerbsException.class, () -> lacking.check(opcode, region, 0, 8, SendFlags.NONE));
                assertThrows(VerbsException.class, () -> lacking.check(opcode, SendFlags.NONE));
            }
            rules(EnumSet.of(feature)).check(withEntries(opcode, usualEntries(opcode)));
        }
    }

    @Test
    void shouldLimitTheEntriesByOpcode() {
        for (SendOpcode opcode : SendOpcode.values()) {
            int least = opcode.isAtomic() || opcode == SendOpcode.BIND_WINDOW ? 1 : 0;
            int most = switch (opcode) {
                case SEND, WRITE, SEND_IMMEDIATE, SEND_INVALIDATE, WRITE_IMMEDIATE -> ENTRIES;
                case READ -> READ_ENTRIES;
                case COMPARE_AND_SWAP, FETCH_AND_ADD, BIND_WINDOW -> 1;
                case INVALIDATE -> 0;
            };
            for (int entries = 0; entries <= ENTRIES + 1; entries++) {
                SendWorkRequest request = withEntries(opcode, entries);
                if (entries >= least && entries <= most) {
                    rules.check(request);
                } else {
                    IllegalArgumentException refused = assertThrows(
                            IllegalArgumentException.class, () -> rules.check(request), opcode + " " + entries);
                    String message = String.valueOf(refused.getMessage());
                    assertTrue(message.contains(opcode.name()) && message.contains("expected"), message);
                }
            }
        }
    }

    @Test
    void shouldSayHowManyEntriesAreExpected() {
        assertEquals("INVALIDATE with 1 local entries: expected 0", refusal(withEntries(SendOpcode.INVALIDATE, 1)));
        assertEquals(
                "FETCH_AND_ADD with 2 local entries: expected 1", refusal(withEntries(SendOpcode.FETCH_AND_ADD, 2)));
        assertEquals("READ with 3 local entries: expected at most 2", refusal(withEntries(SendOpcode.READ, 3)));
    }

    private String refusal(SendWorkRequest request) {
        return String.valueOf(assertThrows(IllegalArgumentException.class, () -> rules.check(request))
                .getMessage());
    }

    @Test
    void shouldWantEightBytesForTheResultOfAnAtomic() {
        for (SendOpcode opcode : new SendOpcode[] {SendOpcode.COMPARE_AND_SWAP, SendOpcode.FETCH_AND_ADD}) {
            for (long length : new long[] {0, 7, 9, 16}) {
                SendWorkRequest request = request(opcode, SendFlags.NONE).add(100, length, 1);
                assertThrows(IllegalArgumentException.class, () -> rules.check(request), opcode + " " + length);
            }
            rules.check(request(opcode, SendFlags.NONE).add(100, Long.BYTES, 1));
        }
    }

    @Test
    void shouldTakeInlineAndSolicitedWhereTheyBelong() {
        for (SendOpcode opcode : SendOpcode.values()) {
            boolean solicited = switch (opcode) {
                case SEND, SEND_IMMEDIATE, SEND_INVALIDATE, WRITE_IMMEDIATE -> true;
                case WRITE, READ, COMPARE_AND_SWAP, FETCH_AND_ADD, INVALIDATE, BIND_WINDOW -> false;
            };
            boolean inline = solicited || opcode == SendOpcode.WRITE;
            expect(solicited, opcode, SendFlags.SOLICITED);
            expect(inline, opcode, SendFlags.INLINE);
            expect(solicited, opcode, SendFlags.SOLICITED | SendFlags.INLINE | SendFlags.FENCE);
            expect(true, opcode, SendFlags.SIGNALLED | SendFlags.FENCE);
            expect(false, opcode, 1 << 4);
        }
    }

    private void expect(boolean accepted, SendOpcode opcode, int flags) {
        SendWorkRequest request = request(opcode, flags);
        if (opcode != SendOpcode.INVALIDATE) {
            request.add(100, Long.BYTES, 1);
        }
        String what = opcode + " with flags 0x" + Integer.toHexString(flags);
        if (accepted) {
            assertDoesNotThrow(() -> rules.check(request), what);
            assertDoesNotThrow(() -> rules.check(opcode, region, 0, Long.BYTES, flags), what);
        } else {
            assertThrows(IllegalArgumentException.class, () -> rules.check(request), what);
            assertThrows(IllegalArgumentException.class, () -> rules.check(opcode, region, 0, Long.BYTES, flags), what);
        }
    }

    @Test
    void shouldLimitInlineBytesAndKeepThemInTheirRegion() {
        for (SendOpcode opcode : SendOpcode.values()) {
            if (opcode.carriesData()) {
                rules.check(opcode, region, 0, INLINE, SendFlags.INLINE);
                assertThrows(
                        IllegalArgumentException.class,
                        () -> rules.check(opcode, region, 0, INLINE + 1, SendFlags.INLINE),
                        opcode.name());
            }
        }
        doThrow(new IllegalArgumentException("outside")).when(region).checkRange(5, 6);
        assertThrows(
                IllegalArgumentException.class,
                () -> rules.check(SendOpcode.WRITE_IMMEDIATE, region, 5, 6, SendFlags.INLINE));
        rules.check(SendOpcode.WRITE_IMMEDIATE, region, 5, 6, SendFlags.NONE);
    }

    @Test
    void shouldLimitTheBytesOfAMessage() {
        for (SendOpcode opcode : SendOpcode.values()) {
            if (opcode != SendOpcode.BIND_WINDOW) {
                rules.check(opcode, region, 0, LONGEST, SendFlags.NONE);
                assertThrows(
                        IllegalArgumentException.class,
                        () -> rules.check(opcode, region, 0, LONGEST + 1, SendFlags.NONE),
                        opcode.name());
            }
            assertThrows(
                    IllegalArgumentException.class,
                    () -> rules.check(opcode, region, 0, -1, SendFlags.NONE),
                    opcode.name());
        }
    }

    @Test
    void shouldBindAWindowOfMoreThanAMessage() {
        rules.check(SendOpcode.BIND_WINDOW, region, 0, LONGEST + 1, SendFlags.NONE);
        rules.check(request(SendOpcode.BIND_WINDOW, SendFlags.NONE).add(100, 1L << 40, 1));
    }

    @Test
    void shouldGiveAWindowRemoteRightsOnly() {
        Set<AccessFlag> remote = EnumSet.of(AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_ATOMIC);
        rules.checkWindowAccess(remote);
        rules.checkWindowAccess(Set.of());
        for (AccessFlag flag : AccessFlag.values()) {
            SendWorkRequest request = new SendWorkRequest()
                    .bindWindow(1, window, Set.of(flag), SendFlags.NONE)
                    .add(100, 8, 1);
            if (remote.contains(flag)) {
                rules.check(request);
            } else {
                assertThrows(IllegalArgumentException.class, () -> rules.checkWindowAccess(Set.of(flag)), flag.name());
                assertThrows(IllegalArgumentException.class, () -> rules.check(request), flag.name());
            }
        }
    }

    @Test
    void shouldLimitTheEntriesOfAReceive() {
        ReceiveWorkRequest request = new ReceiveWorkRequest().receive(1);
        for (int i = 0; i < ENTRIES; i++) {
            request.add(100, 1, 1);
            rules.check(request);
        }
        request.add(100, 1, 1);
        assertThrows(IllegalArgumentException.class, () -> rules.check(request));
    }

    // ---- types

    private static PostingRules rules(QueuePairType type) {
        return new PostingRules(
                new QueuePairLimits(10, 10, ENTRIES, ENTRIES, INLINE),
                Capabilities.builder("test", "RoCE")
                        .maxScatterGather(ENTRIES)
                        .maxScatterGatherRead(READ_ENTRIES)
                        .maxMessageLength(LONGEST)
                        .maxTransferUnit(UNIT)
                        .features(EnumSet.allOf(Feature.class))
                        .build(),
                type);
    }

    @Test
    void shouldTakeWhatTheTypeCan() {
        Set<SendOpcode> answered = EnumSet.of(SendOpcode.READ, SendOpcode.COMPARE_AND_SWAP, SendOpcode.FETCH_AND_ADD);
        for (SendOpcode opcode : SendOpcode.values()) {
            SendWorkRequest request = withEntries(opcode, usualEntries(opcode));
            rules(QueuePairType.RELIABLE_CONNECTION).check(request);
            boolean unreliable = !answered.contains(opcode) && opcode != SendOpcode.SEND_INVALIDATE;
            expect(unreliable, () -> rules(QueuePairType.UNRELIABLE_CONNECTION).check(request));
            expect(false, () -> rules(QueuePairType.UNRELIABLE_DATAGRAM).check(request)); // without a handle
            request.to(mock(AddressHandle.class), 17, 1);
            boolean datagram = opcode == SendOpcode.SEND || opcode == SendOpcode.SEND_IMMEDIATE;
            expect(datagram, () -> rules(QueuePairType.UNRELIABLE_DATAGRAM).check(request));
            expect(false, () -> rules(QueuePairType.UNRELIABLE_CONNECTION).check(request));
            expect(false, () -> rules(QueuePairType.RELIABLE_CONNECTION).check(request));
        }
    }

    private static void expect(boolean taken, org.junit.jupiter.api.function.Executable check) {
        if (taken) {
            assertDoesNotThrow(check);
        } else {
            assertThrows(IllegalArgumentException.class, check);
        }
    }

    @Test
    void shouldLimitADatagramToOnePacket() {
        PostingRules datagrams = rules(QueuePairType.UNRELIABLE_DATAGRAM);
        for (long length : new long[] {0, 1, UNIT}) {
            datagrams.checkDatagram(SendOpcode.SEND, region, 0, length, SendFlags.SIGNALLED);
        }
        for (long length : new long[] {UNIT + 1, LONGEST, 1L << 32, Long.MAX_VALUE, -1}) {
            expect(false, () -> datagrams.checkDatagram(SendOpcode.SEND_IMMEDIATE, region, 0, length, 0));
        }
        rules(QueuePairType.UNRELIABLE_CONNECTION).check(SendOpcode.SEND, region, 0, UNIT + 1, 0);
    }

    @Test
    void shouldFenceOnReliableConnectionsOnly() {
        rules(QueuePairType.RELIABLE_CONNECTION).check(SendOpcode.SEND, SendFlags.FENCE);
        expect(false, () -> rules(QueuePairType.UNRELIABLE_CONNECTION).check(SendOpcode.SEND, SendFlags.FENCE));
        expect(
                false,
                () -> rules(QueuePairType.UNRELIABLE_DATAGRAM)
                        .checkDatagram(SendOpcode.SEND, region, 0, 1, SendFlags.FENCE));
    }

    @Test
    void shouldNameTheFeatureOfDatagramsFirst() {
        PostingRules lacking = rules(EnumSet.of(Feature.UNRELIABLE_CONNECTION));
        for (SendOpcode opcode : new SendOpcode[] {SendOpcode.SEND, SendOpcode.SEND_IMMEDIATE}) {
            VerbsException refused = assertThrows(
                    VerbsException.class, () -> lacking.checkDatagram(opcode, region, 0, 1, SendFlags.NONE));
            assertEquals(VerbsErrorCode.NOT_SUPPORTED, refused.code());
            assertTrue(String.valueOf(refused.getMessage()).contains(Feature.UNRELIABLE_DATAGRAM.name()));
        }
    }

    @Test
    void shouldConnectReliableConnectionsOnlyByTheConnectionManager() {
        PostingRules.requireConnectable(QueuePairType.RELIABLE_CONNECTION);
        for (QueuePairType type : EnumSet.complementOf(EnumSet.of(QueuePairType.RELIABLE_CONNECTION))) {
            VerbsException refused = assertThrows(VerbsException.class, () -> PostingRules.requireConnectable(type));
            assertEquals(VerbsErrorCode.NOT_SUPPORTED, refused.code());
            assertTrue(
                    String.valueOf(refused.getMessage()).contains(type.feature().name()));
        }
    }
}
