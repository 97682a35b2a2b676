package org.softrdma.sim.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Layer, error type and error code of each cause, as the tables of the RFCs number them. */
class TerminateCauseTest {
    /** Columns 2 and 3: whether the Terminate includes the DDP header and that of a READ request (RFC 5040 figure 10). */
    @ParameterizedTest
    @CsvSource({
        // RFC 5040 figure 9.
        "LOCAL_CATASTROPHIC, 0000, false, false",
        "RDMAP_INVALID_STAG, 0100, true, true",
        "RDMAP_BOUNDS, 0101, true, true",
        "RDMAP_ACCESS_RIGHTS, 0102, true, true",
        "RDMAP_STAG_NOT_ON_STREAM, 0103, true, true",
        "RDMAP_WRAP, 0104, true, true",
        "RDMAP_CANNOT_INVALIDATE, 0109, true, true",
        "RDMAP_UNSPECIFIED_PROTECTION, 01ff, true, true",
        "RDMAP_VERSION, 0205, true, false",
        "RDMAP_OPCODE, 0206, true, false",
        "RDMAP_STREAM_CATASTROPHIC, 0207, true, false",
        "RDMAP_GLOBAL_CATASTROPHIC, 0208, true, false",
        "RDMAP_OPERATION_CANNOT_INVALIDATE, 0209, true, false",
        "RDMAP_UNSPECIFIED, 02ff, true, false",
        // RFC 5041 section 7.2, layer 1.
        "DDP_LOCAL_CATASTROPHIC, 1000, false, false",
        "DDP_INVALID_STAG, 1100, true, false",
        "DDP_BOUNDS, 1101, true, false",
        "DDP_STAG_NOT_ON_STREAM, 1102, true, false",
        "DDP_WRAP, 1103, true, false",
        "DDP_TAGGED_VERSION, 1104, true, false",
        "DDP_QUEUE_NUMBER, 1201, true, false",
        "DDP_NO_BUFFER, 1202, true, false",
        "DDP_MSN_RANGE, 1203, true, false",
        "DDP_MESSAGE_OFFSET, 1204, true, false",
        "DDP_TOO_LONG, 1205, true, false",
        "DDP_UNTAGGED_VERSION, 1206, true, false",
        // RFC 5044 section 8, layer 2.
        "MPA_CONNECTION_LOST, 2001, false, false",
        "MPA_CRC, 2002, false, false",
        "MPA_MARKER, 2003, false, false",
        "MPA_INVALID_FRAME, 2004, false, false",
        // RFC 6581 section 8.
        "MPA_LOCAL_CATASTROPHIC, 2005, false, false",
        "MPA_INSUFFICIENT_IRD, 2006, false, false",
        "MPA_NO_MATCHING_RTR, 2007, false, false"
    })
    void shouldHaveTheNumbersOfTheRfc(TerminateCause cause, String code, boolean ddpHeader, boolean readHeader) {
        assertEquals(code, String.format("%04x", cause.code()));
        assertSame(cause, TerminateCause.ofCode(cause.code()), "and back");
        assertEquals(ddpHeader, cause.includesDdpHeader(), "DDP header");
        assertEquals(readHeader, cause.includesRdmapHeader(), "READ request");
    }

    @Test
    void shouldHaveNoTwoCausesWithTheSameNumbers() {
        for (TerminateCause cause : TerminateCause.values()) {
            assertSame(cause, TerminateCause.ofCode(cause.code()));
        }
    }

    @ParameterizedTest
    @CsvSource({"0x0105", "0x1001", "0x1105", "0x1200", "0x2000", "0x2008", "0x3000", "0xFFFF", "0x10100", "-1"})
    void shouldKnowNoCauseForOtherNumbers(int code) {
        assertNull(TerminateCause.ofCode(code));
    }

    /** "Any value in this field is acceptable" (RFC 5040 figure 9). */
    @ParameterizedTest
    @CsvSource({"0", "1", "0xFF"})
    void shouldKnowALocalCatastrophicErrorWhateverItsCode(int code) {
        assertSame(TerminateCause.LOCAL_CATASTROPHIC, TerminateCause.ofCode(code));
    }
}
