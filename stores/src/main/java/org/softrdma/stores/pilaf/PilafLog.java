package org.softrdma.stores.pilaf;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.TimeUnit;
import java.util.zip.CRC32C;

/**
 * The log of changes: replayed when a server starts, appended to while it runs. Changes gather in memory; {@link
 * #commit} writes them, once for all of a round of the server. FSYNC has them on the disk before any of them is
 * answered. ASYNC hands them to the operating system after 64 KiB or 10 ms, so a crash of the process loses the changes
 * of that time, and a crash of the machine more. The server's own thread writes; there is no other.
 *
 * <p>A record that is not whole ends the log: that is where a crash has cut it, and the rest is dropped.
 *
 * <p>The log only grows. Owned by the server's thread. Errors of the file are thrown, and the server does not answer
 * what it could not write down.
 */
final class PilafLog implements AutoCloseable {
    private static final int GROUP_BYTES = 1 << 16;
    private static final long GROUP_NS = TimeUnit.MILLISECONDS.toNanos(10);
    private static final String NAME = "pilaf.log";

    private final Sync sync;
    private final FileChannel channel;
    private final MemorySegment buffer;
    private final ByteBuffer view;
    private final ByteBuffer writing;
    private final CRC32C crc = new CRC32C();
    private int used;
    private long oldestNs;

    /** When a change is on the disk. */
    enum Sync {
        OFF,
        ASYNC,
        FSYNC
    }

    /** Takes what was logged. */
    interface Replay {
        void change(byte operation, MemorySegment memory, long key, int keyLength, long value, int valueLength);
    }

    /**
     * Opens the log of a directory.
     *
     * @param longestChange bytes of the longest key and value
     */
    PilafLog(Path directory, Sync sync, int longestChange) {
        this(open(directory), sync, longestChange);
    }

    /** As a log in a file that is open, and closed with it. */
    PilafLog(FileChannel channel, Sync sync, int longestChange) {
        this.channel = channel;
        this.sync = sync;
        buffer = Arena.ofAuto().allocate(GROUP_BYTES + PilafLogRecordDescriptor.length(longestChange, 0), Long.BYTES);
        view = buffer.asByteBuffer();
        writing = buffer.asByteBuffer();
    }

    private static FileChannel open(Path directory) {
        try {
            return FileChannel.open(
                    directory.resolve(NAME),
                    StandardOpenOption.CREATE,
                    StandardOpenOption.READ,
                    StandardOpenOption.WRITE);
        } catch (IOException e) {
            throw new UncheckedIOException("the log cannot be opened: " + directory.resolve(NAME), e);
        }
    }

    /** Tells all changes, oldest first, and cuts what is behind the last whole one. */
    void replay(Replay replay) {
        try {
            long length = channel.size();
            if (length > Integer.MAX_VALUE) {
                throw new IOException("the log has " + length + " bytes, more than 2^31 - 1");
            }
            long end = 0;
            if (length > 0) {
                try (Arena arena = Arena.ofConfined()) {
                    end = replay(channel.map(FileChannel.MapMode.READ_ONLY, 0, length, arena), replay);
                }
            }
            channel.truncate(end);
            channel.position(end);
        } catch (IOException e) {
            throw new UncheckedIOException("the log cannot be read", e);
        }
    }

    private int replay(MemorySegment file, Replay replay) {
        ByteBuffer fileView = file.asByteBuffer();
        int at = 0;
        while (PilafLogRecordDescriptor.isValid(file, fileView, at, file.byteSize() - at, crc)) {
            int keyLength = PilafLogRecordDescriptor.keyLength(file, at);
            long key = at + (long) PilafLogRecordDescriptor.KEY_OFFSET;
            replay.change(
                    PilafLogRecordDescriptor.operation(file, at),
                    file,
                    key,
                    keyLength,
                    key + keyLength,
                    PilafLogRecordDescriptor.valueLength(file, at));
            at += PilafLogRecordDescriptor.length(file, at);
        }
        return at;
    }

    /** Adds a change. */
    void append(
            byte operation, MemorySegment source, long key, int keyLength, long value, int valueLength, long nowNs) {
        int length = PilafLogRecordDescriptor.length(keyLength, valueLength);
        if (used + length > buffer.byteSize()) {
            write();
        }
        if (used == 0) {
            oldestNs = nowNs;
        }
        long to = used + (long) PilafLogRecordDescriptor.KEY_OFFSET;
        buffer.asSlice(used, length).fill((byte) 0);
        MemorySegment.copy(source, key, buffer, to, keyLength);
        MemorySegment.copy(source, value, buffer, to + keyLength, valueLength);
        PilafLogRecordDescriptor.seal(buffer, view, used, operation, keyLength, valueLength, crc);
        used += length;
    }

    /** What was added before is as safe as it has to be before it is answered. */
    void commit(long nowNs) {
        if (used == 0) {
            return;
        }
        if (sync == Sync.FSYNC) {
            write();
            force();
        } else if (used >= GROUP_BYTES || nowNs - oldestNs >= GROUP_NS) {
            write();
        }
    }

    private void write() {
        writing.limit(used).position(0);
        used = 0;
        try {
            while (writing.hasRemaining()) {
                int ignored = channel.write(writing);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("the log cannot be written", e);
        }
    }

    private void force() {
        try {
            channel.force(false);
        } catch (IOException e) {
            throw new UncheckedIOException("the log cannot be made safe", e);
        }
    }

    /** As if the process were killed: what was not written is lost. */
    void abandon() {
        used = 0;
    }

    @Override
    public void close() {
        try (channel) {
            if (used > 0) {
                write();
            }
            channel.force(false);
        } catch (IOException e) {
            throw new UncheckedIOException("the log cannot be closed", e);
        }
    }
}
