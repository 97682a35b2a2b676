package org.softrdma.sim.roce.unreliable;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.softrdma.sim.roce.wire.RoceOpcode;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.SendWorkRequest;

/** What a responder of an unreliable connection does with the packets that it gets, and with those that it does not. */
class UnreliableResponderTest {
    private static final int UNIT = UnreliablePeer.UNIT;
    private static final int MEMORY = 64 * UNIT;
    /** Its third packet is number 0. */
    private static final int FIRST_PSN = 0xFF_FFFE;

    private final UnreliablePeer sender = new UnreliablePeer(FIRST_PSN, 7, MEMORY);
    private final UnreliablePeer receiver = new UnreliablePeer(7, FIRST_PSN, MEMORY);

    UnreliableResponderTest() {
        byte[] bytes = new byte[MEMORY];
        new Random(1).nextBytes(bytes);
        MemorySegment.copy(MemorySegment.ofArray(bytes), 0, sender.local, 0, MEMORY);
        receiver.receives = 10;
    }

    private List<byte[]> message(int length) {
        return sender.send(new SendWorkRequest().send(1, SendFlags.NONE), 0, length);
    }

    private List<byte[]> write(int length, int key) {
        return sender.send(new SendWorkRequest().write(1, 0, key, SendFlags.NONE), 0, length);
    }

    private List<Integer> lengths() {
        return receiver.messages.stream().map(each -> each.bytes().size()).toList();
    }

    private boolean isWritten(int length) {
        return receiver.remote.asSlice(0, length).mismatch(sender.local.asSlice(0, length)) == -1;
    }

    private long dropped(Drop cause) {
        return receiver.dropped(cause);
    }

    @Test
    void shouldTakeMessagesOfAnyLengthInOrder() {
        for (int length : new int[] {0, 1, UNIT, UNIT + 1, 3 * UNIT}) {
            receiver.receive(message(length));
        }
        assertEquals(List.of(0, 1, UNIT, UNIT + 1, 3 * UNIT), lengths());
        assertEquals(-1, receiver.inbox.asSlice(0, 3 * UNIT).mismatch(sender.local.asSlice(0, 3 * UNIT)));
        for (Drop cause : Drop.values()) {
            assertEquals(0, dropped(cause), cause.name());
        }
        assertEquals(5, sender.poll().size());
    }

    @Test
    void shouldLoseTheWholeMessageWhenAPacketIsMissing() {
        for (int missing = 0; missing < 3; missing++) {
            List<byte[]> packets = message(3 * UNIT);
            for (int i = 0; i < 3; i++) {
                if (i != missing) {
                    receiver.receive(packets.get(i));
                }
            }
            receiver.receive(message(5));
            assertEquals(1, receiver.messages.size(), "packet " + missing + " of 3");
            assertEquals(List.of(5), lengths());
            assertEquals(1, dropped(Drop.MISSING));
            assertEquals(missing == 0 ? 2 : missing == 1 ? 1 : 0, dropped(Drop.INCOMPLETE));
            receiver.messages.clear();
        }
        assertEquals(7, receiver.receives);
    }

    @Test
    void shouldNotDeliverAMessageTwiceWhenItsPacketComesTwice() {
        List<byte[]> packets = message(5);
        receiver.receive(packets);
        receiver.receive(packets);
        assertEquals(List.of(5), lengths());
        assertEquals(1, dropped(Drop.LATE));
    }

    @Test
    void shouldNotDeliverAMessageBehindALaterOne() {
        List<byte[]> first = message(5);
        List<byte[]> second = message(6);
        receiver.receive(second);
        receiver.receive(first);
        assertEquals(List.of(6), lengths());
        assertEquals(1, dropped(Drop.MISSING));
        assertEquals(1, dropped(Drop.LATE));
    }

    @Test
    void shouldGoOnWithAMessageWhenOneOfItsPacketsComesTwice() {
        List<byte[]> packets = message(3 * UNIT);
        receiver.receive(packets.get(0));
        receiver.receive(packets.get(1));
        receiver.receive(packets.get(0));
        receiver.receive(packets.get(1));
        receiver.receive(packets.get(2));
        assertEquals(List.of(3 * UNIT), lengths());
        assertEquals(2, dropped(Drop.LATE));
    }

    @Test
    void shouldLoseASendThatFindsNoReceiveOrATooShortOne() {
        receiver.receives = 0;
        receiver.receive(message(2 * UNIT));
        assertEquals(1, dropped(Drop.NO_RECEIVE));
        assertEquals(1, dropped(Drop.INCOMPLETE));
        receiver.receives = 1;
        receiver.receiveBytes = UNIT + 1;
        receiver.receive(message(UNIT + 2));
        assertEquals(1, dropped(Drop.TOO_LONG));
        receiver.receive(message(UNIT + 1));
        assertEquals(List.of(UNIT + 1), lengths());
        assertFalse(receiver.responder.hasFailed());
    }

    @Test
    void shouldWriteAndTellWithTheLastPacketOnly() {
        receiver.receive(write(2 * UNIT, UnreliablePeer.KEY));
        assertTrue(isWritten(2 * UNIT));
        assertEquals(1, receiver.writes);
        List<byte[]> packets = sender.send(
                new SendWorkRequest().writeImmediate(2, 0, UnreliablePeer.KEY, 99, SendFlags.NONE), 0, 2 * UNIT);
        receiver.receive(packets.get(0));
        assertEquals(List.of(), receiver.messages);
        receiver.receive(packets.get(1));
        assertEquals(99, receiver.messages.getFirst().immediate());
        assertEquals(2, receiver.writes);
    }

    @Test
    void shouldNotPlaceTheEndOfAWriteWhoseMiddleIsMissing() {
        List<byte[]> packets = write(3 * UNIT, UnreliablePeer.KEY);
        receiver.receive(packets.get(0));
        receiver.receive(packets.get(2));
        assertTrue(isWritten(UNIT));
        MemorySegment rest = receiver.remote.asSlice(UNIT);
        assertEquals(-1, rest.mismatch(MemorySegment.ofArray(new byte[MEMORY - UNIT])));
        assertEquals(0, receiver.writes);
        assertEquals(1, receiver.abandoned);
    }

    @Test
    void shouldLoseAWriteThatIsNotAllowed() {
        receiver.receive(write(2 * UNIT, 5));
        assertEquals(1, dropped(Drop.ACCESS_REFUSED));
        assertEquals(1, dropped(Drop.INCOMPLETE));
        assertEquals(-1, receiver.remote.mismatch(MemorySegment.ofArray(new byte[MEMORY])));
        receiver.receive(write(UNIT, UnreliablePeer.KEY));
        assertTrue(isWritten(UNIT));
    }

    @Test
    void shouldLoseAWriteThatIsLongerOrShorterThanItSays() {
        List<byte[]> longer = write(3 * UNIT, UnreliablePeer.KEY);
        List<byte[]> shorter = write(2 * UNIT, UnreliablePeer.KEY);
        byte[] ends = longer.get(1).clone();
        ends[0] = (byte) (RoceOpcode.UC | RoceOpcode.WRITE_LAST);
        receiver.receive(List.of(longer.get(0), ends));
        assertEquals(1, dropped(Drop.WRONG_LENGTH));
        byte[] goesOn = shorter.get(1).clone();
        goesOn[0] = (byte) (RoceOpcode.UC | RoceOpcode.WRITE_MIDDLE);
        receiver.receive(List.of(shorter.get(0), goesOn));
        assertEquals(1, dropped(Drop.WRONG_LENGTH));
        assertEquals(0, receiver.writes);
    }

    @Test
    void shouldTakeAMessageThatBeginsInTheMiddleOfAnother() {
        List<byte[]> first = message(2 * UNIT);
        byte[] next = message(5).getFirst();
        next[11] = first.get(1)[11]; // the sender goes on with another message instead
        receiver.receive(first.get(0));
        receiver.receive(next);
        assertEquals(List.of(5), lengths());
    }

    @Test
    void shouldFailWhenTheMemoryOfAReceiveIsGone() {
        receiver.sinks = false;
        receiver.receive(message(5));
        assertTrue(receiver.responder.hasFailed());
        assertEquals(List.of(CompletionStatus.LOCAL_PROTECTION_ERROR), receiver.failedReceives);
        receiver.sinks = true;
        receiver.receive(message(5));
        assertEquals(List.of(), receiver.messages);
    }
}
