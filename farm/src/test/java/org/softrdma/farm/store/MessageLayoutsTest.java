package org.softrdma.farm.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.softrdma.farm.table.TableShape;
import org.softrdma.stores.Outcome;
import org.softrdma.stores.Protocol;
import org.softrdma.verbs.RemoteRegion;

/** Messages by their bytes, and what is refused. */
class MessageLayoutsTest {
    private static final RemoteRegion INBOX =
            new RemoteRegion(0x1122_3344_5566_7788L, FarmHelloDescriptor.REPLY_RING, 0x99aa_bbcc);

    private static String hex(ByteBuffer buffer, int length) {
        byte[] bytes = new byte[length];
        buffer.get(0, bytes);
        return HexFormat.of().formatHex(bytes);
    }

    @Test
    void shouldLayAHelloOutAsDrawn() {
        ByteBuffer buffer = ByteBuffer.allocate(FarmHelloDescriptor.LENGTH);
        FarmHelloDescriptor.write(buffer, Protocol.SAFE, INBOX);

        assertEquals("4661524d" + "01000100" + "8877665544332211" + "ccbbaa9900000000", hex(buffer, 24));
        assertTrue(FarmHelloDescriptor.isFor(buffer, 24, Protocol.SAFE));
        assertFalse(FarmHelloDescriptor.isFor(buffer, 24, Protocol.PAPER));
        assertFalse(FarmHelloDescriptor.isFor(buffer, 23, Protocol.SAFE));
        assertEquals(INBOX, FarmHelloDescriptor.inbox(buffer));
    }

    @Test
    void shouldLayAWelcomeOutAsDrawnAndRefuseOtherLengths() {
        TableShape shape = new TableShape(6, true, 16, 32, true, 100, 2, 7);
        FarmWelcomeDescriptor.Welcome welcome = new FarmWelcomeDescriptor.Welcome(
                5,
                new RemoteRegion(INBOX.address(), 1024, INBOX.rkey()),
                1024,
                16,
                32,
                shape,
                List.of(new RemoteRegion(1, 0, 2), new RemoteRegion(3, 0, 4)));
        ByteBuffer buffer = ByteBuffer.allocate(FarmWelcomeDescriptor.LONGEST);

        assertEquals(96, FarmWelcomeDescriptor.write(buffer, welcome));

        assertEquals(
                "4661524d" + "01000100" + "0500000000000000" + "8877665544332211" + "ccbbaa99" + "00040000"
                        + "10000000" + "20000000" + "0700000000000000" + "03000000" + "64000000" + "02000000"
                        + "06000000" + "0100000000000000" + "0200000000000000" + "0300000000000000"
                        + "0400000000000000",
                hex(buffer, 96));
        assertEquals(welcome, FarmWelcomeDescriptor.read(buffer));
        for (int length = 0; length < FarmWelcomeDescriptor.LONGEST; length++) {
            assertEquals(length == 96, FarmWelcomeDescriptor.isValid(buffer, length), "length " + length);
        }
        assertFalse(FarmWelcomeDescriptor.isValid(buffer, FarmWelcomeDescriptor.refuse(buffer)));
    }

    @Test
    void shouldLayARequestOutAsDrawnAndRefuseOtherLengths() {
        byte[] bytes = new byte[64];
        MemorySegment memory = MemorySegment.ofArray(bytes);
        FarmRequestDescriptor.write(memory, 8, FarmRequestDescriptor.PUT, 3, 5, 0x0102_0304_0506_0708L);

        assertEquals(
                "0100" + "0300" + "05000000" + "0807060504030201",
                HexFormat.of().formatHex(Arrays.copyOfRange(bytes, 8, 24)));
        for (int length = 0; length < 56; length++) {
            assertEquals(length == 24, FarmRequestDescriptor.isValid(memory, 8, length), "length " + length);
        }
        FarmRequestDescriptor.write(memory, 8, FarmRequestDescriptor.REMOVE, 3, 5, 1);
        assertFalse(FarmRequestDescriptor.isValid(memory, 8, 24), "a removal with a value");
        FarmRequestDescriptor.write(memory, 8, (byte) 3, 3, 5, 1);
        assertFalse(FarmRequestDescriptor.isValid(memory, 8, 24), "no such operation");
        FarmRequestDescriptor.write(memory, 8, FarmRequestDescriptor.PUT, 0, 8, 1);
        assertFalse(FarmRequestDescriptor.isValid(memory, 8, 24), "no key");
        FarmRequestDescriptor.write(memory, 8, FarmRequestDescriptor.PUT, 9, -1, 1);
        assertFalse(FarmRequestDescriptor.isValid(memory, 8, 24), "a negative length");
    }

    @Test
    void shouldLayAReplyOutAsDrawn() {
        byte[] bytes = new byte[FarmReplyDescriptor.LENGTH];
        MemorySegment memory = MemorySegment.ofArray(bytes);
        for (Outcome outcome : List.of(Outcome.STORED, Outcome.REMOVED, Outcome.MISSING, Outcome.FULL)) {
            FarmReplyDescriptor.write(memory, 0, 258, outcome);
            assertEquals(outcome, FarmReplyDescriptor.outcome(memory, 0));
            assertEquals(258, FarmReplyDescriptor.number(memory, 0));
        }
        assertEquals("02010000000000000400000000000000", HexFormat.of().formatHex(bytes));
        bytes[8] = 5;
        assertEquals(null, FarmReplyDescriptor.outcome(memory, 0));
    }
}
