package org.softrdma.kv.binary;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class BinaryDecoderTest {
    private static final byte[] KEY = ascii("key");

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    private static byte[] frame(int opcode, int extras, byte[] key, byte[] value) {
        byte[] frame = new byte[FrameDescriptor.LENGTH + extras + key.length + value.length];
        FrameDescriptor.write(
                frame,
                FrameDescriptor.REQUEST_MAGIC,
                (byte) opcode,
                0,
                extras,
                key.length,
                extras + key.length + value.length,
                opcode,
                0);
        System.arraycopy(key, 0, frame, FrameDescriptor.LENGTH + extras, key.length);
        System.arraycopy(value, 0, frame, frame.length - value.length, value.length);
        return frame;
    }

    /** What happens with bytes that are cut behind some of them. */
    private static List<String> decode(byte[] bytes, int... cuts) {
        BinaryDecoder decoder = new BinaryDecoder();
        List<String> events = new ArrayList<>();
        byte[] value = new byte[64];
        int from = 0;
        for (int cut : Arrays.copyOf(cuts, cuts.length + 1)) {
            int to = cut == 0 ? bytes.length : cut;
            ByteBuffer input = ByteBuffer.wrap(bytes, from, to - from);
            for (BinaryDecoder.Event event = decoder.next(input);
                    event != BinaryDecoder.Event.NEED_INPUT;
                    event = decoder.next(input)) {
                BinaryRequest request = decoder.request();
                if (event == BinaryDecoder.Event.REQUEST) {
                    boolean good = request.fault() == BinaryRequest.Fault.NONE;
                    events.add(request.operation()
                            + (request.isQuiet() ? " quiet " : " ")
                            + (good ? request.key().toString() : request.fault()));
                    decoder.expectValue(ByteBuffer.wrap(value)::put);
                } else if (event == BinaryDecoder.Event.VALUE) {
                    events.add(new String(value, 0, (int) request.valueLength(), StandardCharsets.US_ASCII));
                } else {
                    events.add(event.toString());
                }
                if (event == BinaryDecoder.Event.NO_FRAME || request.fault() != BinaryRequest.Fault.NONE) {
                    return events;
                }
            }
            from = to;
        }
        return events;
    }

    @Test
    void shouldFindTheSameWhereverTheBytesAreCut() {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        bytes.writeBytes(frame(0x01, 8, KEY, ascii("some value")));
        bytes.writeBytes(frame(0x0d, 0, ascii("k"), ascii("")));
        bytes.writeBytes(frame(0x70, 30, ascii("unknown"), ascii("skipped")));
        bytes.writeBytes(frame(0x11, 8, KEY, ascii("")));
        bytes.writeBytes(frame(0x0a, 0, ascii(""), ascii("")));
        bytes.writeBytes(frame(0x19, 0, KEY, ascii("x")));
        List<String> expected = List.of(
                "SET key",
                "some value",
                "GETK quiet k",
                "UNKNOWN ",
                "SET quiet key",
                "",
                "NOOP ",
                "APPEND quiet key",
                "x");
        byte[] all = bytes.toByteArray();
        List<String> whole = decode(all);
        assertEquals(
                expected,
                whole.stream()
                        .map(each -> each.startsWith("UNKNOWN") ? "UNKNOWN " : each)
                        .toList());
        for (int first = 1; first < all.length; first++) {
            for (int second = first + 1; second < all.length; second += 7) {
                assertEquals(whole, decode(all, first, second), "cuts at " + first + " and " + second);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(BinaryOperation.class)
    void shouldTakeAnOperationInItsShapeOnly(BinaryOperation operation) {
        int[] opcodes = operation == BinaryOperation.UNKNOWN
                ? new int[] {0x1f, 0x30, 0xff}
                : operation.hasQuietForm()
                        ? new int[] {operation.opcode(), operation.quietOpcode()}
                        : new int[] {operation.opcode()};
        for (int opcode : opcodes) {
            Set<String> taken = new HashSet<>();
            for (int extras = 0; extras <= 24; extras++) {
                for (int key : new int[] {0, 1, 250, 251}) {
                    for (int value : new int[] {0, 1}) {
                        byte[] frame = frame(opcode, extras, new byte[key], new byte[value]);
                        if (!decode(frame).getFirst().endsWith("SHAPE")) {
                            taken.add(extras + "," + key + "," + value);
                        }
                    }
                }
            }
            assertEquals(shapes(operation), taken, operation + " " + opcode);
        }
    }

    /** As protocol_binary.txt has them. */
    private static Set<String> shapes(BinaryOperation operation) {
        return switch (operation) {
            case GET, GETK, DELETE -> Set.of("0,1,0", "0,250,0");
            case SET, ADD, REPLACE -> Set.of("8,1,0", "8,250,0", "8,1,1", "8,250,1");
            case APPEND, PREPEND, SASL_AUTH, SASL_STEP -> Set.of("0,1,0", "0,250,0", "0,1,1", "0,250,1");
            case INCREMENT, DECREMENT -> Set.of("20,1,0", "20,250,0");
            case TOUCH, GAT, GATK -> Set.of("4,1,0", "4,250,0");
            case QUIT, NOOP, VERSION, SASL_LIST -> Set.of("0,0,0");
            case FLUSH -> Set.of("0,0,0", "4,0,0");
            case VERBOSITY -> Set.of("4,0,0");
            case STAT -> Set.of("0,0,0", "0,1,0", "0,250,0");
            case UNKNOWN -> {
                Set<String> all = new HashSet<>();
                for (int extras = 0; extras <= 24; extras++) {
                    for (String rest : List.of("0,0", "0,1", "1,0", "1,1", "250,0", "250,1")) {
                        all.add(extras + "," + rest);
                    }
                }
                yield all;
            }
        };
    }

    @Test
    void shouldNotTakeLengthsThatDoNotFit() {
        byte[] frame = frame(0x01, 8, KEY, ascii("v"));
        for (int body = 0; body < 11; body++) {
            FrameDescriptor.write(frame, FrameDescriptor.REQUEST_MAGIC, (byte) 1, 0, 8, 3, body, 0, 0);
            assertEquals("LENGTHS", decode(frame).getFirst().substring(4), "body=" + body);
        }
        FrameDescriptor.write(frame, FrameDescriptor.REQUEST_MAGIC, (byte) 1, 0, 8, 3, 11, 0, 0);
        assertEquals(List.of("SET key", ""), decode(frame).subList(0, 2));
    }

    @Test
    void shouldSayAtTheFirstByteThatItIsNoRequest() {
        for (int first : new int[] {'g', 0, 0x81, 0x7f}) {
            assertEquals(List.of("NO_FRAME"), decode(new byte[] {(byte) first}));
        }
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        bytes.writeBytes(frame(0x0a, 0, ascii(""), ascii("")));
        bytes.writeBytes(ascii("get k\r\n"));
        assertEquals(List.of("NOOP ", "NO_FRAME"), decode(bytes.toByteArray()));
    }

    /** Nothing is kept of a value that nobody wants, however long it says it is. */
    @Test
    void shouldSkipAValueOfFourGigabytes() {
        byte[] header = new byte[FrameDescriptor.LENGTH];
        FrameDescriptor.write(header, FrameDescriptor.REQUEST_MAGIC, (byte) 0x70, 0, 0, 0, -1, 0, 0);
        BinaryDecoder decoder = new BinaryDecoder();
        assertEquals(BinaryDecoder.Event.REQUEST, decoder.next(ByteBuffer.wrap(header)));
        long length = 0xffff_ffffL;
        assertEquals(length, decoder.request().valueLength());
        ByteBuffer piece = ByteBuffer.allocate(1 << 24);
        for (long left = length; left > 0; ) {
            piece.position(0).limit((int) Math.min(left, piece.capacity()));
            left -= piece.remaining();
            assertEquals(BinaryDecoder.Event.NEED_INPUT, decoder.next(piece));
            assertFalse(piece.hasRemaining());
        }
        assertEquals(BinaryDecoder.Event.REQUEST, decoder.next(ByteBuffer.wrap(frame(0x0a, 0, ascii(""), ascii("")))));
        assertEquals(BinaryOperation.NOOP, decoder.request().operation());
    }

    @Test
    void shouldExpectAValueUntilItHasCome() {
        byte[] frame = frame(0x01, 8, KEY, ascii("value"));
        BinaryDecoder decoder = new BinaryDecoder();
        ByteBuffer input = ByteBuffer.wrap(frame, 0, frame.length - 1);
        assertEquals(BinaryDecoder.Event.REQUEST, decoder.next(input));
        assertTrue(decoder.expectsValue());
        assertEquals(BinaryDecoder.Event.NEED_INPUT, decoder.next(input));
        assertTrue(decoder.expectsValue());
        assertEquals(BinaryDecoder.Event.VALUE, decoder.next(ByteBuffer.wrap(frame, frame.length - 1, 1)));
        assertFalse(decoder.expectsValue());
    }
}
