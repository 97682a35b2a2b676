package org.softrdma.sim.roce.unreliable;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.softrdma.net.memory.NativeMemory;
import org.softrdma.sim.roce.wire.Bth;
import org.softrdma.sim.roce.wire.Deth;
import org.softrdma.sim.roce.wire.RoceOpcode;
import org.softrdma.sim.roce.wire.RocePacket;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.RoutingHeader;

/** Which datagrams a queue pair takes, and what a RECV gets of one. */
class DatagramResponderTest {
    private static final int KEY = 0x1234_5678;
    private static final int SOURCE = 0xABCDEF;
    private static final int MEMORY = 1024;

    private final UnreliablePeer target = new UnreliablePeer(0, 0, MEMORY);
    private final DatagramResponder responder = new DatagramResponder(target, KEY, target.drops);
    private final MemorySegment header = Arena.ofAuto().allocate(RoutingHeader.LENGTH);
    private final MemorySegment packet = Arena.ofAuto().allocate(RocePacket.MAX_LENGTH, Long.BYTES);

    DatagramResponderTest() {
        target.receives = 2;
        header.fill((byte) 9);
    }

    private boolean receive(int operation, int key, int length) {
        int opcode = RoceOpcode.UD | operation;
        long at = packet.address();
        Bth.put(at, opcode, 0, length, 2, 77);
        Deth.put(at, key, SOURCE);
        if (RoceOpcode.hasImmediate(opcode)) {
            RocePacket.putLastWord(at, opcode, 42);
        }
        packet.asSlice(RoceOpcode.headerLength(opcode), length).fill((byte) 7);
        NativeMemory.clear(at + RoceOpcode.headerLength(opcode) + length, Integer.BYTES);
        int all = RocePacket.length(opcode, length);
        boolean taken = responder.takes(at, all);
        if (taken) {
            responder.place(at, all, header.address());
        }
        return taken;
    }

    @Test
    void shouldPutTheRoutingHeaderBeforeTheDatagram() {
        assertTrue(receive(RoceOpcode.SEND_ONLY, KEY, 5));
        UnreliablePeer.Received received = target.messages.getFirst();
        assertEquals("DATAGRAM of " + SOURCE, received.kind());
        assertEquals(RoutingHeader.LENGTH + 5, received.bytes().size());
        assertEquals(List.of((byte) 9, (byte) 7), received.bytes().subList(39, 41));
        assertTrue(receive(RoceOpcode.SEND_ONLY_IMMEDIATE, KEY, 0));
        assertEquals("DATAGRAM of " + SOURCE + " with", target.messages.get(1).kind());
        assertEquals(42, target.messages.get(1).immediate());
        assertEquals(RoutingHeader.LENGTH, target.messages.get(1).bytes().size());
    }

    @Test
    void shouldDropAndCountWhatItDoesNotTake() {
        assertFalse(receive(RoceOpcode.SEND_ONLY, KEY + 1, 5));
        assertEquals(1, target.dropped(Drop.WRONG_QUEUE_KEY));
        target.receiveBytes = RoutingHeader.LENGTH + 4;
        assertFalse(receive(RoceOpcode.SEND_ONLY, KEY, 5));
        assertEquals(1, target.dropped(Drop.TOO_LONG));
        assertTrue(receive(RoceOpcode.SEND_ONLY, KEY, 4));
        target.receives = 0;
        assertFalse(receive(RoceOpcode.SEND_ONLY, KEY, 4));
        assertEquals(1, target.dropped(Drop.NO_RECEIVE));
        assertFalse(responder.hasFailed());
    }

    @Test
    void shouldFailWhenTheMemoryOfAReceiveIsGone() {
        target.sinks = false;
        assertTrue(receive(RoceOpcode.SEND_ONLY, KEY, 5));
        assertTrue(responder.hasFailed());
        assertEquals(List.of(CompletionStatus.LOCAL_PROTECTION_ERROR), target.failedReceives);
        assertFalse(receive(RoceOpcode.SEND_ONLY, KEY, 5));
        assertEquals(List.of(), target.messages);
    }
}
