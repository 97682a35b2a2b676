package org.softrdma.sanitiser.watch;

import org.softrdma.sanitiser.finding.Reporter;

/**
 * What the devices of a sanitiser share.
 *
 * @param reporter takes findings
 * @param memory who may write where
 * @param peers which queue pairs are connected
 * @param datagrams which queue pairs take datagrams, and which datagrams are outstanding
 * @param open what is open
 * @param idle lets others run while a lock is held
 */
public record Watch(
        Reporter reporter,
        MemoryTable memory,
        PeerTable peers,
        DatagramTable datagrams,
        OpenObjects open,
        Runnable idle) {
    /**
     * Of a sanitiser without devices.
     *
     * @param reporter takes findings
     */
    public static Watch of(Reporter reporter) {
        return of(reporter, CallLock.BLOCKING);
    }

    /**
     * Of a sanitiser without devices, where threads must not block.
     *
     * @param reporter takes findings
     * @param idle lets others run
     */
    public static Watch of(Reporter reporter, Runnable idle) {
        return new Watch(reporter, new MemoryTable(), new PeerTable(), new DatagramTable(), new OpenObjects(), idle);
    }

    /** A lock under which the provider is called. */
    public CallLock callLock() {
        return new CallLock(idle);
    }
}
