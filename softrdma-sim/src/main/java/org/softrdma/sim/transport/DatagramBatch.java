package org.softrdma.sim.transport;

import java.net.InetSocketAddress;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Datagrams that are sent or received by one call (sendmmsg(2), recvmmsg(2)): where the bytes of each are, how many,
 * and who the peer is. Used again and again. One thread.
 */
public final class DatagramBatch {
    private final long[] addresses;
    private final int[] rooms;
    private final int[] lengths;
    private final @Nullable InetSocketAddress[] peers;
    private int size;

    /**
     * An empty batch.
     *
     * @param capacity most datagrams
     */
    public DatagramBatch(int capacity) {
        addresses = new long[capacity];
        rooms = new int[capacity];
        lengths = new int[capacity];
        peers = new InetSocketAddress[capacity];
    }

    /** Number of datagrams, or of buffers for them. */
    public int size() {
        return size;
    }

    /** Empties it. */
    public void clear() {
        size = 0;
    }

    /**
     * Adds a datagram that is to be sent.
     *
     * @param address of its bytes
     * @param length bytes
     * @param peer where to
     */
    public void add(long address, int length, InetSocketAddress peer) {
        addBuffer(address, length);
        peers[size - 1] = peer;
    }

    /**
     * Adds a buffer that a datagram can be received into.
     *
     * @param address of the buffer
     * @param room bytes
     */
    public void addBuffer(long address, int room) {
        Objects.checkIndex(size, addresses.length);
        addresses[size] = address;
        rooms[size] = room;
        lengths[size] = room;
        peers[size] = null;
        size++;
    }

    /** A socket has received a datagram into a buffer, as much of it as there was room for. */
    public void received(int index, int length, InetSocketAddress peer) {
        Objects.checkIndex(index, size);
        lengths[index] = length;
        peers[index] = peer;
    }

    /** Address of the bytes. */
    public long address(int index) {
        Objects.checkIndex(index, size);
        return addresses[index];
    }

    /** Bytes that the buffer has room for. */
    public int room(int index) {
        Objects.checkIndex(index, size);
        return rooms[index];
    }

    /** Bytes of the datagram; if more than {@link #room}, those beyond it are lost. */
    public int length(int index) {
        Objects.checkIndex(index, size);
        return lengths[index];
    }

    /** The receiver of a datagram to be sent, the sender of one that was received. */
    public InetSocketAddress peer(int index) {
        Objects.checkIndex(index, size);
        return Objects.requireNonNull(peers[index], "a buffer without a datagram has no peer");
    }
}
