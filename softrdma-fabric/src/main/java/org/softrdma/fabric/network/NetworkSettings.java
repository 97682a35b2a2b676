package org.softrdma.fabric.network;

import java.util.concurrent.TimeUnit;

/**
 * What a network does to what it carries, within what TCP and UDP allow.
 *
 * @param bufferBytes of each direction of a connection: bytes that are sent and not received yet
 * @param leastLatencyNs of bytes on their way
 * @param mostLatencyNs of bytes on their way
 * @param cuts times of a thousand that a piece arrives in two, and that a send takes only a part
 * @param fullBuffers times of a thousand that a send takes nothing for a while, whatever is under way
 * @param mostFullNs how long at most
 * @param ring whether the sockets of devices receive ahead and send at the end of a turn, as those of io_uring do
 * @param datagrams what it does to datagrams
 */
public record NetworkSettings(
        int bufferBytes,
        long leastLatencyNs,
        long mostLatencyNs,
        int cuts,
        int fullBuffers,
        long mostFullNs,
        boolean ring,
        DatagramSettings datagrams) {
    private static final long MOST_FULL_NS = TimeUnit.MILLISECONDS.toNanos(5);

    /** 64 KiB, 5 to 50 microseconds, every fifth piece cut; a send takes what there is room for. */
    public static final NetworkSettings DEFAULT = new NetworkSettings(
            1 << 16,
            TimeUnit.MICROSECONDS.toNanos(5),
            TimeUnit.MICROSECONDS.toNanos(50),
            200,
            0,
            MOST_FULL_NS,
            false,
            DatagramSettings.DEFAULT);

    /** Checks. */
    public NetworkSettings {
        if (bufferBytes < 1) {
            throw new IllegalArgumentException("bufferBytes=" + bufferBytes + ": expected at least 1");
        }
        if (leastLatencyNs < 0 || mostLatencyNs < leastLatencyNs) {
            throw new IllegalArgumentException("leastLatencyNs=" + leastLatencyNs + ", mostLatencyNs=" + mostLatencyNs
                    + ": expected 0 <= leastLatencyNs <= mostLatencyNs");
        }
        if (mostFullNs < 1) {
            throw new IllegalArgumentException("mostFullNs=" + mostFullNs + ": expected at least 1");
        }
    }

    /** The same with buffers of another size. */
    public NetworkSettings withBufferBytes(int bytes) {
        return new NetworkSettings(
                bytes, leastLatencyNs, mostLatencyNs, cuts, fullBuffers, mostFullNs, ring, datagrams);
    }

    /** The same with another share of cuts. */
    public NetworkSettings withCuts(int perMille) {
        return new NetworkSettings(
                bufferBytes, leastLatencyNs, mostLatencyNs, perMille, fullBuffers, mostFullNs, ring, datagrams);
    }

    /** The same with another share of sends that take nothing for a while. */
    public NetworkSettings withFullBuffers(int perMille) {
        return new NetworkSettings(
                bufferBytes, leastLatencyNs, mostLatencyNs, cuts, perMille, mostFullNs, ring, datagrams);
    }

    /** The same with devices whose sockets do as those of io_uring. */
    public NetworkSettings withRing() {
        return new NetworkSettings(
                bufferBytes, leastLatencyNs, mostLatencyNs, cuts, fullBuffers, mostFullNs, true, datagrams);
    }

    /** The same with other datagrams. */
    public NetworkSettings with(DatagramSettings newDatagrams) {
        return new NetworkSettings(
                bufferBytes, leastLatencyNs, mostLatencyNs, cuts, fullBuffers, mostFullNs, ring, newDatagrams);
    }
}
