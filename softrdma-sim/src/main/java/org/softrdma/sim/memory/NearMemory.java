package org.softrdma.sim.memory;

/** Memory of a peer that this side can read by itself, without asking the peer. Threads: see {@link #read}. */
public interface NearMemory {
    /** Nothing can be read. */
    NearMemory NONE = new NearMemory() {
        @Override
        public boolean covers(int rkey, long address, long length) {
            return false;
        }

        @Override
        public boolean read(Reader reader, int rkey, long address, long sink, long length) {
            return false;
        }
    };

    /** Who reads; each is one thread at a time. */
    enum Reader {
        /** The thread that posts, under the lock of the send queue. */
        POSTING,
        /** The engine of the queue pair. */
        ENGINE
    }

    /** True if it can probably be read now; if not, this may ask the peer to show more. Threads: those that read. */
    boolean covers(int rkey, long address, long length);

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
    boolean read(Reader reader, int rkey, long address, long sink, long length);
}
