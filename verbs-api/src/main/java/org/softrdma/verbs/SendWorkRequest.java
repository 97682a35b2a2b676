package org.softrdma.verbs;

import java.util.Set;
import org.jspecify.annotations.Nullable;

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
    private int immediate;
    private long compareAdd;
    private long swap;
    private @Nullable MemoryWindow window;
    private Set<AccessFlag> windowAccess = Set.of();
    private @Nullable AddressHandle addressHandle;
    private int remoteNumber;
    private int queueKey;

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
     * Makes this a SEND with an immediate; its local entries follow.
     *
     * @param newWrId a number of yours, returned with the completion
     * @param newImmediate handed to the peer with the completion of its RECV
     * @param newFlags {@link SendFlags}
     */
    public SendWorkRequest sendImmediate(long newWrId, int newImmediate, int newFlags) {
        set(SendOpcode.SEND_IMMEDIATE, newWrId, 0, 0, newFlags);
        immediate = newImmediate;
        return this;
    }

    /**
     * Makes this a SEND that invalidates a key of the peer; its local entries follow.
     *
     * @param newWrId a number of yours, returned with the completion
     * @param peersKey key of a window that the peer has bound on this connection
     * @param newFlags {@link SendFlags}
     */
    public SendWorkRequest sendInvalidate(long newWrId, int peersKey, int newFlags) {
        return set(SendOpcode.SEND_INVALIDATE, newWrId, 0, peersKey, newFlags);
    }

    /**
     * Makes this a WRITE with an immediate; its local entries follow.
     *
     * @param newWrId a number of yours, returned with the completion
     * @param newRemoteAddress first address to write at the peer
     * @param newRkey the peer's key
     * @param newImmediate handed to the peer with the completion of a RECV
     * @param newFlags {@link SendFlags}
     */
    public SendWorkRequest writeImmediate(
            long newWrId, long newRemoteAddress, int newRkey, int newImmediate, int newFlags) {
        set(SendOpcode.WRITE_IMMEDIATE, newWrId, newRemoteAddress, newRkey, newFlags);
        immediate = newImmediate;
        return this;
    }

    /**
     * Makes this a compare-and-swap; one local entry of 8 bytes follows, for the word's previous value.
     *
     * @param newWrId a number of yours, returned with the completion
     * @param newRemoteAddress address of the word at the peer, a multiple of 8
     * @param newRkey the peer's key
     * @param expected what the word must be to be replaced
     * @param replacement what it becomes
     * @param newFlags {@link SendFlags}
     */
    public SendWorkRequest compareAndSwap(
            long newWrId, long newRemoteAddress, int newRkey, long expected, long replacement, int newFlags) {
        set(SendOpcode.COMPARE_AND_SWAP, newWrId, newRemoteAddress, newRkey, newFlags);
        compareAdd = expected;
        swap = replacement;
        return this;
    }

    /**
     * Makes this a fetch-and-add; one local entry of 8 bytes follows, for the word's previous value.
     *
     * @param newWrId a number of yours, returned with the completion
     * @param newRemoteAddress address of the word at the peer, a multiple of 8
     * @param newRkey the peer's key
     * @param delta what is added, modulo 2^64
     * @param newFlags {@link SendFlags}
     */
    public SendWorkRequest fetchAndAdd(long newWrId, long newRemoteAddress, int newRkey, long delta, int newFlags) {
        set(SendOpcode.FETCH_AND_ADD, newWrId, newRemoteAddress, newRkey, newFlags);
        compareAdd = delta;
        return this;
    }

    /**
     * Makes this an invalidation of a window of this side, without local entries.
     *
     * @param newWrId a number of yours, returned with the completion
     * @param key {@link MemoryWindow#rkey()} of a window that is bound on this queue pair
     * @param newFlags {@link SendFlags}
     */
    public SendWorkRequest invalidate(long newWrId, int key, int newFlags) {
        return set(SendOpcode.INVALIDATE, newWrId, 0, key, newFlags);
    }

    /**
     * Makes this a bind; one local entry follows, the part of a region to which the window gives access.
     *
     * @param newWrId a number of yours, returned with the completion
     * @param newWindow a window of this side that is not bound
     * @param access what the peer may do: REMOTE_READ, REMOTE_WRITE, REMOTE_ATOMIC
     * @param newFlags {@link SendFlags}
     */
    public SendWorkRequest bindWindow(long newWrId, MemoryWindow newWindow, Set<AccessFlag> access, int newFlags) {
        set(SendOpcode.BIND_WINDOW, newWrId, 0, 0, newFlags);
        window = newWindow;
        windowAccess = access;
        return this;
    }

    /**
     * Adds a local entry.
     *
     * <p>With {@link SendFlags#INLINE}, posting copies the bytes from this process's memory at {@code address} and
     * checks no key, as {@code ibv_post_send} does. Nothing checks the address: a wrong one crashes the process. It
     * must be an address of this process even if the region is {@link AccessFlag#ZERO_BASED}; {@link
     * #add(MemoryRegion, long, long)} computes the right one.
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

    /**
     * Makes this SEND, with or without an immediate, a datagram.
     *
     * @param host where it goes
     * @param number of the queue pair there
     * @param key that queue pair's {@link QueuePairAttributes#queueKey()}; a negative one stands for that of the queue
     *     pair that posts
     */
    public SendWorkRequest to(AddressHandle host, int number, int key) {
        addressHandle = host;
        remoteNumber = number;
        queueKey = key;
        return this;
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

    /** First address at the peer, of READ, WRITE and atomics. */
    public long remoteAddress() {
        return remoteAddress;
    }

    /** The peer's key of READ, WRITE and atomics; the key that SEND_INVALIDATE and INVALIDATE invalidate. */
    public int rkey() {
        return rkey;
    }

    /** What SEND_IMMEDIATE and WRITE_IMMEDIATE hand to the peer. */
    public int immediate() {
        return immediate;
    }

    /** What COMPARE_AND_SWAP expects, or what FETCH_AND_ADD adds (C: {@code compare_add}). */
    public long compareAdd() {
        return compareAdd;
    }

    /** The replacement of COMPARE_AND_SWAP. */
    public long swap() {
        return swap;
    }

    /** The window of BIND_WINDOW; null for every other request. */
    public @Nullable MemoryWindow window() {
        return window;
    }

    /** The peer's rights through the window. */
    public Set<AccessFlag> windowAccess() {
        return windowAccess;
    }

    /** Where a datagram goes; null for every other request. */
    public @Nullable AddressHandle addressHandle() {
        return addressHandle;
    }

    /** The queue pair that a datagram goes to (C: {@code remote_qpn}). */
    public int remoteNumber() {
        return remoteNumber;
    }

    /** What a datagram carries (C: {@code remote_qkey}). */
    public int queueKey() {
        return queueKey;
    }

    private SendWorkRequest set(SendOpcode newOpcode, long newWrId, long newRemoteAddress, int newRkey, int newFlags) {
        if (opcode != newOpcode) { // the collector's barrier costs more than to look
            opcode = newOpcode;
        }
        wrId = newWrId;
        remoteAddress = newRemoteAddress;
        rkey = newRkey;
        flags = newFlags;
        window = null;
        addressHandle = null;
        local.clear();
        return this;
    }
}
