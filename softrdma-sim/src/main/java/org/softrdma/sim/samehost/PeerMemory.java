package org.softrdma.sim.samehost;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.softrdma.net.kernel.LocalSocket;
import org.softrdma.net.memory.NativeMemory;
import org.softrdma.sim.memory.AccessCheck;
import org.softrdma.sim.memory.AccessResult;
import org.softrdma.sim.memory.AccessRights;
import org.softrdma.sim.memory.KeyScrambler;
import org.softrdma.sim.memory.MemoryOperations;
import org.softrdma.sim.memory.Quiescence;
import org.softrdma.sim.memory.StagTable;

/**
 * What the peer of one queue pair has handed over, and the READs from it. It belongs to that one connection and ends with
 * it, and a server that comes up again hands over its own; only mappings of the same file are shared ({@link PeerMappings}).
 *
 * <p>Nothing that the responder writes is trusted: whatever a row says, only bytes of the mapping are read, and the
 * mapping cannot become shorter.
 *
 * <p>Threads: {@link #read} and {@link #covers} as {@link ReadingThread} says, and never after {@link #close}. The
 * background thread adds.
 */
public final class PeerMemory implements AutoCloseable {
    private static final int ATTEMPTS = 4;
    /** Bytes of one READ: with longer ones, the processor fetches the rest by itself in time. */
    private static final int MOST_FETCHED = 2048;

    private final MemoryOperations operations;
    private final ReadCounts counts;
    private final Quiescence.Epoch epoch;
    private final PeerMappings mappings;
    private final Consumer<PeerMemory> ask;
    private final AtomicBoolean asking = new AtomicBoolean(true);
    /** What there is; replaced as a whole. */
    private volatile Maps maps = Maps.nothing();

    /** Held by the background thread while it uses the socket. */
    private final ReentrantLock talking = new ReentrantLock();

    private final ReentrantLock lock = new ReentrantLock();
    // Under the lock.
    private final List<PeerMappings.Mapping> mapped = new ArrayList<>();
    private @Nullable LocalSocket socket;
    private boolean closed;

    /**
     * Nothing yet.
     *
     * @param operations of the device, for the copy
     * @param counts where it says what it has read
     * @param epoch batches of the posting threads
     * @param mappings of the device
     * @param ask asks the peer for more, in the background
     */
    PeerMemory(
            MemoryOperations operations,
            ReadCounts counts,
            Quiescence.Epoch epoch,
            PeerMappings mappings,
            Consumer<PeerMemory> ask) {
        this.operations = operations;
        this.counts = counts;
        this.epoch = epoch;
        this.mappings = mappings;
        this.ask = ask;
    }

    /**
     * What there is.
     *
     * @param keys find the row of an rkey
     * @param domain of the peer's queue pair
     * @param life address of the page that says whether the connection is alive
     * @param owner address of the word that says whether the peer's process lives; 0 if it is not there
     * @param directory address of the number of files that there have been; 0 if it is not there
     * @param seen files that were asked for; -1 if not even the directory
     * @param chunks addresses of the parts of the table, 0 if there is none
     * @param starts addresses of the allocations, 0 if there is none
     * @param lengths their bytes
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record Maps(
            PeerKeys keys,
            int domain,
            long life,
            long owner,
            long directory,
            int seen,
            long[] chunks,
            long[] starts,
            long[] lengths) {
        /** For one connection: what keys remember belongs to its threads. */
        static Maps nothing() {
            PeerKeys none = new PeerKeys(new KeyScrambler(new int[KeyScrambler.SECRETS]), 1);
            return new Maps(none, 0, 0, 0, 0, -1, new long[0], new long[0], new long[0]);
        }

        /** Address of the row of a number that a key encodes; 0 if its part of the table is not there. */
        long row(int encoded) {
            int row = encoded >>> StagTable.ROW_SHIFT;
            int number = row >>> StagTable.CHUNK_SHIFT;
            long chunk = number < chunks.length ? chunks[number] : 0;
            return chunk == 0 ? 0 : chunk + SharedTable.offset(row);
        }

        /** Address of bytes of an allocation; 0 if they are not there. */
        long at(int allocation, long offset, long length) {
            boolean there = allocation >= 0
                    && allocation < starts.length
                    && offset >= 0
                    && length <= lengths[allocation]
                    && offset <= lengths[allocation] - length;
            return there ? starts[allocation] + offset : 0;
        }
    }

    // ---- reading

    /** Batches of the posting threads. */
    public Quiescence.Epoch epoch() {
        return epoch;
    }

    /** True if it can probably be read now; if not, this may ask the peer to show more. Threads: those that read. */
    boolean covers(int rkey, long address, long length) {
        Maps now = maps;
        try {
            long row = now.row(now.keys.number(rkey));
            boolean covered = row != 0 && source(now, row, rkey, address, length) != 0;
            if (!covered) {
                missing(now);
            }
            meetFaults();
            return covered;
        } catch (InternalError e) {
            return false;
        }
    }

    /**
     * Reads, as a READ does. If that is not possible, for whatever reason, the READ must go to the peer, which knows what is
     * wrong; the sink may have been written meanwhile. Like {@link #covers}, this may ask the peer to show more.
     *
     * @param reader who asks
     * @param rkey the peer's key
     * @param address first address at the peer
     * @param sink raw address here
     * @param length bytes, more than 0
     * @return true if the sink has what the peer's memory had while the key was valid
     */
    boolean read(ReadingThread reader, int rkey, long address, long sink, long length) {
        Maps now = maps;
        try {
            boolean done = read(now, now.row(now.keys.number(reader, rkey)), rkey, address, sink, length);
            meetFaults();
            if (done) {
                counts.count(reader, length);
            }
            return done;
        } catch (InternalError e) {
            return false; // a page is gone: the machine, or the peer's container, has no memory for it
        }
    }

    private boolean read(Maps now, long row, int rkey, long address, long sink, long length) {
        if (row == 0) {
            missing(now);
        }
        for (int i = 0; row != 0 && now.owner != 0 && i < ATTEMPTS; i++) {
            int version = SharedRow.version(row);
            if (SharedRow.isChanging(version)) {
                Thread.onSpinWait();
                continue;
            }
            long source = source(now, row, rkey, address, length);
            if (source == 0) {
                missing(now);
                return false;
            }
            operations.copy(source, sink, length);
            if (SharedRow.isStill(row, version) && ConnectionLife.isAlive(now.life) && OwnerLife.isAlive(now.owner)) {
                return true;
            }
        }
        return false;
    }

    /**
     * Throws here, at a safepoint, what looks at the peer's pages have met since the last one: in compiled code they throw
     * nothing by themselves. Behind every such look, inside a {@code try}.
     *
     * @throws InternalError if a page is gone
     */
    private void meetFaults() {
        int ignored = operations.touch(counts.address(), 1); // of this process, and there
    }

    /**
     * Prefetches bytes that are about to be read. Single READs each wait for their own cache lines; those of a list wait
     * together. Changes nothing, and asks for nothing. By the reader that posts.
     *
     * @return a number that the caller keeps, or nothing is fetched
     */
    public int fetch(int rkey, long address, long length) {
        Maps now = maps;
        try {
            long row = now.row(now.keys.number(ReadingThread.POSTING, rkey));
            long source = row == 0 || length == 0 ? 0 : source(now, row, rkey, address, length);
            int sum = source == 0 ? 0 : operations.touch(source, Math.min(length, MOST_FETCHED));
            meetFaults();
            return sum;
        } catch (InternalError e) {
            return 0; // as for a copy, which will meet it too
        }
    }

    /** Where the bytes are, or 0 if they may not be read, or not from here. The row may be changing meanwhile. */
    private static long source(Maps now, long row, int rkey, long address, long length) {
        if (rkey == 0 || SharedRow.rkey(row) != rkey) {
            return 0;
        }
        long base = SharedRow.base(row);
        AccessResult result = AccessCheck.check(
                SharedRow.domain(row),
                AccessRights.REMOTE_READ, // of every row that is there
                base,
                SharedRow.length(row),
                now.domain,
                AccessRights.REMOTE_READ,
                address,
                length);
        return result == AccessResult.GRANTED
                ? now.at(SharedRow.allocation(row), SharedRow.start(row) + (address - base), length)
                : 0;
    }

    /** If the peer has more to hand over since, asks for it. */
    private void missing(Maps now) {
        if (now.directory != 0
                && NativeMemory.getIntAcquire(now.directory) != now.seen
                && asking.compareAndSet(false, true)) {
            ask.accept(this);
        }
    }

    // ---- adding, in the background

    /** The peer has let this side in. */
    void welcome(LocalSocket by, KeyScrambler keys, int domain, int lifeFile) throws IOException {
        PeerMappings.Mapping life = mappings.open(lifeFile, ConnectionLife.BYTES);
        lock.lock();
        try {
            keep(life);
            socket = by;
            maps = new Maps(
                    new PeerKeys(keys, PeerKeys.REMEMBERED),
                    domain,
                    life.address(),
                    0,
                    0,
                    -1,
                    new long[0],
                    new long[0],
                    new long[0]);
        } finally {
            lock.unlock();
        }
    }

    /** The directory was handed over. */
    void addDirectory(int file) throws IOException {
        PeerMappings.Mapping directory = mappings.open(file, SharedFiles.DIRECTORY_BYTES);
        lock.lock();
        try {
            keep(directory);
            long at = directory.address();
            long owner = owner(at);
            Maps now = maps;
            maps = new Maps(now.keys, now.domain, now.life, owner, at, 0, now.chunks, now.starts, now.lengths);
        } finally {
            lock.unlock();
        }
    }

    private long owner(long directory) throws IOException {
        try {
            long owner = OwnerLife.word(directory + SharedFiles.OWNER_OFFSET);
            meetFaults();
            return owner;
        } catch (InternalError e) {
            throw new IOException("the peer's directory cannot be read", e);
        }
    }

    /** A part of the table was handed over. */
    void addChunk(int number, int file) throws IOException {
        PeerMappings.Mapping chunk = mappings.open(file, SharedTable.CHUNK_BYTES);
        lock.lock();
        try {
            keep(chunk);
            checkNumber(number, SharedTable.CHUNKS);
            Maps now = maps;
            long[] chunks = with(now.chunks, number, chunk.address());
            maps = new Maps(
                    now.keys,
                    now.domain,
                    now.life,
                    now.owner,
                    now.directory,
                    now.seen,
                    chunks,
                    now.starts,
                    now.lengths);
        } finally {
            lock.unlock();
        }
    }

    /** An allocation was handed over. */
    void addMemory(int number, long length, int file) throws IOException {
        PeerMappings.Mapping memory = mappings.open(file, length);
        lock.lock();
        try {
            keep(memory);
            checkNumber(number, StagTable.MAX_ROWS);
            Maps now = maps;
            long[] starts = with(now.starts, number, memory.address());
            long[] lengths = with(now.lengths, number, length);
            maps = new Maps(
                    now.keys, now.domain, now.life, now.owner, now.directory, now.seen, now.chunks, starts, lengths);
        } finally {
            lock.unlock();
        }
    }

    /** The peer had no more when so many were seen; it may be asked again. */
    void seen(int files) {
        lock.lock();
        try {
            Maps now = maps;
            maps = new Maps(
                    now.keys,
                    now.domain,
                    now.life,
                    now.owner,
                    now.directory,
                    files,
                    now.chunks,
                    now.starts,
                    now.lengths);
        } finally {
            lock.unlock();
        }
        asking.set(false);
    }

    int seen() {
        return maps.seen;
    }

    private static void checkNumber(int number, int most) throws IOException {
        if (number < 0 || number >= most) {
            throw new IOException("number=" + number + ": expected 0 to " + (most - 1));
        }
    }

    private static long[] with(long[] numbers, int index, long value) {
        long[] more = Arrays.copyOf(numbers, Math.max(numbers.length, index + 1));
        more[index] = value;
        return more;
    }

    /** Given back at the end, or now, if this is the end. Under the lock. */
    private void keep(PeerMappings.Mapping memory) throws IOException {
        if (closed) {
            memory.close();
            throw new IOException("the queue pair was closed");
        }
        mapped.add(memory);
    }

    /** Asks by the socket by which the peer was reached, unless this is closed. {@link #close} interrupts it. */
    void converse(Conversation conversation) throws IOException {
        talking.lock();
        try {
            LocalSocket by = socket();
            if (by != null) {
                conversation.with(by);
            }
        } finally {
            talking.unlock();
        }
    }

    private @Nullable LocalSocket socket() {
        lock.lock();
        try {
            return closed ? null : socket;
        } finally {
            lock.unlock();
        }
    }

    /** Questions and answers. */
    @FunctionalInterface
    interface Conversation {
        void with(LocalSocket socket) throws IOException;
    }

    /** What it has read. */
    ReadCounts counts() {
        return counts;
    }

    /** Gives everything back. No thread reads any more. */
    @Override
    public void close() {
        LocalSocket by = end();
        if (by != null) {
            by.shutdown(); // ends a conversation at once
            talking.lock();
            try {
                by.close();
            } finally {
                talking.unlock();
            }
        }
    }

    private @Nullable LocalSocket end() {
        lock.lock();
        try {
            if (closed) {
                return null;
            }
            closed = true;
            maps = Maps.nothing();
            mapped.forEach(PeerMappings.Mapping::close);
            mapped.clear();
            counts.close();
            return socket;
        } finally {
            lock.unlock();
        }
    }
}
