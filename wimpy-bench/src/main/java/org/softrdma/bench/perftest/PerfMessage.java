package org.softrdma.bench.perftest;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import org.softrdma.bench.measurement.MeasurementException;

/**
 * The one message that client and server of a test exchange by SEND on a queue pair of their own, 256 bytes, big endian.
 *
 * <pre>
 *  31                            16 15                            0
 * +---------------------------------------------------------------+
 * |  magic "SRPF"                                                 |   0
 * +-------------------------------+-------------------------------+
 * |  version = 1                  |  kind                         |   4
 * +-------------------------------+-------------------------------+
 * |  values 0 to 7, 64 bits each, meaning by kind                 |   8
 * |                              ...                              |
 * +---------------------------------------------------------------+
 * |  length of the text in bytes, at most 180                     |  72
 * +---------------------------------------------------------------+
 * |  text in UTF-8, zero padding                                  |  76
 * +---------------------------------------------------------------+
 * </pre>
 *
 * Who writes what, and the values in their order; values not named are 0:
 *
 * <ul>
 *   <li>{@link #HELLO}, client: test ({@link PerfTest#number}), queue pairs, longest message, tx depth, READs in flight, flags (1 events, 2
 *       both directions), region address, region length; the text is the region's rkey in decimal
 *   <li>{@link #WELCOME}, server: region address, region length, rkey, RECVs per queue pair
 *   <li>{@link #REFUSED}, server: the text says why
 *   <li>{@link #BEGIN}, client: message size, iterations, time to go on in ns
 *   <li>{@link #READY}, server
 *   <li>{@link #END}, client: operations done
 *   <li>{@link #RESULT}, server: CPU of the process in ns, time its cores were not idle in ns (-1 if it was not pinned), time
 *       that passed in ns, own operations and their time in ns (both directions); the text is the CPU by class of thread
 *   <li>{@link #BYE}, client
 * </ul>
 *
 * Reading copies; the class has no state of its own beyond one message. Not thread-safe.
 */
final class PerfMessage {
    static final int LENGTH = 256;

    static final int HELLO = 1;
    static final int WELCOME = 2;
    static final int REFUSED = 3;
    static final int BEGIN = 4;
    static final int READY = 5;
    static final int END = 6;
    static final int RESULT = 7;
    static final int BYE = 8;

    static final int FLAG_EVENTS = 1;
    static final int FLAG_BIDIRECTIONAL = 2;

    private static final int MAGIC = 0x53525046;
    private static final int VERSION = 1;
    private static final int VALUES = 8;

    private static final int MAGIC_OFFSET = 0;
    private static final int VERSION_OFFSET = MAGIC_OFFSET + Integer.BYTES;
    private static final int KIND_OFFSET = VERSION_OFFSET + Short.BYTES;
    private static final int VALUES_OFFSET = KIND_OFFSET + Short.BYTES;
    private static final int TEXT_LENGTH_OFFSET = VALUES_OFFSET + VALUES * Long.BYTES;
    private static final int TEXT_OFFSET = TEXT_LENGTH_OFFSET + Integer.BYTES;
    static final int MAX_TEXT = LENGTH - TEXT_OFFSET;

    private static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    private final int kind;
    private final long[] values;
    private final String text;

    private PerfMessage(int kind, long[] values, String text) {
        this.kind = kind;
        this.values = values;
        this.text = text;
    }

    /**
     * A message without text.
     *
     * @param kind one of the constants
     * @param values at most 8
     */
    static PerfMessage of(int kind, long... values) {
        return withText(kind, "", values);
    }

    /**
     * A message with text, cut where it is too long.
     *
     * @param kind one of the constants
     * @param text for people
     * @param values at most 8
     */
    static PerfMessage withText(int kind, String text, long... values) {
        long[] all = new long[VALUES];
        System.arraycopy(values, 0, all, 0, values.length);
        return new PerfMessage(kind, all, text);
    }

    /**
     * Writes it.
     *
     * @param to at least {@link #LENGTH} bytes
     */
    void write(MemorySegment to) {
        to.asSlice(0, LENGTH).fill((byte) 0);
        to.set(INT, MAGIC_OFFSET, MAGIC);
        to.set(SHORT, VERSION_OFFSET, (short) VERSION);
        to.set(SHORT, KIND_OFFSET, (short) kind);
        for (int i = 0; i < VALUES; i++) {
            to.set(LONG, VALUES_OFFSET + (long) i * Long.BYTES, values[i]);
        }
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        int length = Math.min(bytes.length, MAX_TEXT);
        to.set(INT, TEXT_LENGTH_OFFSET, length);
        MemorySegment.copy(MemorySegment.ofArray(bytes), 0, to, TEXT_OFFSET, length);
    }

    /**
     * Reads one.
     *
     * @param from what arrived
     * @throws MeasurementException with one sentence if it is not one of ours
     */
    static PerfMessage read(MemorySegment from) {
        if (from.byteSize() != LENGTH || from.get(INT, MAGIC_OFFSET) != MAGIC) {
            throw new MeasurementException("the peer does not speak the protocol of softrdma perf (message of "
                    + from.byteSize() + " bytes): is another program listening there?");
        }
        int version = from.get(SHORT, VERSION_OFFSET) & 0xFFFF;
        if (version != VERSION) {
            throw new MeasurementException(
                    "the peer speaks version " + version + " of the protocol of softrdma perf, this is version "
                            + VERSION + ": use the same release at both ends");
        }
        int textLength = from.get(INT, TEXT_LENGTH_OFFSET);
        if (textLength < 0 || textLength > MAX_TEXT) {
            throw new MeasurementException("the peer sent a control message with a text of " + textLength + " bytes");
        }
        long[] values = new long[VALUES];
        for (int i = 0; i < VALUES; i++) {
            values[i] = from.get(LONG, VALUES_OFFSET + (long) i * Long.BYTES);
        }
        byte[] bytes = from.asSlice(TEXT_OFFSET, textLength).toArray(ValueLayout.JAVA_BYTE);
        return new PerfMessage(
                from.get(SHORT, KIND_OFFSET) & 0xFFFF, values, new String(bytes, StandardCharsets.UTF_8));
    }

    /** What it is. */
    int kind() {
        return kind;
    }

    /** One of its values. */
    long value(int index) {
        return values[index];
    }

    /** Its text, perhaps empty. */
    String text() {
        return text;
    }
}
