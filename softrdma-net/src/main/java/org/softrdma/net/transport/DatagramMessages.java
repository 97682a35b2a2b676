package org.softrdma.net.transport;

import org.softrdma.net.kernel.MessageVector;

/** What the calls of a loop's sockets for datagrams are made with, one call after the other. Thread: the loop. */
final class DatagramMessages {
    private static final int ENTRIES = 64;

    private final MessageVector entries = new MessageVector(ENTRIES);
    private final MessageVector pieces = new MessageVector(DatagramSocket.MAX_SEGMENTS);

    /** Those of a batch. */
    MessageVector entries() {
        return entries;
    }

    /** The datagrams of a train that is cut. */
    MessageVector pieces() {
        return pieces;
    }
}
