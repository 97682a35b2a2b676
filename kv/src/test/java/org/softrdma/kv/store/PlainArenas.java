package org.softrdma.kv.store;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.softrdma.kv.item.Locator;

/** Arenas of plain native memory, with made-up keys: what the store needs without any device. Names are places. */
public final class PlainArenas implements ArenaSource, AutoCloseable {
    private static final int FIRST_RKEY = 0x1000;

    private final Arena memory = Arena.ofShared();
    private final List<ItemArena> arenas = new ArrayList<>();

    @Override
    public ItemArena create(long length) {
        MemorySegment segment = memory.allocate(length, 4096);
        int rkey = FIRST_RKEY + arenas.size();
        ItemArena arena = new ItemArena() {
            @Override
            public MemorySegment memory() {
                return segment;
            }

            @Override
            public Optional<RemotePage> cut(long offset, int chunkLength, int chunks) {
                return Optional.of(new Places(rkey, offset, chunkLength));
            }
        };
        arenas.add(arena);
        return arena;
    }

    @Override
    public long address(long first) {
        int arena = Locator.rkey(first) - FIRST_RKEY;
        return arena >= 0
                        && arena < arenas.size()
                        && Locator.offset(first) < arenas.get(arena).memory().byteSize()
                ? arenas.get(arena).memory().address() + Locator.offset(first)
                : UNKNOWN;
    }

    /** The memory that a locator's rkey names. */
    public MemorySegment memory(int rkey) {
        return arenas.get(rkey - FIRST_RKEY).memory();
    }

    /** The memory of all arenas. */
    List<MemorySegment> memories() {
        return arenas.stream().map(ItemArena::memory).toList();
    }

    @Override
    public void close() {
        memory.close();
    }

    private record Places(int rkey, long start, int chunkLength) implements RemotePage {
        @Override
        public int rkey(int chunk) {
            return rkey;
        }

        @Override
        public long offset(int chunk) {
            return start + (long) chunk * chunkLength;
        }

        @Override
        public int readLength(int itemLength) {
            return itemLength;
        }

        @Override
        public void exchange(int chunk, RemotePage other, int otherChunk) {}

        @Override
        public boolean mayRetire() {
            return true;
        }

        @Override
        public boolean retire() {
            return true;
        }
    }
}
