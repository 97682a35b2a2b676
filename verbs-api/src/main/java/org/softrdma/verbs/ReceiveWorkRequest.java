package org.softrdma.verbs;

/**
 * A RECV with any number of local entries (C: {@code ibv_recv_wr}). Posting copies it, so you can reuse it. Not
 * thread-safe.
 */
public final class ReceiveWorkRequest {
    private final ScatterGatherList local = new ScatterGatherList();
    private long wrId;

    /** An empty RECV. */
    public ReceiveWorkRequest() {}

    /**
     * Makes this a RECV; its local entries follow.
     *
     * @param newWrId a number of yours, returned with the completion
     */
    public ReceiveWorkRequest receive(long newWrId) {
        wrId = newWrId;
        local.clear();
        return this;
    }

    /**
     * Adds a local entry.
     *
     * @param address an address of the region that {@code lkey} names, see {@link MemoryRegion#address()}
     * @param length bytes
     * @param lkey a local key
     */
    public ReceiveWorkRequest add(long address, long length, int lkey) {
        local.add(address, length, lkey);
        return this;
    }

    /**
     * Adds part of a region as a local entry.
     *
     * @param region a region of the queue pair's domain
     * @param offset bytes from its start
     * @param length bytes
     */
    public ReceiveWorkRequest add(MemoryRegion region, long offset, long length) {
        return add(region.address() + offset, length, region.lkey());
    }

    /** The local entries. */
    public ScatterGatherList local() {
        return local;
    }

    /** Returned with the completion. */
    public long wrId() {
        return wrId;
    }
}
