package org.softrdma.kv.item;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * A 64-bit hash of a key. Seeded, so that only somebody who knows the seed can make keys that collide. Never sent
 * anywhere, so it may change. Eight bytes a step: multiply 64 x 64 to 128 bits and fold, the way of wyhash.
 */
public final class KeyHash {
    private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final long MULTIPLIER = 0x9E37_79B9_7F4A_7C15L;
    private static final long SALT = 0xD6E8_FEB8_6659_FD93L;

    private KeyHash() {}

    /**
     * Hashes a key.
     *
     * @param seed any number, the same for all keys of a table
     * @return never 0
     */
    public static long hash(KeySlice key, long seed) {
        return hash(key.bytes(), key.offset(), key.length(), seed);
    }

    /** The same of a key that is a whole array. */
    public static long hash(byte[] key, long seed) {
        return hash(key, 0, key.length, seed);
    }

    private static long hash(byte[] bytes, int offset, int length, long seed) {
        long hash = seed ^ SALT;
        int at = offset;
        int end = offset + length;
        for (; at + Long.BYTES <= end; at += Long.BYTES) {
            hash = mix(hash ^ (long) LONG.get(bytes, at), MULTIPLIER);
        }
        long rest = 0;
        for (; at < end; at++) {
            rest = rest << Byte.SIZE | Byte.toUnsignedInt(bytes[at]);
        }
        hash = mix(hash ^ rest, MULTIPLIER ^ length);
        hash = mix(hash ^ seed, SALT);
        return hash == 0 ? 1 : hash;
    }

    private static long mix(long a, long b) {
        return a * b ^ Math.unsignedMultiplyHigh(a, b);
    }
}
