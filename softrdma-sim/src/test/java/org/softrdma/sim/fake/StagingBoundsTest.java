package org.softrdma.sim.fake;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.softrdma.net.peer.TestBytes;
import org.softrdma.sim.peer.Frames;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.Connector;

/** A batch ends where the staging buffer ends, whatever the lengths of its messages: the guards say if a byte went further. */
class StagingBoundsTest {
    private static final int HEADER = 16;
    private static final int SEND_HEADER = 20;
    private static final int CRC_FIELD = 4;
    private static final int SOURCE_BYTES = 20_000;
    private static final byte[] FIRST = Frames.fpdu(Frames.tagged(Frames.WRITE, true, 0, 0), false);
    private static final long REMOTE = 0x1122_3344_5566_7000L;
    private static final int RKEY = 0x8877_6655;
    private static final int COPY_BELOW = 4096;
    private static final int READS = 128;

    /**
     * Lengths whose FPDUs leave room for the header and the CRC field of one more, whose payload is gathered and needs three bytes
     * of pad.
     */
    private static int[] toTheLastByte(int header) {
        int[] lengths = new int[66];
        Arrays.fill(lengths, 4012);
        lengths[64] = 4056 - (header - HEADER);
        lengths[65] = 4097;
        return lengths;
    }

    /** The peer's READs all come at once, as in one TCP segment. */
    private static void readAtOnce(int[] lengths, String what) {
        try (FakeDevice device = new FakeDevice("crc", "off", "copy-below", "" + COPY_BELOW)) {
            MemoryRegion source = device.region(7, SOURCE_BYTES, AccessFlag.REMOTE_READ);
            byte[] pattern = TestBytes.pattern(7, SOURCE_BYTES);
            byte[][] requests = new byte[lengths.length][];
            ByteArrayOutputStream expected = new ByteArrayOutputStream();
            for (int i = 0; i < lengths.length; i++) {
                requests[i] = Frames.fpdu(
                        Frames.readRequest(i + 1, 50 + i, 1000L * i, lengths[i], source.rkey(), source.address() + i),
                        false);
                byte[] payload = TestBytes.slice(pattern, i, i + lengths[i]);
                expected.writeBytes(
                        Frames.fpdu(Frames.tagged(Frames.READ_RESPONSE, true, 50 + i, 1000L * i, payload), false));
            }
            FakeSocket socket = device.socket();
            try (QueuePair pair = device.connect(socket, QueuePairLimits.of(1, 1), READS)) {
                socket.give(TestBytes.concat(requests));
                device.drain();
                requireSame(expected.toByteArray(), FakeDevice.stream(socket), what + " on " + pair);
                assertEquals(0, device.counter("engineFaults"), what);
            } finally {
                socket.giveReset();
                device.drain();
            }
        }
    }

    private static void requireSame(byte[] expected, byte[] found, String what) {
        int at = Arrays.mismatch(expected, found);
        assertTrue(
                at < 0,
                () -> what + ": " + found.length + " bytes were sent, expected " + expected.length
                        + ", first difference at byte " + at);
    }

    @Test
    void shouldStayInTheBufferWhenReadsFillItToTheLastByteAndOneMoreNeedsPad() {
        readAtOnce(toTheLastByte(HEADER), "64 READs of 4012 bytes, 4056, 4097");
    }

    /** Every pad at the end, and from too little room for the header to too much. */
    @Test
    void shouldStayInTheBufferWhenItsEndIsMetInEveryWay() {
        for (int pad = 0; pad < 4; pad++) {
            for (int room = HEADER; room <= 2 * HEADER; room += 4) {
                int[] lengths = new int[67];
                Arrays.fill(lengths, 4012);
                lengths[64] = 4056 - (room - HEADER - CRC_FIELD);
                lengths[65] = COPY_BELOW + pad;
                readAtOnce(lengths, "READ of " + (COPY_BELOW + pad) + " bytes, room " + room);
            }
        }
    }

    @ParameterizedTest(name = "send={0}")
    @ValueSource(booleans = {false, true})
    void shouldStayInTheBufferWhenMessagesFillItToTheLastByteAndOneMoreNeedsPad(boolean sendLast) {
        try (FakeDevice device = new FakeDevice("crc", "off", "copy-below", "" + COPY_BELOW)) {
            MemoryRegion source = device.region(7, SOURCE_BYTES);
            int[] lengths = toTheLastByte(sendLast ? SEND_HEADER : HEADER);
            ByteArrayOutputStream expected = new ByteArrayOutputStream();
            FakeSocket socket = device.socket();
            try (QueuePair pair = device.connect(socket, QueuePairLimits.of(READS, 1), 1)) {
                for (int i = 0; i < lengths.length; i++) {
                    byte[] payload = TestBytes.slice(TestBytes.pattern(7, SOURCE_BYTES), i, i + lengths[i]);
                    boolean send = sendLast && i == lengths.length - 1;
                    PostStatus posted = send
                            ? pair.postSend(i, source, i, lengths[i], SendFlags.SIGNALLED)
                            : pair.postWrite(i, source, i, lengths[i], REMOTE + i, RKEY, SendFlags.SIGNALLED);
                    assertEquals(PostStatus.ACCEPTED, posted);
                    byte[] segment = send
                            ? Frames.send(1, payload)
                            : Frames.tagged(Frames.WRITE, true, RKEY, REMOTE + i, payload);
                    expected.writeBytes(Frames.fpdu(segment, false));
                }
                socket.give(FIRST);
                List<CompletionStatus> statuses = device.drain();
                requireSame(expected.toByteArray(), FakeDevice.stream(socket), "WRITEs and a SEND");
                assertEquals(lengths.length, statuses.size());
                assertEquals(0, device.counter("engineFaults"));
            } finally {
                socket.giveReset();
                device.drain();
            }
        }
    }

    /** The batch that ends a message of many segments has room for none more, and the repeat of ready-to-receive is due. */
    @Test
    void shouldSendReadyToReceiveInTheNextBatchWhenThisOneIsFull() {
        int segment = 8;
        int first = 3;
        int segments = first + 256;
        try (FakeDevice device =
                new FakeDevice("crc", "off", "segment", "" + segment, "copy-below", "64", "ready-repeat", "50")) {
            MemoryRegion source = device.region(7, segment * segments);
            FakeSocket socket = new FakeSocket();
            Connector connector = device.connector(socket);
            try (connector;
                    QueuePair pair = device.queuePair(connector, QueuePairLimits.of(4, 1))) {
                socket.give(Frames.mpa(Frames.REPLY_KEY, Frames.ENHANCED, 2, Frames.depths(0, 1, 1)));
                connector.connect(ConnectionParameters.ofReads(1), Long.MAX_VALUE / 4);
                int handshake = socket.sent().length;
                int fpdu =
                        Frames.fpdu(Frames.tagged(Frames.WRITE, false, RKEY, REMOTE, new byte[segment]), false).length;
                socket.taking(offered -> Math.min(offered, (long) first * fpdu - (socket.sent().length - handshake)));
                assertEquals(
                        PostStatus.ACCEPTED,
                        pair.postWrite(1, source, 0, (long) segment * segments, REMOTE, RKEY, SendFlags.SIGNALLED));
                while (socket.sent().length < handshake + first * fpdu) {
                    assertTrue(device.device().progress(0) > 0, "the device rests before the first segments");
                }
                socket.taking(offered -> offered);
                device.advance(51);

                assertEquals(List.of(CompletionStatus.SUCCESS), device.drain());

                assertEquals(0, device.counter("engineFaults"));
                int ready = FIRST.length;
                assertEquals(handshake + segments * fpdu + ready, socket.sent().length);
            } finally {
                socket.giveReset();
                device.drain();
            }
        }
    }
}
