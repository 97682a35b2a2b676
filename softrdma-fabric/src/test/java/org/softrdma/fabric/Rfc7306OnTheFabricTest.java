package org.softrdma.fabric;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.softrdma.fabric.memory.Grains;
import org.softrdma.fabric.scheduler.SimulatedThread;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionOpcode;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.WorkCompletion;

/**
 * Atomics and WRITE with immediate where a device does whatever verbs allow: copies by single bytes in any order,
 * completions that are seen late.
 */
class Rfc7306OnTheFabricTest {
    /** By hand more, as -Dsoftrdma.test.seeds=10000. */
    private static final int SEEDS =
            Integer.getInteger("softrdma.test.seeds", 500 / Integer.getInteger("softrdma.sample", 1));

    private static final FabricSettings BYTES = FabricSettings.adversary().with(new Grains(1));
    private static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle();
    private static final int UPDATES = 6;
    private static final int MESSAGES = 6;
    private static final int MOST_BYTES = 600;

    private static final long CAS = 1;
    private static final long READ = 2;

    private interface Body {
        void run(Ends ends) throws Exception;
    }

    private static void forEachSeed(Body body) {
        for (long seed = 0; seed < SEEDS; seed++) {
            try {
                Ends.run(seed, BYTES, body::run);
            } catch (AssertionError | RuntimeException e) {
                throw new AssertionError("seed " + seed + ": " + e.getMessage(), e);
            }
        }
    }

    private static void accepted(PostStatus status) {
        assertEquals(PostStatus.ACCEPTED, status);
    }

    // ---- a counter

    /** Both halves of the word say the same: a word of which a part was seen does not. */
    private static long value(long number) {
        return number << Integer.SIZE | number;
    }

    private static long number(long value) {
        assertEquals(
                value >>> Integer.SIZE, value & 0xFFFF_FFFFL, "a value that never was: 0x" + Long.toHexString(value));
        return value >>> Integer.SIZE;
    }

    /** What a client knows of the counter. */
    private static final class Counting {
        private long known;
        private long read;
        private int swapped;
    }

    /** One compare-and-swap and one READ are under way at a time, on connections of their own. */
    private static void count(Ends ends, Ends.Link swapping, Ends.Link reading, MemoryRegion word, Counting counting) {
        MemoryRegion result = ends.client().region(2 * Long.BYTES);
        MemorySegment seen = result.memory();
        while (counting.known < 2 * UPDATES) {
            accepted(swapping.client()
                    .postCompareAndSwap(
                            CAS,
                            result,
                            0,
                            word.address(),
                            word.rkey(),
                            value(counting.known),
                            value(counting.known + 1),
                            SendFlags.SIGNALLED));
            accepted(reading.client()
                    .postRead(READ, result, Long.BYTES, Long.BYTES, word.address(), word.rkey(), SendFlags.SIGNALLED));
            for (int i = 0; i < 2; i++) {
                WorkCompletion completion = ends.client().next(ends.client().sends());
                assertEquals(CompletionStatus.SUCCESS, completion.status());
                if (completion.wrId() == READ) {
                    long number = number(seen.get(ValueLayout.JAVA_LONG, Long.BYTES));
                    assertTrue(number >= counting.read, number + " READ after " + counting.read);
                    counting.read = number;
                } else {
                    long before = number(seen.get(ValueLayout.JAVA_LONG, 0));
                    boolean swapped = before == counting.known;
                    counting.swapped += swapped ? 1 : 0;
                    assertTrue(before >= counting.known, before + " found after " + counting.known);
                    counting.known = swapped ? before + 1 : before;
                }
            }
        }
        result.close();
    }

    @Tag("sampled")
    @Test
    void shouldShowNoReadAValueOfACounterThatNeverWas() {
        int[] both = new int[1];
        forEachSeed(ends -> {
            Ends.Link swapping = ends.connect();
            Ends.Link reading = ends.connect();
            MemoryRegion word = ends.server().region(Long.BYTES, AccessFlag.REMOTE_ATOMIC, AccessFlag.REMOTE_READ);
            MemorySegment memory = word.memory();
            int[] ownSwaps = new int[1];
            SimulatedThread server = ends.serve(() -> {
                for (int i = 0; i < UPDATES; i++) {
                    ends.fabric()
                            .scheduler()
                            .sleep(ends.fabric().scheduler().choices().between(1, 40_000));
                    long before = (long) WORD.getVolatile(memory, 0L);
                    ends.fabric().scheduler().step();
                    boolean swapped = WORD.compareAndSet(memory, 0L, before, value(number(before) + 1));
                    ownSwaps[0] += swapped ? 1 : 0;
                }
            });
            Counting counting = new Counting();
            count(ends, swapping, reading, word, counting);
            assertTrue(ends.fabric().scheduler().until(server::isEnded, Ends.PATIENCE_NS));
            assertEquals(
                    counting.swapped + ownSwaps[0],
                    number((long) WORD.getVolatile(memory, 0L)),
                    "each swap counts once");
            both[0] += ownSwaps[0] > 0 && counting.swapped > 0 ? 1 : 0;
            swapping.close();
            reading.close();
            word.close();
        });
        assertTrue(both[0] > SEEDS / 2, "the two sides took turns in " + both[0] + " runs only");
    }

    // ---- WRITE with immediate

    private static byte at(long message, int offset) {
        return (byte) (message * 31 + offset * 7L + 1);
    }

    @Tag("sampled")
    @Test
    void shouldShowAConsumerOfTheImmediateEveryByteOfTheWrite() {
        forEachSeed(ends -> {
            Ends.Link link = ends.connect();
            MemoryRegion target = ends.server().region(MESSAGES * MOST_BYTES, AccessFlag.REMOTE_WRITE);
            MemoryRegion source = ends.client().region(MESSAGES * MOST_BYTES);
            MemoryRegion untouched = ends.server().region(8);
            for (int i = 0; i < MESSAGES; i++) {
                accepted(link.server().postReceive(i, untouched, 0, 8));
            }
            SimulatedThread consumer = ends.serve(() -> consume(ends, target));
            for (int i = 0; i < MESSAGES; i++) {
                int length = ends.fabric().scheduler().choices().below(MOST_BYTES);
                for (int at = 0; at < length; at++) {
                    source.memory().set(ValueLayout.JAVA_BYTE, (long) i * MOST_BYTES + at, at(i, at));
                }
                accepted(link.client()
                        .postWriteImmediate(
                                i,
                                source,
                                (long) i * MOST_BYTES,
                                length,
                                target.address() + (long) i * MOST_BYTES,
                                target.rkey(),
                                length,
                                SendFlags.SIGNALLED | (i % 2 == 0 ? 0 : SendFlags.SOLICITED)));
            }
            for (int i = 0; i < MESSAGES; i++) {
                WorkCompletion completion = ends.client().next(ends.client().sends());
                assertEquals(CompletionStatus.SUCCESS, completion.status());
                assertEquals(i, completion.wrId());
                assertEquals(CompletionOpcode.WRITE, completion.opcode());
            }
            assertTrue(ends.fabric().scheduler().until(consumer::isEnded, Ends.PATIENCE_NS));
            assertEquals(0, untouched.memory().get(ValueLayout.JAVA_LONG, 0), "the RECVs' buffer");
            link.close();
            target.close();
            source.close();
            untouched.close();
        });
    }

    private static void consume(Ends ends, MemoryRegion target) {
        for (int i = 0; i < MESSAGES; i++) {
            WorkCompletion completion = ends.server().next(ends.server().receives());
            assertEquals(CompletionStatus.SUCCESS, completion.status());
            assertEquals(CompletionOpcode.RECEIVE_WRITE_IMMEDIATE, completion.opcode());
            assertEquals(i, completion.wrId());
            assertEquals(completion.byteLength(), completion.immediate());
            for (int at = 0; at < completion.immediate(); at++) {
                assertEquals(
                        at(i, at),
                        target.memory().get(ValueLayout.JAVA_BYTE, (long) i * MOST_BYTES + at),
                        "byte " + at + " of message " + i);
            }
        }
    }
}
