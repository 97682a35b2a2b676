package org.softrdma.fabric.memory;

/**
 * How peers and scatter/gather entries name the memory that a fabric's applications allocate. The kernel maps it where
 * it likes, and elsewhere if another fabric runs in this process; these addresses are the same in every run of a seed,
 * so that what is on the wire and in memory is the same too. None of them is an address of a process. The running thread.
 */
public final class VirtualAddresses {
    /** Processes have 57 bits of address at most. */
    private static final long FIRST = 1L << 60;

    private long begin;
    private long length;

    /** There is no memory yet. */
    public VirtualAddresses() {}

    /**
     * The memory is there.
     *
     * @param newBegin its real address
     * @param newLength bytes
     */
    void map(long newBegin, long newLength) {
        begin = newBegin;
        length = newLength;
    }

    /** The name of a real address; other memory is named by its own. */
    long nameOf(long real) {
        return real >= begin && real - begin < length ? FIRST + (real - begin) : real;
    }

    /** The real address of a name; a real address is its own. */
    long real(long name) {
        return name >= FIRST && name - FIRST < length ? begin + (name - FIRST) : name;
    }
}
