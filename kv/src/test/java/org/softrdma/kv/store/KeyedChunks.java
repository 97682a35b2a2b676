package org.softrdma.kv.store;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.softrdma.kv.item.Locator;

/** Arenas of plain native memory in which each chunk has a made-up key of its own, and keys change places. */
public final class KeyedChunks implements ArenaSource, AutoCloseable {
    private static final int FIRST_RKEY = 0x1000;

    private final Arena memory = Arena.ofShared();

    /** By rkey: the chunk that it names now. */
    private final List<MemorySegment> chunks = new ArrayList<>();

    private final Runnable atExchange;
    private int exchanges;

    /**
     * Without arenas yet.
     *
     * @param atExchange run by each exchange before it, with the lock of the key held
     */
    public KeyedChunks(Runnable atExchange) {
        this.atExchange = atExchange;
    }

    @Override
    public ItemArena create(long length) {
        MemorySegment segment = memory.allocate(length, 4096);
        return new ItemArena() {
            @Override
            public MemorySegment memory() {
                return segment;
            }

            @Override
            public Optional<RemotePage> cut(long offset, int chunkLength, int count) {
                int[] rkeys = new int[count];
                for (int i = 0; i < count; i++) {
                    rkeys[i] = FIRST_RKEY + chunks.size();
                    chunks.add(segment.asSlice(offset + (long) i * chunkLength, chunkLength));
                }
                return Optional.of(new Keys(rkeys, chunkLength));
            }
        };
    }

    @Override
    public long address(long first) {
        int number = Locator.rkey(first) - FIRST_RKEY;
        return number >= 0 && number < chunks.size() && Locator.offset(first) == 0
                ? chunks.get(number).address()
                : UNKNOWN;
    }

    /** The chunks, each as its rkey names it now. */
    public List<MemorySegment> chunks() {
        return chunks;
    }

    /** The chunk that an rkey names now. */
    public MemorySegment chunk(int rkey) {
        return chunks.get(rkey - FIRST_RKEY);
    }

    /** How often keys have changed places. */
    public int exchanges() {
        return exchanges;
    }

    @Override
    public void close() {
        memory.close();
    }

    private final class Keys implements RemotePage {
        private final int[] rkeys;
        private final int chunkLength;

        Keys(int[] rkeys, int chunkLength) {
            this.rkeys = rkeys;
            this.chunkLength = chunkLength;
        }

        @Override
        public int rkey(int chunk) {
            return rkeys[chunk];
        }

        @Override
        public long offset(int chunk) {
            return 0;
        }

        @Override
        public int readLength(int itemLength) {
            return chunkLength;
        }

        @Override
        public void exchange(int chunk, RemotePage other, int otherChunk) {
            atExchange.run();
            int[] others = ((Keys) other).rkeys;
            int mine = rkeys[chunk];
            int theirs = others[otherChunk];
            MemorySegment segment = chunk(mine);
            chunks.set(mine - FIRST_RKEY, chunk(theirs));
            chunks.set(theirs - FIRST_RKEY, segment);
            rkeys[chunk] = theirs;
            others[otherChunk] = mine;
            exchanges++;
        }

        @Override
        public boolean mayRetire() {
            return true;
        }

        @Override
        public boolean retire() {
            MemorySegment dead = memory.allocate(chunkLength, Long.BYTES);
            for (int rkey : rkeys) {
                chunks.set(rkey - FIRST_RKEY, dead);
            }
            return true;
        }
    }
}
