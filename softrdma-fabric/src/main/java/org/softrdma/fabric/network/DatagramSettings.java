package org.softrdma.fabric.network;

import java.util.concurrent.TimeUnit;

/**
 * What a network does to datagrams, within what UDP allows. Beside this they have the latency of everything else, each
 * its own, so that they overtake each other.
 *
 * @param maxBytes of a datagram
 * @param bufferBytes of a socket, for what it has sent and is still under way, and for what has arrived; what finds no
 *     room is lost
 * @param losses times of a thousand that a datagram does not arrive
 * @param repeats times of a thousand that it arrives twice
 * @param delays times of a thousand that it is late
 * @param mostDelayNs how late at most
 */
public record DatagramSettings(int maxBytes, int bufferBytes, int losses, int repeats, int delays, long mostDelayNs) {
    /** 4096 bytes, buffers of 64 KiB; 1 % lost, 1 % twice, 5 % late by up to a millisecond. */
    public static final DatagramSettings DEFAULT =
            new DatagramSettings(4096, 1 << 16, 10, 10, 50, TimeUnit.MILLISECONDS.toNanos(1));

    /** Checks. */
    public DatagramSettings {
        if (maxBytes < 1 || bufferBytes < maxBytes) {
            throw new IllegalArgumentException("maxBytes=" + maxBytes + ", bufferBytes=" + bufferBytes
                    + ": expected 1 <= maxBytes <= bufferBytes");
        }
        if (mostDelayNs < 0) {
            throw new IllegalArgumentException("mostDelayNs=" + mostDelayNs + ": expected at least 0");
        }
    }

    /** The same, but every datagram that finds room arrives once. */
    public DatagramSettings harmless() {
        return new DatagramSettings(maxBytes, bufferBytes, 0, 0, 0, 0);
    }

    /** The same with buffers of another size. */
    public DatagramSettings withBufferBytes(int bytes) {
        return new DatagramSettings(maxBytes, bytes, losses, repeats, delays, mostDelayNs);
    }
}
