package org.softrdma.sanitiser.watch;

import org.softrdma.sanitiser.finding.Reporter;

/**
 * What the devices of a sanitiser share.
 *
 * @param reporter takes findings
 * @param memory who may write where
 * @param peers which queue pairs are connected
 * @param open what is open
 */
public record Watch(Reporter reporter, MemoryTable memory, PeerTable peers, OpenObjects open) {
    /**
     * Of a sanitiser without devices.
     *
     * @param reporter takes findings
     */
    public static Watch of(Reporter reporter) {
        return new Watch(reporter, new MemoryTable(), new PeerTable(), new OpenObjects());
    }
}
