package org.softrdma.kv.store;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/** Arenas of plain native memory, with made-up keys: what the store needs without any device. */
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
            public int rkey() {
                return rkey;
            }
        };
        arenas.add(arena);
        return arena;
    }

    /** The memory that a locator's rkey names. */
    public MemorySegment memory(int rkey) {
        return arenas.get(rkey - FIRST_RKEY).memory();
    }

    @Override
    public void close() {
        memory.close();
    }
}
