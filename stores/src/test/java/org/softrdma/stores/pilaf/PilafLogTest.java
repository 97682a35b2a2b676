package org.softrdma.stores.pilaf;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PilafLogTest {
    private static final int LONGEST = 100;
    private static final long GROUP_NS = TimeUnit.MILLISECONDS.toNanos(10);

    @TempDir
    private Path directory;

    private PilafLog log(PilafLog.Sync sync) {
        return new PilafLog(directory, sync, LONGEST);
    }

    private static List<String> replayed(PilafLog log) {
        List<String> changes = new ArrayList<>();
        log.replay((operation, memory, key, keyLength, value, valueLength) ->
                changes.add((operation == PilafRequestDescriptor.PUT ? "put " : "remove ")
                        + text(memory, key, keyLength)
                        + (valueLength > 0 ? "=" + text(memory, value, valueLength) : "")));
        return changes;
    }

    private static String text(MemorySegment memory, long offset, int length) {
        byte[] bytes = new byte[length];
        MemorySegment.copy(memory, offset, MemorySegment.ofArray(bytes), 0, length);
        return new String(bytes, StandardCharsets.US_ASCII);
    }

    private static void append(PilafLog log, byte operation, String key, String value, long nowNs) {
        MemorySegment pair = MemorySegment.ofArray((key + value).getBytes(StandardCharsets.US_ASCII));
        log.append(operation, pair, 0, key.length(), key.length(), value.length(), nowNs);
    }

    private static void appendThree(PilafLog log) {
        append(log, PilafRequestDescriptor.PUT, "a", "1", 0);
        append(log, PilafRequestDescriptor.PUT, "bc", "value of bc", 0);
        append(log, PilafRequestDescriptor.REMOVE, "a", "", 0);
    }

    private Path file() {
        return directory.resolve("pilaf.log");
    }

    @Test
    void shouldTellWhatWasLoggedAndGoOnBehindIt() {
        try (PilafLog log = log(PilafLog.Sync.FSYNC)) {
            assertEquals(List.of(), replayed(log));
            appendThree(log);
            log.commit(0);
        }
        try (PilafLog log = log(PilafLog.Sync.FSYNC)) {
            assertEquals(List.of("put a=1", "put bc=value of bc", "remove a"), replayed(log));
            append(log, PilafRequestDescriptor.PUT, "d", "2", 0);
            log.commit(0);
        }
        try (PilafLog log = log(PilafLog.Sync.FSYNC)) {
            assertEquals(List.of("put a=1", "put bc=value of bc", "remove a", "put d=2"), replayed(log));
        }
    }

    @Test
    void shouldCutWhatIsTornWhereverItIsCut() throws IOException {
        try (PilafLog log = log(PilafLog.Sync.FSYNC)) {
            appendThree(log);
        }
        byte[] whole = Files.readAllBytes(file());
        List<String> all = List.of("put a=1", "put bc=value of bc", "remove a");
        int[] ends = {24, 24 + 32, 24 + 32 + 24};
        assertEquals(ends[2], whole.length);
        for (int cut = 0; cut <= whole.length; cut++) {
            byte[] torn = Arrays.copyOf(whole, whole.length);
            Arrays.fill(torn, cut, torn.length, (byte) 0); // blocks that the disk has not written
            Files.write(file(), cut % 2 == 0 ? torn : Arrays.copyOf(whole, cut), StandardOpenOption.TRUNCATE_EXISTING);
            try (PilafLog log = log(PilafLog.Sync.FSYNC)) {
                List<String> found = replayed(log);
                assertEquals(all.subList(0, found.size()), found, "cut at " + cut);
                int atLeast = 0;
                while (atLeast < ends.length && ends[atLeast] <= cut) {
                    atLeast++;
                }
                assertEquals(true, found.size() >= atLeast, "cut at " + cut + ": " + found);
                append(log, PilafRequestDescriptor.PUT, "new", "", 0);
                log.commit(0);
                assertEquals(
                        found.size() + 1, replayed(log(PilafLog.Sync.FSYNC)).size(), "cut at " + cut);
            }
        }
    }

    @Test
    void shouldWriteByGroupsWhenAsynchronous() throws IOException {
        PilafLog log = log(PilafLog.Sync.ASYNC);
        append(log, PilafRequestDescriptor.PUT, "a", "1", 0);
        log.commit(GROUP_NS - 1);
        assertEquals(0, Files.size(file()));
        log.commit(GROUP_NS);
        assertEquals(24, Files.size(file()));
        int records = 0;
        while (Files.size(file()) == 24) {
            append(log, PilafRequestDescriptor.PUT, "b", "v".repeat(90), GROUP_NS);
            log.commit(GROUP_NS);
            records++;
        }
        assertEquals((1 << 16) / 112 + 1, records);
        append(log, PilafRequestDescriptor.PUT, "c", "", GROUP_NS);
        log.abandon();
        log.close();
        try (PilafLog again = log(PilafLog.Sync.ASYNC)) {
            assertEquals(records + 1, replayed(again).size(), "a crash has lost what was not written, and no more");
        }
    }

    private ForcedChannel channel() throws IOException {
        return new ForcedChannel(
                FileChannel.open(file(), StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE));
    }

    /** What was committed is on the disk, not only handed to the operating system: a power cut must not lose it. */
    @Test
    void shouldForceWhatIsCommittedToTheDisk() throws IOException {
        ForcedChannel channel = channel();
        try (PilafLog log = new PilafLog(channel, PilafLog.Sync.FSYNC, LONGEST)) {
            assertEquals(List.of(), replayed(log));
            appendThree(log);
            assertEquals(0, channel.forces());
            log.commit(0);
            assertEquals(24 + 32 + 24, channel.forcedBytes());
            assertEquals(1, channel.forces(), "once for all of a round");
            log.commit(0);
            assertEquals(1, channel.forces(), "there was nothing to force");
            append(log, PilafRequestDescriptor.PUT, "d", "2", 0);
            log.commit(0);
            assertEquals(24 + 32 + 24 + 24, channel.forcedBytes());
            assertEquals(2, channel.forces());
        }
    }

    /** A round that does not fit in the buffer is written in parts, and forced with its last one. */
    @Test
    void shouldForceAllPartsOfALongRound() throws IOException {
        ForcedChannel channel = channel();
        try (PilafLog log = new PilafLog(channel, PilafLog.Sync.FSYNC, LONGEST)) {
            assertEquals(List.of(), replayed(log));
            for (int i = 0; i < 2000; i++) {
                append(log, PilafRequestDescriptor.PUT, "b", "v".repeat(90), 0);
            }
            log.commit(0);
            assertEquals(2000 * 112, channel.forcedBytes());
            assertEquals(1, channel.forces());
        }
    }

    @Test
    void shouldForceNothingWhenAsynchronousButTheEnd() throws IOException {
        ForcedChannel channel = channel();
        PilafLog log = new PilafLog(channel, PilafLog.Sync.ASYNC, LONGEST);
        appendThree(log);
        log.commit(GROUP_NS);
        assertEquals(24 + 32 + 24, Files.size(file()));
        assertEquals(0, channel.forces());
        log.close();
        assertEquals(24 + 32 + 24, channel.forcedBytes());
    }

    /** Whoever commits must not answer then. */
    @Test
    void shouldThrowWhatTheDiskSays() throws IOException {
        ForcedChannel channel = channel();
        PilafLog log = new PilafLog(channel, PilafLog.Sync.FSYNC, LONGEST);
        appendThree(log);
        channel.fail();
        assertThrows(UncheckedIOException.class, () -> log.commit(0));
        assertThrows(UncheckedIOException.class, log::close);
        assertFalse(channel.isOpen());
    }
}
