package org.softrdma.kv.parity;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalLong;
import java.util.random.RandomGenerator;
import org.softrdma.kv.binary.BinaryOperation;
import org.softrdma.kv.binary.FrameDescriptor;

/**
 * The binary protocol: mostly frames that do something, with few keys so that they meet; some with an opcode that no
 * operation has, or with lengths that do not fit. What is not drawn: a length that promises more than follows.
 */
final class BinaryDialect implements Dialect {
    private static final List<String> KEYS = List.of("a", "b", "c", "a", "b", "key:with:prefix", "k".repeat(250));
    private static final List<String> ODD_KEYS = List.of("k".repeat(251), "a b", "\u0000", "a\r\nb", "\u00e9");
    /** None with a minus, none of blanks alone: KnownDifference.MEMORY_BEHIND. */
    private static final List<String> VALUES = List.of(
            "",
            "x",
            "5",
            "10",
            "99",
            "+7",
            " 5",
            "5 ",
            "1x2",
            "18446744073709551615",
            "184467440737095516150",
            "00000000000000000000000012",
            "\u0000\u0001\u00ff",
            "y".repeat(100),
            "z".repeat(3000));

    private static final int[] EXPTIMES = {0, 0, 0, 0, 100, 1000, 2591999, 2592001, 1_000_000_000, Integer.MAX_VALUE, -1
    };
    private static final int[] FLAGS = {0, 0, 7, 7, 1, -1, Integer.MIN_VALUE};
    private static final long[] NUMBERS = {0, 1, 2, 10, 99, Long.MAX_VALUE, Long.MIN_VALUE, -1};
    private static final List<String> STATISTICS = List.of("bogus", "detail", "detail x", "detail off");
    private static final List<BinaryOperation> OPERATIONS = Arrays.stream(BinaryOperation.values())
            .filter(each -> each != BinaryOperation.UNKNOWN)
            .filter(each -> each != BinaryOperation.VERBOSITY) // KnownDifference.UNANSWERED_VERBOSITY
            .toList();
    private static final List<BinaryOperation> ARITHMETIC =
            List.of(BinaryOperation.INCREMENT, BinaryOperation.DECREMENT);
    private static final int MARKER_OPAQUE = 0x5a000000;
    private static final int ODDS = 100;

    private RandomGenerator random = RandomGenerator.getDefault();

    @Override
    public Unit store() {
        return unit(BinaryOperation.SET.opcode(), ints(0, 0), "a", "x", Unit.NO_BINARY_CAS);
    }

    @Override
    public Unit reset() {
        return unit(BinaryOperation.FLUSH.opcode(), "", "", "", Unit.NO_BINARY_CAS);
    }

    @Override
    public byte[] marker(int number) {
        return header(FrameDescriptor.REQUEST_MAGIC, BinaryOperation.NOOP.opcode(), 0, 0, 0, MARKER_OPAQUE + number);
    }

    @Override
    public byte[] markerAnswer(int number) {
        return header(FrameDescriptor.ANSWER_MAGIC, BinaryOperation.NOOP.opcode(), 0, 0, 0, MARKER_OPAQUE + number);
    }

    @Override
    public Unit next(RandomGenerator source) {
        random = source;
        int odds = random.nextInt(ODDS);
        if (odds < 30) {
            return request(one(List.of(
                    BinaryOperation.SET,
                    BinaryOperation.SET,
                    BinaryOperation.ADD,
                    BinaryOperation.REPLACE,
                    BinaryOperation.APPEND,
                    BinaryOperation.PREPEND)));
        }
        if (odds < 55) {
            return request(one(List.of(
                    BinaryOperation.GET,
                    BinaryOperation.GETK,
                    BinaryOperation.GAT,
                    BinaryOperation.GATK,
                    BinaryOperation.TOUCH)));
        }
        if (odds < 80) {
            return request(one(List.of(BinaryOperation.INCREMENT, BinaryOperation.DECREMENT, BinaryOperation.DELETE)));
        }
        if (odds < 88) {
            return request(one(OPERATIONS));
        }
        return odds < 90 ? unknown() : misshapen();
    }

    private byte opcode(BinaryOperation operation) {
        return operation.hasQuietForm() && random.nextInt(3) == 0 ? operation.quietOpcode() : operation.opcode();
    }

    /** Its key and extras would be KnownDifference.UNKNOWN_OPERATION. */
    private Unit unknown() {
        return unit((byte) (0x30 + random.nextInt(0x80)), "", "", one(VALUES), cas());
    }

    private Unit request(BinaryOperation operation) {
        byte opcode = opcode(operation);
        String key = random.nextInt(25) == 0 ? one(ODD_KEYS) : one(KEYS);
        return switch (operation) {
            case SET, ADD, REPLACE -> unit(opcode, ints(one(FLAGS), exptime()), key, one(VALUES), cas());
            case APPEND, PREPEND -> unit(opcode, "", key, one(VALUES), cas());
            case GET, GETK, DELETE -> unit(opcode, "", key, "", cas());
            case TOUCH, GAT, GATK -> unit(opcode, ints(exptime()), key, "", cas());
            case INCREMENT, DECREMENT ->
                unit(opcode, longs(one(NUMBERS), one(NUMBERS)) + ints(exptime()), key, "", cas());
            case FLUSH -> unit(opcode, random.nextBoolean() ? "" : ints(0), "", "", cas());
            case STAT -> unit(opcode, "", one(STATISTICS), "", cas());
            case SASL_AUTH, SASL_STEP -> unit(opcode, "", "PLAIN", "\u0000user\u0000password", cas());
            default -> unit(opcode, "", "", "", cas());
        };
    }

    /** A request to change a number that is there. */
    Unit arithmetic(byte opcode, String key, long delta) {
        return unit(opcode, longs(delta, 0) + ints(0), key, "", Unit.NO_BINARY_CAS);
    }

    /** The answer with a number. */
    byte[] arithmeticAnswer(byte opcode, long number) {
        byte[] header = header(FrameDescriptor.ANSWER_MAGIC, opcode, 0, 0, Long.BYTES, 0);
        return ByteBuffer.allocate(header.length + Long.BYTES)
                .put(header)
                .putLong(number)
                .array();
    }

    /** A frame whose lengths fit into each other, but perhaps not what its opcode needs. */
    private Unit misshapen() {
        BinaryOperation operation = one(OPERATIONS);
        byte opcode = opcode(operation);
        String extras = "\u0000".repeat(one(new int[] {0, 1, 4, 8, 20, 21}));
        String key = random.nextInt(3) == 0 ? "" : one(KEYS);
        boolean stat = operation == BinaryOperation.STAT; // of all statistics few are equal
        return unit(opcode, extras, stat ? "bogus" : key, random.nextBoolean() ? "" : one(VALUES), cas());
    }

    private String cas() {
        return switch (random.nextInt(8)) {
            case 0, 1 -> Unit.BINARY_CAS;
            case 2 -> longs(Long.parseLong(Unit.OLDER_CAS));
            default -> Unit.NO_BINARY_CAS;
        };
    }

    private int exptime() {
        return one(EXPTIMES);
    }

    private <T> T one(List<T> list) {
        return list.get(random.nextInt(list.size()));
    }

    private int one(int[] array) {
        return array[random.nextInt(array.length)];
    }

    private long one(long[] array) {
        return array[random.nextInt(array.length)];
    }

    private static Unit unit(byte opcode, String extras, String key, String value, String cas) {
        byte[] header = header(
                FrameDescriptor.REQUEST_MAGIC,
                opcode,
                extras.length(),
                key.length(),
                extras.length() + key.length() + value.length(),
                0);
        String start = new String(header, 0, FrameDescriptor.LENGTH - Long.BYTES, StandardCharsets.ISO_8859_1);
        return new Unit(start + cas + extras + key + value, false);
    }

    private static byte[] header(byte magic, byte opcode, int extras, int key, int body, int opaque) {
        byte[] header = new byte[FrameDescriptor.LENGTH];
        FrameDescriptor.write(header, magic, opcode, 0, extras, key, body, opaque, 0);
        return header;
    }

    private static String ints(int... numbers) {
        StringBuilder text = new StringBuilder();
        for (int number : numbers) {
            text.append(Unit.bigEndian(number, Integer.BYTES));
        }
        return text.toString();
    }

    private static String longs(long... numbers) {
        StringBuilder text = new StringBuilder();
        for (long number : numbers) {
            text.append(Unit.bigEndian(number, Long.BYTES));
        }
        return text.toString();
    }

    /** A line for each frame. */
    @Override
    public String plain(String answer) {
        StringBuilder lines = new StringBuilder();
        int at = 0;
        while (answer.length() - at >= FrameDescriptor.LENGTH) {
            byte[] frame = answer.substring(at).getBytes(StandardCharsets.ISO_8859_1);
            int body = (int) FrameDescriptor.bodyLength(frame);
            if (frame.length < FrameDescriptor.LENGTH + body) {
                break;
            }
            int extras = FrameDescriptor.extrasLength(frame);
            String rest = answer.substring(at + FrameDescriptor.LENGTH, at + FrameDescriptor.LENGTH + body);
            lines.append(String.format(
                    "%02x opcode %02x status %02x extras %d key %d opaque %x cas %s: %s%n",
                    FrameDescriptor.magic(frame),
                    FrameDescriptor.opcode(frame),
                    FrameDescriptor.status(frame),
                    extras,
                    FrameDescriptor.keyLength(frame),
                    FrameDescriptor.opaque(frame),
                    FrameDescriptor.cas(frame) == 0 ? "0" : "N",
                    visible(frame, rest)));
            at += FrameDescriptor.LENGTH + body;
        }
        return lines + answer.substring(at);
    }

    private static String visible(byte[] frame, String rest) {
        byte opcode = FrameDescriptor.opcode(frame);
        if (opcode == BinaryOperation.VERSION.opcode()) {
            return "its version";
        }
        boolean number = ARITHMETIC.stream().anyMatch(each -> opcode == each.opcode() || opcode == each.quietOpcode());
        if (number && FrameDescriptor.status(frame) == 0 && rest.length() == Long.BYTES) {
            return Long.toUnsignedString(
                    ByteBuffer.wrap(rest.getBytes(StandardCharsets.ISO_8859_1)).getLong());
        }
        return Unit.visible(rest);
    }

    @Override
    public OptionalLong cas(String answer) {
        OptionalLong last = OptionalLong.empty();
        int at = 0;
        while (answer.length() - at >= FrameDescriptor.LENGTH) {
            byte[] frame = answer.substring(at).getBytes(StandardCharsets.ISO_8859_1);
            if (FrameDescriptor.cas(frame) != 0) {
                last = OptionalLong.of(FrameDescriptor.cas(frame));
            }
            at += FrameDescriptor.LENGTH + (int) FrameDescriptor.bodyLength(frame);
        }
        return last;
    }
}
