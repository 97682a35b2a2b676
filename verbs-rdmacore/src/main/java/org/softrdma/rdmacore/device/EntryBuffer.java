package org.softrdma.rdmacore.device;

import org.softrdma.rdmacore.abi.CMemory;
import org.softrdma.rdmacore.abi.WorkRequestAbi;
import org.softrdma.verbs.ScatterGatherList;

/**
 * Writes {@code ibv_sge}s. Entries of 0 bytes are left out: their keys are not checked, and some devices take a length of
 * 0 for 2 GiB.
 */
final class EntryBuffer {
    private EntryBuffer() {}

    /** Writes entries; returns how many there are without those of 0 bytes. */
    static int write(long to, ScatterGatherList list) {
        int count = 0;
        for (int i = 0; i < list.size(); i++) {
            if (list.length(i) != 0) {
                write(to + count * WorkRequestAbi.ENTRY_BYTES, list.address(i), list.length(i), list.lkey(i));
                count++;
            }
        }
        return count;
    }

    static void write(long entry, long address, long length, int lkey) {
        CMemory.putLong(entry + WorkRequestAbi.ENTRY_ADDRESS, address);
        CMemory.putInt(entry + WorkRequestAbi.ENTRY_LENGTH, (int) length);
        CMemory.putInt(entry + WorkRequestAbi.ENTRY_LKEY, lkey);
    }
}
