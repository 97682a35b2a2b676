package org.softrdma.verbs;

/**
 * A send work request with any number of local entries (C: {@code ibv_send_wr}). Posting copies it, so you can reuse
 * it. Not thread-safe. With one local entry, {@link QueuePair#postRead} and its siblings do the same in one call.
 */
public final class SendWorkRequest {
    private final ScatterGatherList local = new ScatterGatherList();
    private long wrId;
    private SendOpcode opcode = SendOpcode.SEND;
    private int flags;
    private long remoteAddress;
    private int rkey;

    /** An empty SEND. */
    public SendWorkRequest() {}

    /**
     * Makes this a READ; its local entries follow.
     *
     * @param newWrId a number of yours, returned with the completion
     * @param newRemoteAddress first address to read at the peer
     * @param newRkey the peer's key
     * @param newFlags {@link SendFlags}
     */
    public SendWorkRequest read(long newWrId, long newRemoteAddress, int newRkey, int newFlags) {
        return set(SendOpcode.READ, newWrId, newRemoteAddress, newRkey, newFlags);
    }

    /**
     * Makes this a WRITE; its local entries follow.
     *
     * @param newWrId a number of yours, returned with the completion
     * @param newRemoteAddress first address to write at the peer
     * @param newRkey the peer's key
     * @param newFlags {@link SendFlags}
     */
    public SendWorkRequest write(long newWrId, long newRemoteAddress, int newRkey, int newFlags) {
        return set(SendOpcode.WRITE, newWrId, newRemoteAddress, newRkey, newFlags);
    }

    /**
     * Makes this a SEND; its local entries follow.
     *
     * @param newWrId a number of yours, returned with the completion
     * @param newFlags {@link SendFlags}
     */
    public SendWorkRequest send(long newWrId, int newFlags) {
        return set(SendOpcode.SEND, newWrId, 0, 0, newFlags);
    }

    /**
     * Adds a local entry.
     *
     * <p>With {@link SendFlags#INLINE}, posting copies the bytes from this process's memory at {@code address} and
     * looks at no key, as {@code ibv_post_send} does. Nothing checks the address: a wrong one ends the process. It
     * must be an address of this process even if the region is {@link AccessFlag#ZERO_BASED}; {@link
     * #add(MemoryRegion, long, long)} finds the right one.
     *
     * @param address an address of the region that {@code lkey} names, see {@link MemoryRegion#address()}
     * @param length bytes
     * @param lkey a local key
     */
    public SendWorkRequest add(long address, long length, int lkey) {
        local.add(address, length, lkey);
        return this;
    }

    /**
     * Adds part of a region as a local entry. With {@link SendFlags#INLINE} the part must lie inside the region, and
     * the region must stay open until the request is posted for the last time.
     *
     * @param region a region of the queue pair's domain
     * @param offset bytes from its start
     * @param length bytes
     * @throws IllegalArgumentException if the part must lie inside the region and does not
     */
    public SendWorkRequest add(MemoryRegion region, long offset, long length) {
        if ((flags & SendFlags.INLINE) != 0) {
            region.checkRange(offset, length);
            return add(region.memory().address() + offset, length, region.lkey());
        }
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

    /** What it does. */
    public SendOpcode opcode() {
        return opcode;
    }

    /** Its {@link SendFlags}. */
    public int flags() {
        return flags;
    }

    /** First address at the peer, of READ and WRITE. */
    public long remoteAddress() {
        return remoteAddress;
    }

    /** The peer's key, of READ and WRITE. */
    public int rkey() {
        return rkey;
    }

    private SendWorkRequest set(SendOpcode newOpcode, long newWrId, long newRemoteAddress, int newRkey, int newFlags) {
        opcode = newOpcode;
        wrId = newWrId;
        remoteAddress = newRemoteAddress;
        rkey = newRkey;
        flags = newFlags;
        local.clear();
        return this;
    }
}
