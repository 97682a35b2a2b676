package org.softrdma.bench.machine;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.OptionalInt;

/**
 * Addresses for the servers that a study starts on this machine. Most wires let them share one. RoCEv2's UDP port belongs to one
 * process of an address, so there each server gets an address of its own, of a network of this process: all of 127.0.0.0/8 is
 * this machine. One thread.
 */
public final class LoopbackHosts {
    private static final byte LOOPBACK = 127;
    /** Hosts of a network of 256, but for its first and its last. */
    private static final int MOST = 254;

    private final OptionalInt rocePort;
    private final long process = ProcessHandle.current().pid();
    private int used;

    /**
     * None is used yet.
     *
     * @param rocePort UDP port of servers that speak RoCEv2 in user space, each at an address of its own; empty for others
     */
    public LoopbackHosts(OptionalInt rocePort) {
        this.rocePort = rocePort;
    }

    /** UDP port of servers that speak RoCEv2 in user space; empty for others. */
    public OptionalInt rocePort() {
        return rocePort;
    }

    /** That of the next server. */
    public InetAddress next() {
        if (rocePort.isEmpty()) {
            return InetAddress.getLoopbackAddress();
        }
        if (used == MOST) {
            throw new IllegalStateException("a study has at most " + MOST + " servers with addresses of their own");
        }
        used++;
        try {
            return InetAddress.getByAddress(
                    new byte[] {LOOPBACK, (byte) (process >> Byte.SIZE), (byte) process, (byte) used});
        } catch (UnknownHostException e) {
            throw new IllegalStateException(e); // four bytes are an address
        }
    }
}
