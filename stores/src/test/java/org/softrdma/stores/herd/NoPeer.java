package org.softrdma.stores.herd;

import java.lang.foreign.MemorySegment;
import org.softrdma.stores.herd.transport.HerdPeer;
import org.softrdma.stores.herd.transport.HerdReplies;

/** Nobody, who sits somewhere. */
record NoPeer() implements HerdPeer, HerdReplies {
    @Override
    public MemorySegment slots() {
        return MemorySegment.NULL;
    }

    @Override
    public HerdReplies replies(int worker) {
        return this;
    }

    @Override
    public boolean isOpen() {
        return true;
    }

    @Override
    public void drop() {
        throw new UnsupportedOperationException();
    }

    @Override
    public void release() {
        throw new UnsupportedOperationException();
    }

    @Override
    public boolean hasRoom(int answers) {
        return false;
    }

    @Override
    public MemorySegment memory() {
        return MemorySegment.NULL;
    }

    @Override
    public long nextAt() {
        return 0;
    }

    @Override
    public void add(int length) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void flush() {
        throw new UnsupportedOperationException();
    }
}
