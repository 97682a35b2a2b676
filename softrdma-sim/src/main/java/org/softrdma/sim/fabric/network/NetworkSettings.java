package org.softrdma.sim.fabric.network;

import java.util.concurrent.TimeUnit;

/**
 * What a network does to what it carries, within what TCP and UDP allow.
 *
 * @param bufferBytes of each direction of a connection: bytes that are sent and not received yet
 * @param leastLatencyNs of bytes on their way
 * @param mostLatencyNs of bytes on their way
 * @param cuts times of a thousand that a piece arrives in two, and that a send takes only a part
 * @param datagrams what it does to datagrams
 */
public record NetworkSettings(
        int bufferBytes, long leastLatencyNs, long mostLatencyNs, int cuts, DatagramSettings datagrams) {
    /** 64 KiB, 5 to 50 microseconds, every fifth piece cut. */
    public static final NetworkSettings DEFAULT = new NetworkSettings(
            1 << 16,
            TimeUnit.MICROSECONDS.toNanos(5),
            TimeUnit.MICROSECONDS.toNanos(50),
            200,
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
    }

    /** The same with buffers of another size. */
    public NetworkSettings withBufferBytes(int bytes) {
        return new NetworkSettings(bytes, leastLatencyNs, mostLatencyNs, cuts, datagrams);
    }

    /** The same with another share of cuts. */
    public NetworkSettings withCuts(int perMille) {
        return new NetworkSettings(bufferBytes, leastLatencyNs, mostLatencyNs, perMille, datagrams);
    }

    /** The same with other datagrams. */
    public NetworkSettings with(DatagramSettings newDatagrams) {
        return new NetworkSettings(bufferBytes, leastLatencyNs, mostLatencyNs, cuts, newDatagrams);
    }
}
