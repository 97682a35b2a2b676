package org.softrdma.sim.memory;

import java.util.random.RandomGenerator;

/**
 * A bijection of 32-bit numbers with secret constants: four Feistel rounds with a multiplication in each. It
 * prevents a peer that knows some keys from computing others. It is not a cipher; keys travel in the clear anyway.
 */
public final class KeyScrambler {
    /** Number of constants. */
    public static final int SECRETS = 8;

    private static final int HALF = 16;
    private static final int HALF_MASK = 0xFFFF;

    private final int key0;
    private final int key1;
    private final int key2;
    private final int key3;
    private final int factor0;
    private final int factor1;
    private final int factor2;
    private final int factor3;

    KeyScrambler(RandomGenerator random) {
        key0 = random.nextInt();
        key1 = random.nextInt();
        key2 = random.nextInt();
        key3 = random.nextInt();
        factor0 = random.nextInt() | 1;
        factor1 = random.nextInt() | 1;
        factor2 = random.nextInt() | 1;
        factor3 = random.nextInt() | 1;
    }

    /**
     * A scrambler with the constants of another one.
     *
     * @param secrets {@link #SECRETS} numbers
     */
    public KeyScrambler(int[] secrets) {
        key0 = secrets[0];
        key1 = secrets[1];
        key2 = secrets[2];
        key3 = secrets[3];
        factor0 = secrets[4];
        factor1 = secrets[5];
        factor2 = secrets[6];
        factor3 = secrets[7];
    }

    /** Its constants: whoever has them can compute every key. */
    public int[] secrets() {
        return new int[] {key0, key1, key2, key3, factor0, factor1, factor2, factor3};
    }

    int scramble(int number) {
        int left = number >>> HALF;
        int right = number & HALF_MASK;
        left ^= round(right, key0, factor0);
        right ^= round(left, key1, factor1);
        left ^= round(right, key2, factor2);
        right ^= round(left, key3, factor3);
        return left << HALF | right;
    }

    /** The number that a key encodes. */
    public int unscramble(int key) {
        int left = key >>> HALF;
        int right = key & HALF_MASK;
        right ^= round(left, key3, factor3);
        left ^= round(right, key2, factor2);
        right ^= round(left, key1, factor1);
        left ^= round(right, key0, factor0);
        return left << HALF | right;
    }

    private static int round(int half, int key, int factor) {
        int x = (half + key) * factor;
        return (x ^ (x >>> HALF)) >>> 8 & HALF_MASK;
    }
}
