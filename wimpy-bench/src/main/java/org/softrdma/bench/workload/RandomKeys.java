package org.softrdma.bench.workload;

/** Uniform random indexes, cheaply (xorshift64*). Owned by one thread. */
public final class RandomKeys {
    private static final long MULTIPLIER = 0x2545_F491_4F6C_DD1DL;

    private long state = 0x9E37_79B9_7F4A_7C15L;

    public int next(int bound) {
        state ^= state >>> 12;
        state ^= state << 25;
        state ^= state >>> 27;
        return (int) Math.unsignedMultiplyHigh(state * MULTIPLIER, bound);
    }
}
