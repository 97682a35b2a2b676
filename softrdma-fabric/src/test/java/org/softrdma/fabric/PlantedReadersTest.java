package org.softrdma.fabric;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.softrdma.fabric.memory.Grains;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.MemoryRegion;

/**
 * Readers that trust memory more than a device promises, each with the run that shows it. The writer is a process
 * beside the memory; the reader READs it from another node, or polls what another node WRITEs.
 */
class PlantedReadersTest {
    private static final int SEEDS = 300;
    private static final int LINE = 64;
    private static final int WORD = Long.BYTES;
    private static final int LINES = 4;
    private static final int UPDATES = 6;
    private static final long MOVE_WITHIN_NS = 300_000;

    private static final FabricSettings WORDS = FabricSettings.DEFAULT.with(Grains.WORDS);
    private static final FabricSettings CACHE_LINES = FabricSettings.DEFAULT.with(Grains.LINES);

    /** What a reader is caught at. */
    private enum Verdict {
        FINE,
        CAUGHT
    }

    private interface Reader {
        Verdict run(FabricPair pair) throws Exception;
    }

    /** Whether a reader is caught by one of the seeds. */
    private static boolean isCaught(int seeds, FabricSettings settings, Reader reader) {
        Verdict[] verdict = {Verdict.FINE};
        for (long seed = 0; seed < seeds && verdict[0] == Verdict.FINE; seed++) {
            FabricPair.run(seed, settings, pair -> verdict[0] = reader.run(pair));
        }
        return verdict[0] == Verdict.CAUGHT;
    }

    private static boolean isCaught(FabricSettings settings, Reader reader) {
        return isCaught(SEEDS, settings, reader);
    }

    private static void requireThatItPasses(FabricSettings settings, Reader reader) {
        assertFalse(isCaught(SEEDS / Integer.getInteger("softrdma.sample", 1), settings, reader));
    }

    private static void set(FabricPair pair, MemorySegment memory, long offset, long value) {
        memory.set(ValueLayout.JAVA_LONG, offset, value);
        pair.fabric().scheduler().step();
    }

    private static long word(MemorySegment memory, long offset) {
        return memory.get(ValueLayout.JAVA_LONG, offset);
    }

    // ---- versions in every cache line (FaRM, NSDI 2014, section 4.2)

    /** Each line: its version, then words that all carry the same number. 1 while it is written. */
    private static void updateLines(FabricPair pair, MemorySegment object) {
        for (long version = 2; version <= UPDATES; version++) {
            for (int line = 0; line < LINES; line++) {
                set(pair, object, (long) line * LINE, 1);
            }
            for (int line = 0; line < LINES; line++) {
                for (int at = WORD; at < LINE; at += WORD) {
                    set(pair, object, line * LINE + at, version);
                }
                set(pair, object, (long) line * LINE, version);
            }
        }
    }

    private static void fill(MemorySegment object, long version) {
        for (int at = 0; at < object.byteSize(); at += WORD) {
            object.set(ValueLayout.JAVA_LONG, at, version);
        }
    }

    private static Verdict readLines(FabricPair pair) {
        MemoryRegion object = pair.remote(LINES * LINE);
        fill(object.memory(), 2);
        MemoryRegion sink = pair.local(LINES * LINE);
        pair.serve(() -> updateLines(pair, object.memory()));
        for (int i = 0; i < UPDATES; i++) {
            MemorySegment seen = pair.read(object, 0, sink, LINES * LINE);
            long version = word(seen, 0);
            boolean accepted = version != 1;
            boolean whole = true;
            for (int at = 0; at < LINES * LINE; at += WORD) {
                accepted &= at % LINE != 0 || word(seen, at) == version;
                whole &= word(seen, at) == version;
            }
            if (accepted && !whole) {
                return Verdict.CAUGHT;
            }
        }
        return Verdict.FINE;
    }

    @Tag("sampled")
    @Test
    void shouldLetVersionsPerCacheLinePassWhereLinesAreMovedWhole() {
        requireThatItPasses(CACHE_LINES, PlantedReadersTest::readLines);
    }

    @Test
    void shouldCatchVersionsPerCacheLineWhereOnlyWordsAreMovedWhole() {
        assertTrue(isCaught(WORDS, PlantedReadersTest::readLines));
    }

    // ---- a sequence number at both ends

    private static Verdict readBetweenNumbers(FabricPair pair) {
        int bytes = LINES * LINE;
        MemoryRegion object = pair.remote(bytes);
        fill(object.memory(), 1);
        MemoryRegion sink = pair.local(bytes);
        pair.serve(() -> {
            for (long number = 2; number <= UPDATES; number++) {
                for (int at = 0; at < bytes; at += WORD) {
                    set(pair, object.memory(), at, number);
                }
            }
        });
        for (int i = 0; i < UPDATES; i++) {
            MemorySegment seen = pair.read(object, 0, sink, bytes);
            long number = word(seen, 0);
            boolean accepted = number == word(seen, bytes - WORD);
            boolean whole = true;
            for (int at = 0; at < bytes; at += WORD) {
                whole &= word(seen, at) == number;
            }
            if (accepted && !whole) {
                return Verdict.CAUGHT;
            }
        }
        return Verdict.FINE;
    }

    @Test
    void shouldCatchASequenceNumberAtBothEndsWhereWordsComeInAnyOrder() {
        assertTrue(isCaught(WORDS, PlantedReadersTest::readBetweenNumbers));
    }

    // ---- candidates one after the other (Pilaf, ATC 2013, section 3.3)

    /** The key is always in one of two places, and moves to the one that is looked at first. */
    private static Verdict probeInOrder(FabricPair pair) {
        MemoryRegion table = pair.remote(2 * LINE);
        table.memory().set(ValueLayout.JAVA_LONG, LINE, 7);
        MemoryRegion sink = pair.local(WORD);
        pair.serve(() -> {
            pair.fabric().scheduler().sleep(pair.fabric().scheduler().choices().between(0, MOVE_WITHIN_NS));
            set(pair, table.memory(), 0, 7);
            set(pair, table.memory(), LINE, 0);
        });
        boolean found =
                word(pair.read(table, 0, sink, WORD), 0) == 7 || word(pair.read(table, LINE, sink, WORD), 0) == 7;
        return found ? Verdict.FINE : Verdict.CAUGHT;
    }

    @Test
    void shouldCatchASequentialProbeThatMissesAKeyThatMoves() {
        assertTrue(isCaught(FabricSettings.DEFAULT, PlantedReadersTest::probeInOrder));
    }

    // ---- polling the last byte of a WRITE

    private static Verdict pollTheLastWord(FabricPair pair, AccessFlag... more) {
        int bytes = LINES * LINE;
        MemoryRegion target = pair.remote(bytes, more);
        MemoryRegion source = pair.local(bytes);
        fill(source.memory(), 5);
        Verdict[] verdict = {Verdict.FINE};
        boolean[] done = new boolean[1];
        pair.serve(() -> {
            while (word(target.memory(), bytes - WORD) != 5) {
                pair.fabric().idleStrategy().idle();
            }
            for (int at = 0; at < bytes; at += WORD) {
                if (word(target.memory(), at) != 5) {
                    verdict[0] = Verdict.CAUGHT;
                }
            }
            done[0] = true;
        });
        pair.write(source, target, bytes);
        while (!done[0]) {
            pair.fabric().idleStrategy().idle();
        }
        return verdict[0];
    }

    @Test
    void shouldCatchAPollerOfTheLastWordWithoutThePromise() {
        assertTrue(isCaught(WORDS, pair -> pollTheLastWord(pair)));
    }

    @Tag("sampled")
    @Test
    void shouldLetAPollerOfTheLastWordPassInPolledMemory() {
        requireThatItPasses(WORDS, pair -> pollTheLastWord(pair, AccessFlag.POLLED));
    }
}
