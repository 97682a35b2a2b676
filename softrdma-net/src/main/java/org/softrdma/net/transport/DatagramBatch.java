package org.softrdma.net.transport;

import java.net.InetSocketAddress;
import java.util.Objects;

/**
 * Datagrams that are sent or received by one call (sendmmsg(2), recvmmsg(2)): where the bytes of each are, how many,
 * and who the peer is. An entry may be a train: datagrams of one peer that lie one behind the other, of equal length but for
 * the last, which may be shorter (UDP_SEGMENT and UDP_GRO of udp(7)). Used again and again. One thread.
 */
public final class DatagramBatch {
    /** Most bytes of all datagrams of a train, and of a datagram of IP. */
    public static final int MAX_TRAIN_BYTES = 65_507;

    /** Most datagrams of a train. */
    public static final int MAX_SEGMENTS = 64;

    private final long[] addresses;
    private final int[] rooms;
    private final int[] lengths;
    private final int[] segments;
    private final int[] typesOfService;
    private final PeerAddress[] peers;
    private int size;

    /**
     * An empty batch.
     *
     * @param capacity most entries
     */
    public DatagramBatch(int capacity) {
        addresses = new long[capacity];
        rooms = new int[capacity];
        lengths = new int[capacity];
        segments = new int[capacity];
        typesOfService = new int[capacity];
        peers = new PeerAddress[capacity];
        for (int i = 0; i < capacity; i++) {
            peers[i] = new PeerAddress();
        }
    }

    /** Number of datagrams, trains, or buffers for them. */
    public int size() {
        return size;
    }

    /** Most of them. */
    public int capacity() {
        return addresses.length;
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
     * @param peer where to; it is copied
     */
    public void add(long address, int length, PeerAddress peer) {
        addBuffer(address, length);
        peers[size - 1].set(peer);
    }

    /** As {@link #add(long, int, PeerAddress)}. */
    public void add(long address, int length, InetSocketAddress peer) {
        addBuffer(address, length);
        peers[size - 1].set(peer);
    }

    /**
     * Adds a train that is to be sent.
     *
     * @param address of its bytes
     * @param length bytes of all its datagrams
     * @param segment bytes of each but the last, more than 0
     * @param peer where to; it is copied
     */
    public void addTrain(long address, int length, int segment, PeerAddress peer) {
        if (segment < 1) {
            throw new IllegalArgumentException("segment=" + segment + ": expected at least 1");
        }
        add(address, length, peer);
        segments[size - 1] = Math.min(segment, length);
    }

    /**
     * Adds a buffer that a datagram or a train can be received into.
     *
     * @param address of the buffer
     * @param room bytes
     */
    public void addBuffer(long address, int room) {
        Objects.checkIndex(size, addresses.length);
        addresses[size] = address;
        rooms[size] = room;
        lengths[size] = room;
        segments[size] = room;
        typesOfService[size] = 0;
        size++;
    }

    /**
     * A socket has received something into a buffer, as much of it as there was room for.
     *
     * @param index of the buffer
     * @param length bytes that came
     * @param segment of a train: bytes of each datagram but the last; else {@code length}
     * @param typeOfService of its IP header, or the traffic class
     * @return the sender, which the socket sets
     */
    public PeerAddress received(int index, int length, int segment, int typeOfService) {
        Objects.checkIndex(index, size);
        lengths[index] = length;
        segments[index] = segment;
        typesOfService[index] = typeOfService;
        return peers[index];
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

    /** Bytes of the datagram, or of all datagrams of a train; if more than {@link #room}, those beyond it are lost. */
    public int length(int index) {
        Objects.checkIndex(index, size);
        return lengths[index];
    }

    /** Bytes of each datagram of a train but the last, which may be shorter; of a datagram by itself, {@link #length}. */
    public int segment(int index) {
        Objects.checkIndex(index, size);
        return segments[index];
    }

    /** Number of datagrams: 1, or those of a train. */
    public int datagrams(int index) {
        return isTrain(index) ? Math.ceilDiv(lengths[index], segments[index]) : 1;
    }

    /** True if it is a train of several datagrams. */
    public boolean isTrain(int index) {
        Objects.checkIndex(index, size);
        return segments[index] < lengths[index];
    }

    /** Type of service or traffic class with which it was received, 0 if the socket does not know. */
    public int typeOfService(int index) {
        Objects.checkIndex(index, size);
        return typesOfService[index];
    }

    /** The receiver of what is to be sent, the sender of what was received, until this entry is used again. */
    public PeerAddress peer(int index) {
        Objects.checkIndex(index, size);
        return peers[index];
    }

    /**
     * Refuses what a socket cannot send.
     *
     * @param from the first entry
     * @param count how many
     * @param maxBytes of a datagram
     * @param ipv6 false if it sends to IPv4 addresses only
     */
    public void check(int from, int count, int maxBytes, boolean ipv6) {
        Objects.checkFromIndexSize(from, count, size);
        for (int i = from; i < from + count; i++) {
            if (!ipv6 && !peers[i].isIpv4()) {
                throw new IllegalArgumentException(
                        "peer=" + peers[i] + ": expected an IPv4 address, because the socket has one");
            }
            if (segments[i] > maxBytes) {
                throw new IllegalArgumentException("length=" + segments[i] + " > maxBytes=" + maxBytes);
            }
            if (isTrain(i) && (datagrams(i) > MAX_SEGMENTS || lengths[i] > MAX_TRAIN_BYTES)) {
                throw new IllegalArgumentException("a train of " + datagrams(i) + " datagrams and " + lengths[i]
                        + " bytes: expected at most " + MAX_SEGMENTS + " and " + MAX_TRAIN_BYTES);
            }
        }
    }
}
