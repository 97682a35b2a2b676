package org.softrdma.sim.wire;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.softrdma.net.memory.NativeMemory;
import org.softrdma.sim.peer.Frames;

/**
 * What Linux said: the frames of rdmacm-utils' {@code rping -s} (44.0) over SoftiWARP (Linux 6.1.192) to {@code softrdma rping -c -S
 * 64}, captured on 2026-11-21. Our layouts read them, and our encoders write them again byte by byte.
 */
class KernelBytesTest {
    private static final String REPLY_KEY = "4d504120494420526570204672616d65";
    private static final int PING_BYTES = 64;
    private static final String PING = "72646d612d70696e672d303a20" // "rdma-ping-0: "
            + "4142434445464748494a4b4c4d4e4f505152535455565758595a"
            + "5b5c5d5e5f60"
            + "6162636465666768696a6b6c6d6e6f707172 00";

    /** SoftiWARP grants and wants what it is offered, and repeats A and C of the request's control bits. */
    @ParameterizedTest
    @CsvSource({"10, false", "50, true"})
    void shouldReadAndWriteTheKernelsReply(String flags, boolean crc) throws Exception {
        byte[] bytes = Frames.bytes(REPLY_KEY + flags + "020004 80018001");
        MpaFrame reply = MpaFrame.decode(bytes, MpaFrame.frameLength(bytes, bytes.length, false), false);
        assertTrue(reply.enhanced() && reply.peerToPeer());
        assertFalse(reply.markers() || reply.rejected());
        assertEquals(crc, reply.crc());
        assertEquals(2, reply.revision());
        assertEquals(MpaFrame.RTR_WRITE, reply.rtr());
        assertEquals(1, reply.ird());
        assertEquals(1, reply.ord());
        assertEquals(0, reply.privateData().length);
        assertArrayEquals(bytes, reply.encode());
    }

    @ParameterizedTest
    @CsvSource({
        "9b567700, 400d7b1d, 7f72f8014000, 1, 00000000",
        "9b567700, 400d7b1d, 7f72f8014000, 2, 00000000",
        "cda51600, 2a6163b7, 7ffb3e413000, 1, 31bd4963"
    })
    void shouldReadAndWriteTheKernelsReadRequest(String sink, String source, String address, int msn, String crc) {
        String kernel = "002e4141 00000000 00000001 0000000" + msn + " 00000000" + sink + "00007f8534000e00 00000040"
                + source + "0000" + address + crc;
        long at = WireMemory.of(kernel).address();
        assertEquals(Ddp.READ_REQUEST_END - Short.BYTES, Ddp.ulpduLength(at));
        assertEquals(Ddp.QUEUE_READ_REQUEST, NativeMemory.getInt(at + Ddp.QUEUE_NUMBER_OFFSET));
        assertWritten(
                kernel,
                "",
                fpdu -> Ddp.putReadRequest(
                        fpdu,
                        NativeMemory.getInt(at + Ddp.MSN_OFFSET),
                        NativeMemory.getInt(at + Ddp.READ_SINK_STAG_OFFSET),
                        NativeMemory.getLong(at + Ddp.READ_SINK_OFFSET_OFFSET),
                        NativeMemory.getInt(at + Ddp.READ_LENGTH_OFFSET),
                        NativeMemory.getInt(at + Ddp.READ_SOURCE_STAG_OFFSET),
                        NativeMemory.getLong(at + Ddp.READ_SOURCE_OFFSET_OFFSET)));
    }

    @ParameterizedTest
    @CsvSource({"f2078781, 7f72f8013000, 00000000", "28565376, 7ffb3e412000, 9da57485"})
    void shouldReadAndWriteTheKernelsWrite(String stag, String address, String crc) {
        String kernel = "004ec140" + stag + "0000" + address + PING + crc;
        long at = WireMemory.of(kernel).address();
        assertEquals(Ddp.TAGGED | Ddp.LAST | Ddp.DDP_VERSION | Ddp.RDMAP_VERSION, Ddp.control(at));
        assertWritten(
                kernel,
                PING,
                fpdu -> Ddp.putTagged(
                        fpdu,
                        RdmapOpcode.WRITE,
                        true,
                        NativeMemory.getInt(at + Ddp.STAG_OFFSET),
                        NativeMemory.getLong(at + Ddp.TAGGED_OFFSET_OFFSET),
                        PING_BYTES));
    }

    /** "Go ahead" is an advertisement of nothing: 16 bytes of zero. */
    @ParameterizedTest
    @CsvSource({"1, 00000000", "4, 00000000", "1, 84609a12", "2, b3e68405"})
    void shouldReadAndWriteTheKernelsSend(int msn, String crc) {
        String zeros = "00".repeat(16);
        String kernel = "00224143 00000000 00000000 0000000" + msn + " 00000000" + zeros + crc;
        assertWritten(
                kernel,
                zeros,
                fpdu -> Ddp.putUntagged(fpdu, RdmapOpcode.SEND, true, Ddp.QUEUE_SEND, msn, 0, zeros.length() / 2));
    }

    /** What the kernel took of ours: the response to its READ, with the CRC that it checked. */
    @Test
    void shouldWriteTheResponseThatTheKernelTook() {
        assertWritten(
                "004ec142 cda51600 00007f8534000e00" + PING + "1e1a1a5f",
                PING,
                fpdu -> Ddp.putTagged(fpdu, RdmapOpcode.READ_RESPONSE, true, 0xcda51600, 0x7f8534000e00L, PING_BYTES));
    }

    /** Writes a header. */
    private interface Header {
        void put(long fpdu);
    }

    /** Header, payload and CRC field written by our classes are the kernel's bytes; a CRC field of zero means CRC off. */
    private static void assertWritten(String kernel, String payload, Header header) {
        String plain = WireMemory.plain(kernel);
        WireMemory memory = new WireMemory(plain.length() / 2);
        long fpdu = memory.address();
        header.put(fpdu);
        int ulpdu = Ddp.ulpduLength(fpdu);
        byte[] bytes = Frames.bytes(payload);
        NativeMemory.put(fpdu + Short.BYTES + ulpdu - bytes.length, bytes);
        NativeMemory.clear(fpdu + Short.BYTES + ulpdu, Ddp.trailerLength(ulpdu));
        if (!plain.endsWith("00000000")) {
            new FpduCrc().put(memory.view(), fpdu, fpdu, ulpdu);
        }
        assertEquals(plain, memory.hex());
    }
}
