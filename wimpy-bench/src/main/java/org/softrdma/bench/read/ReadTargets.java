package org.softrdma.bench.read;

import java.util.SplittableRandom;

/**
 * Where the next READ goes: a random position in a responder's memory, through the one stag of all of it or through the stag
 * of the slice it lies in. Positions are multiples of {@link #POSITION_BYTES}; the sequence is drawn from a fixed seed. Not
 * thread-safe.
 */
public final class ReadTargets {
    static final long POSITION_BYTES = 64;
    private static final long SEED = 0x5EED;

    private final long base;
    private final int[] rkeys;
    private final int positions;
    private final int positionsPerStag;
    private final long positionBytes;
    private long state = new SplittableRandom(SEED).nextLong();
    private int position;

    private ReadTargets(long base, int[] rkeys, int positions, int positionsPerStag, long positionBytes) {
        this.base = base;
        this.rkeys = rkeys;
        this.positions = positions;
        this.positionsPerStag = positionsPerStag;
        this.positionBytes = positionBytes;
    }

    /**
     * All of one region.
     *
     * @param address its first address
     * @param rkey its key
     * @param size bytes of a READ
     */
    public static ReadTargets ofRegion(long address, long length, int rkey, long size) {
        int positions = Math.toIntExact((length - size) / POSITION_BYTES + 1);
        return new ReadTargets(address, new int[] {rkey}, positions, positions, POSITION_BYTES);
    }

    /**
     * The slices of a memory, each with a stag of its own and of as many positions.
     *
     * @param address first address of the memory
     * @param rkeys the stags in the order of their slices
     * @param positions positions of the memory, a multiple of the number of stags
     * @param positionBytes bytes from one position to the next
     */
    public static ReadTargets ofSlices(long address, int[] rkeys, int positions, long positionBytes) {
        return new ReadTargets(address, rkeys, positions, positions / rkeys.length, positionBytes);
    }

    /** Chooses the next. */
    public void next() {
        state ^= state << 13;
        state ^= state >>> 7;
        state ^= state << 17;
        position = (int) (((state >>> 32) * positions) >>> 32);
    }

    /** Its remote address. */
    public long address() {
        return base + offset();
    }

    /** Its distance from the start of the memory. */
    public long offset() {
        return position * positionBytes;
    }

    /** Its stag. */
    public int rkey() {
        return rkeys.length == 1 ? rkeys[0] : rkeys[position / positionsPerStag];
    }
}
