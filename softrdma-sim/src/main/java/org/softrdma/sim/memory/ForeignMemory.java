package org.softrdma.sim.memory;

/**
 * Memory of another process.
 *
 * @param owner the process
 * @param address of its first byte there
 * @param length bytes
 */
public record ForeignMemory(ForeignProcess owner, long address, long length) {
    /**
     * A range of addresses, of which nothing is touched.
     *
     * @throws IllegalArgumentException if it is none that a process can have
     */
    public ForeignMemory {
        if (address < 0 || length < 1 || address > Long.MAX_VALUE - length) {
            throw new IllegalArgumentException("address=0x" + Long.toHexString(address) + " and length=" + length
                    + ": expected at least 1 byte, below 2^63");
        }
    }

    @Override
    public String toString() {
        return owner + " at 0x" + Long.toHexString(address) + "+" + length;
    }
}
