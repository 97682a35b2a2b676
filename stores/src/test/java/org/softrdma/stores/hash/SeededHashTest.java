package org.softrdma.stores.hash;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class SeededHashTest {
    private static long hash(byte[] bytes, int offset, int length, long seed) {
        return SeededHash.of(MemorySegment.ofArray(bytes), offset, length, seed);
    }

    @Test
    void shouldDependOnTheBytesTheLengthAndTheSeedOnly() {
        byte[] bytes = new byte[64];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) (i % 16);
        }
        for (int length = 1; length < 32; length++) {
            assertEquals(hash(bytes, 0, length, 9), hash(bytes, 16, length, 9));
            assertNotEquals(hash(bytes, 0, length, 9), hash(bytes, 0, length, 8));
            assertNotEquals(hash(bytes, 0, length, 9), hash(bytes, 0, length + 1, 9));
        }
        Set<Long> ofZeroes = new HashSet<>();
        for (int length = 1; length < 32; length++) {
            assertTrue(ofZeroes.add(hash(new byte[32], 0, length, 0)), "zeroes of another length");
        }
    }

    @Test
    void shouldSpreadKeysThatDifferInOneBit() {
        int buckets = 64;
        int[] counts = new int[buckets];
        int keys = 64 * 1000;
        for (int i = 0; i < keys; i++) {
            byte[] key = ByteBuffer.allocate(12).putLong(i).putInt(7).array();
            counts[(int) hash(key, 0, key.length, 1) & buckets - 1]++;
        }
        double sum = 0;
        for (int count : counts) {
            sum += Math.pow(count - (double) keys / buckets, 2) / ((double) keys / buckets);
        }
        assertTrue(sum < 120, "chi square with 63 degrees of freedom: " + sum);
    }
}
