package org.softrdma.kv.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.softrdma.kv.server.BinaryClient.NO_EXTRAS;
import static org.softrdma.kv.server.BinaryClient.count;
import static org.softrdma.kv.server.BinaryClient.store;
import static org.softrdma.kv.server.BinaryClient.word;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.softrdma.kv.client.MemcachedProcess;

/**
 * The same frames to memcached and to us must bring the same frames back, but for cas numbers. Skipped where memcached
 * is not installed. Where we differ on purpose no frame is made: memcached skips more than the body of an unknown
 * request that has one, takes what follows the key of touch, gat and stat for the next request, does not know
 * verbosity, and waits for a key that is longer than the body.
 */
class BinaryParityTest {
    private static final int[] EXPTIMES = {0, 0, 0, 1000, -1, 0x8000_0000, 2_592_000, 2_592_001};
    private static final String[] TEXTS = {"a", "key with blanks\r\n", "k".repeat(250)};

    /**
     * Of these nothing is appended to: a number that gets shorter keeps its length, as blanks, but not in memcached while
     * one of its threads holds the item to move it in the LRU.
     */
    private static final String[] NUMBERS = {"n", "m", "0"};

    /** With what is added to them none reaches 2^63: KnownDifference.MEMORY_BEHIND. */
    private static final String[] VALUES = {"", "0", "7", "99", "4611686018427387904", "x", "12 ", "some\r\nvalue"};

    /** The most that is added at once. */
    private static final long LARGEST_INCREMENT = 1L << 40;

    /** Everything that has a shape of its own but verbosity. */
    private static final int[] OPCODES = {
        0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x11, 0x12, 0x13, 0x14,
        0x15, 0x16, 0x19, 0x1a, 0x1c, 0x1d, 0x1e, 0x23, 0x24
    };

    private static MemcachedProcess memcached;
    private static RunningServer ours;

    @BeforeAll
    static void start() throws Exception {
        memcached = new MemcachedProcess().soiled();
        ours = new RunningServer(context -> context.version(versionOf(memcached)));
    }

    private static String versionOf(MemcachedProcess process) {
        try (BinaryClient client = new BinaryClient(process.address())) {
            return client.ask(BinaryClient.VERSION, NO_EXTRAS, "", "").value();
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    @AfterAll
    static void stop() {
        if (memcached != null) {
            memcached.close();
            ours.close();
        }
    }

    /** A conversation with both, each of which has cas numbers of its own. */
    private static final class Both implements AutoCloseable {
        private BinaryClient theirs;
        private BinaryClient our;

        Both() throws IOException {
            theirs = new BinaryClient(memcached.address());
            our = new BinaryClient(ours.address());
        }

        /** The answers, which are the same. */
        List<String> ask(int opcode, byte[] extras, String key, String value, int opaque, Cas cas) throws IOException {
            List<String> expected =
                    theirs.askAll(BinaryClient.frame(opcode, extras, key, value, opaque, cas.of(theirs.lastCas())));
            List<String> answers =
                    our.askAll(BinaryClient.frame(opcode, extras, key, value, opaque, cas.of(our.lastCas())));
            assertEquals(
                    expected.stream().map(String::stripTrailing).toList(),
                    answers.stream().map(String::stripTrailing).toList(),
                    () -> "opcode %02x extras %d key %s value %s cas %s"
                            .formatted(opcode, extras.length, key, value, cas));
            if (expected.contains("closed")) {
                close();
                theirs = new BinaryClient(memcached.address());
                our = new BinaryClient(ours.address());
            }
            return expected;
        }

        @Override
        public void close() throws IOException {
            theirs.close();
            our.close();
        }
    }

    private enum Cas {
        NONE,
        LAST,
        WRONG;

        long of(long last) {
            return switch (this) {
                case NONE -> 0;
                case LAST -> last;
                case WRONG -> 1L << 60;
            };
        }
    }

    private static byte[] extras(int opcode, Random random) {
        int exptime = EXPTIMES[random.nextInt(EXPTIMES.length)];
        return switch (opcode) {
            case 0x01, 0x02, 0x03, 0x11, 0x12, 0x13 -> store(random.nextInt(), exptime);
            case 0x05, 0x15 -> count(delta(random, random.nextLong(LARGEST_INCREMENT)), random.nextInt(100), exptime);
            case 0x06, 0x16 -> count(delta(random, random.nextLong()), random.nextInt(100), exptime);
            case 0x1c, 0x1d, 0x1e, 0x23, 0x24 -> word(exptime);
            default -> NO_EXTRAS;
        };
    }

    private static long delta(Random random, long large) {
        return random.nextInt(4) == 0 ? large : random.nextInt(20);
    }

    private static String key(int opcode, Random random) {
        boolean number = switch (opcode) {
            case 0x05, 0x06, 0x15, 0x16 -> true;
            case 0x0e, 0x0f, 0x19, 0x1a -> false;
            default -> random.nextBoolean();
        };
        return number ? NUMBERS[random.nextInt(NUMBERS.length)] : TEXTS[random.nextInt(TEXTS.length)];
    }

    private static boolean hasKey(int opcode) {
        return opcode != 0x0a && opcode != 0x0b;
    }

    private static boolean hasValue(int opcode) {
        return switch (opcode) {
            case 0x01, 0x02, 0x03, 0x0e, 0x0f, 0x11, 0x12, 0x13, 0x19, 0x1a -> true;
            default -> false;
        };
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void shouldAnswerFramesAsMemcachedDoes(long seed) throws IOException {
        Random random = new Random(seed);
        try (Both both = new Both()) {
            both.ask(BinaryClient.FLUSH, NO_EXTRAS, "", "", 0, Cas.NONE);
            int answered = 0;
            for (int i = 0; i < 3000; i++) {
                int opcode = OPCODES[random.nextInt(OPCODES.length)];
                String key = hasKey(opcode) ? key(opcode, random) : "";
                String value = hasValue(opcode) ? VALUES[random.nextInt(VALUES.length)] : "";
                Cas cas = random.nextInt(3) > 0 ? Cas.NONE : Cas.values()[1 + random.nextInt(2)];
                answered += both.ask(opcode, extras(opcode, random), key, value, random.nextInt(), cas)
                        .size();
            }
            assertEquals(true, answered > 1500, () -> "seed " + seed);
        }
    }

    /** A number below 2^63 each time, see {@link #VALUES}. */
    @ParameterizedTest
    @ValueSource(longs = {1L << 62, Long.MAX_VALUE, Long.MIN_VALUE, Long.MIN_VALUE + 1, -2, -1})
    void shouldCountByUnsignedNumbersAsMemcachedDoes(long delta) throws IOException {
        try (Both both = new Both()) {
            for (int opcode : new int[] {0x05, 0x06}) {
                for (String number : new String[] {"0", "1", "9223372036854775807"}) {
                    both.ask(BinaryClient.SET, store(1, 0), "n", number, 1, Cas.NONE);
                    both.ask(opcode, count(delta, 0, 0), "n", "", 1, Cas.NONE);
                    both.ask(BinaryClient.GET, NO_EXTRAS, "n", "", 1, Cas.NONE);
                }
            }
        }
    }

    /** Every opcode in shapes that are none of its. */
    @Test
    void shouldRefuseFramesAsMemcachedDoes() throws IOException {
        try (Both both = new Both()) {
            for (int opcode : OPCODES) {
                int fit = extras(opcode, new Random(1)).length;
                for (int extras : new int[] {0, 4, 8, 20}) {
                    for (String key : new String[] {"", "k", "k".repeat(250), "k".repeat(251)}) {
                        for (String value : new String[] {"", "v"}) {
                            boolean touches = opcode == 0x1c || opcode == 0x1d || opcode == 0x1e || opcode >= 0x23;
                            if (touches && extras == fit && !value.isEmpty()) {
                                continue; // see the class
                            }
                            both.ask(opcode, new byte[extras], key, value, opcode, Cas.NONE);
                        }
                    }
                }
            }
        }
    }

    @Test
    void shouldAnswerTheRestAsMemcachedDoes() throws IOException {
        try (Both both = new Both()) {
            List<List<String>> answers = new ArrayList<>();
            for (int opcode : new int[] {0x1f, 0x25, 0x30, 0x3d, 0x7f, 0x80, 0xff, 0x20, 0x21, 0x22}) {
                answers.add(both.ask(opcode, NO_EXTRAS, "", "", 5, Cas.NONE));
            }
            answers.add(both.ask(BinaryClient.SASL_AUTH, NO_EXTRAS, "PLAIN", "\0u\0p", 5, Cas.NONE));
            answers.add(both.ask(BinaryClient.SASL_STEP, NO_EXTRAS, "PLAIN", "\0u\0p", 5, Cas.NONE));
            both.ask(BinaryClient.SET, store(1, 0), "k", "v", 1, Cas.NONE);
            answers.add(both.ask(BinaryClient.STAT, NO_EXTRAS, "nosuch", "", 5, Cas.NONE));
            answers.add(both.ask(BinaryClient.STAT, NO_EXTRAS, "detail", "", 5, Cas.NONE));
            answers.add(both.ask(BinaryClient.STAT, NO_EXTRAS, "detail on", "", 5, Cas.NONE));
            answers.add(both.ask(BinaryClient.GET, NO_EXTRAS, "p:a", "", 5, Cas.NONE));
            answers.add(both.ask(BinaryClient.STAT, NO_EXTRAS, "detail dump", "", 5, Cas.NONE));
            answers.add(both.ask(BinaryClient.STAT, NO_EXTRAS, "detail off", "", 5, Cas.NONE));
            answers.add(both.ask(BinaryClient.STAT, NO_EXTRAS, "reset", "", 5, Cas.NONE));
            answers.add(both.ask(BinaryClient.STAT, word(1), "", "", 5, Cas.NONE));
            answers.add(both.ask(BinaryClient.SET, store(1, 0), "k", "x".repeat((1 << 20) + 1), 1, Cas.NONE));
            answers.add(both.ask(BinaryClient.GET, NO_EXTRAS, "k", "", 1, Cas.NONE));
            answers.add(both.ask(BinaryClient.SET, store(1, 0), "k", "v", 1, Cas.NONE));
            answers.add(both.ask(BinaryClient.FLUSH, word(100), "", "", 1, Cas.NONE));
            answers.add(both.ask(BinaryClient.GET, NO_EXTRAS, "k", "", 1, Cas.NONE));
            answers.add(both.ask(BinaryClient.FLUSHQ, word(0), "", "", 1, Cas.NONE));
            answers.add(both.ask(BinaryClient.GET, NO_EXTRAS, "k", "", 1, Cas.NONE));
            answers.add(both.ask(BinaryClient.QUIT, NO_EXTRAS, "", "", 1, Cas.NONE));
            answers.add(both.ask(BinaryClient.QUITQ, NO_EXTRAS, "", "", 1, Cas.NONE));
            assertEquals(false, answers.contains(List.of()) && answers.indexOf(List.of()) < 10);
        }
    }
}
