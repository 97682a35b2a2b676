package org.softrdma.sim.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.math.BigInteger;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The rule of every access, at each of its borders (RFC 5041 section 7.1, RFC 5040 section 5.4). */
class AccessCheckTest {
    private static final long SEED = Long.getLong("softrdma.test.seed", 5_041L);
    private static final int ROUNDS = 300_000;

    private static final int DOMAIN = 7;
    private static final int RIGHT = AccessRights.REMOTE_READ;

    /** A region of 256 bytes from 4096. */
    @ParameterizedTest(name = "{0}: {1} + {2} is {3}")
    @CsvSource({
        "all of it, 4096, 256, GRANTED",
        "its first byte, 4096, 1, GRANTED",
        "its last byte, 4351, 1, GRANTED",
        "all but its ends, 4097, 254, GRANTED",
        "the byte before it, 4095, 1, OUT_OF_BOUNDS",
        "the byte behind it, 4352, 1, OUT_OF_BOUNDS",
        "one byte too early, 4095, 256, OUT_OF_BOUNDS",
        "one byte too late, 4097, 256, OUT_OF_BOUNDS",
        "one byte too long, 4096, 257, OUT_OF_BOUNDS",
        "around it, 4095, 258, OUT_OF_BOUNDS",
        "far below it, 0, 1, OUT_OF_BOUNDS",
        "far above it, -2, 1, OUT_OF_BOUNDS",
        "as long as a READ can ask for, 4096, 4294967295, OUT_OF_BOUNDS",
        "as long as an entry can be, 4096, 9223372036854775807, OUT_OF_BOUNDS",
        "up to the last byte but one of 2^64, -2, 1, OUT_OF_BOUNDS",
        "up to 2^64, -1, 1, ADDRESS_WRAP",
        "beyond 2^64, -1, 2, ADDRESS_WRAP",
        "beyond 2^64 and back into the region, -1, 4200, ADDRESS_WRAP",
        "the longest beyond 2^64, -1, 9223372036854775807, ADDRESS_WRAP"
    })
    void shouldGrantWhatLiesInTheRegion(String what, long address, long length, AccessResult expected) {
        assertEquals(expected, AccessCheck.check(DOMAIN, RIGHT, 4096, 256, DOMAIN, RIGHT, address, length), what);
    }

    /** A region that begins at 0, as ZERO_BASED ones do. */
    @ParameterizedTest
    @CsvSource({
        "0, 256, GRANTED",
        "255, 1, GRANTED",
        "256, 1, OUT_OF_BOUNDS",
        "0, 257, OUT_OF_BOUNDS",
        "-1, 1, ADDRESS_WRAP"
    })
    void shouldCountFromZeroWhenTheRegionDoes(long address, long length, AccessResult expected) {
        assertEquals(expected, AccessCheck.check(DOMAIN, RIGHT, 0, 256, DOMAIN, RIGHT, address, length));
    }

    /** Addresses are unsigned: a region may lie on both sides of 2^63. */
    @ParameterizedTest
    @CsvSource({
        "9223372036854775800, 16, GRANTED",
        "9223372036854775807, 2, GRANTED",
        "-9223372036854775808, 8, GRANTED",
        "-9223372036854775808, 9, OUT_OF_BOUNDS",
        "9223372036854775799, 2, OUT_OF_BOUNDS"
    })
    void shouldTakeAddressesForUnsigned(long address, long length, AccessResult expected) {
        long base = Long.MAX_VALUE - 7;
        assertEquals(expected, AccessCheck.check(DOMAIN, RIGHT, base, 16, DOMAIN, RIGHT, address, length));
    }

    @Test
    void shouldNeedEveryRightThatIsAskedFor() {
        int all = AccessRights.LOCAL_WRITE | AccessRights.REMOTE_WRITE | AccessRights.REMOTE_READ;
        for (int region = AccessRights.NONE; region <= all; region++) {
            for (int needed = AccessRights.NONE; needed <= all; needed++) {
                boolean subset = true;
                for (int right = 1; right <= all; right <<= 1) {
                    subset &= (needed & right) == 0 || (region & right) != 0;
                }
                assertEquals(
                        subset ? AccessResult.GRANTED : AccessResult.NO_RIGHT,
                        AccessCheck.check(DOMAIN, region, 0, 1, DOMAIN, needed, 0, 1),
                        "region has " + region + ", needed " + needed);
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"7, GRANTED", "6, WRONG_DOMAIN", "0, WRONG_DOMAIN", "-7, WRONG_DOMAIN"})
    void shouldRefuseAnotherDomain(int domain, AccessResult expected) {
        assertEquals(expected, AccessCheck.check(DOMAIN, RIGHT, 0, 1, domain, RIGHT, 0, 1));
    }

    /** What a peer learns from a Terminate: nothing about the region of a domain that is not its own. */
    @Test
    void shouldLookAtDomainThenRightThenRange() {
        long wrap = -1;
        long outside = 256;
        int none = AccessRights.NONE;
        assertEquals(AccessResult.WRONG_DOMAIN, AccessCheck.check(DOMAIN, none, 0, 1, 8, RIGHT, wrap, 2));
        assertEquals(AccessResult.NO_RIGHT, AccessCheck.check(DOMAIN, none, 0, 1, DOMAIN, RIGHT, wrap, 2));
        assertEquals(AccessResult.ADDRESS_WRAP, AccessCheck.check(DOMAIN, RIGHT, 0, 1, DOMAIN, RIGHT, wrap, 2));
        assertEquals(AccessResult.OUT_OF_BOUNDS, AccessCheck.check(DOMAIN, RIGHT, 0, 1, DOMAIN, RIGHT, outside, 2));
    }

    @Test
    void shouldAgreeWithArithmeticWithoutABorder() {
        Random random = new Random(SEED);
        for (int round = 0; round < ROUNDS; round++) {
            long base = nearABorder(random);
            long regionLength = 1 + (nearABorder(random) >>> (1 + random.nextInt(60)));
            long address = random.nextBoolean() ? base + random.nextInt(-4, 5) : nearABorder(random);
            long length = Math.max(
                    1, random.nextBoolean() ? regionLength + random.nextInt(-4, 5) : nearABorder(random) >>> 1);
            if (regionLength < 1 || length < 1 || end(base, regionLength).bitLength() > Long.SIZE) {
                continue;
            }
            assertEquals(
                    expected(base, regionLength, address, length),
                    AccessCheck.check(DOMAIN, RIGHT, base, regionLength, DOMAIN, RIGHT, address, length),
                    String.format("region %x+%x, access %x+%x, seed %d", base, regionLength, address, length, SEED));
        }
    }

    private static AccessResult expected(long base, long regionLength, long address, long length) {
        if (end(address, length).bitLength() > Long.SIZE) {
            return AccessResult.ADDRESS_WRAP;
        }
        boolean inside = unsigned(address).compareTo(unsigned(base)) >= 0
                && end(address, length).compareTo(end(base, regionLength)) <= 0;
        return inside ? AccessResult.GRANTED : AccessResult.OUT_OF_BOUNDS;
    }

    private static long nearABorder(Random random) {
        return (random.nextLong() << random.nextInt(Long.SIZE)) + random.nextInt(-4, 5);
    }

    private static BigInteger end(long start, long length) {
        return unsigned(start).add(BigInteger.valueOf(length));
    }

    private static BigInteger unsigned(long value) {
        return new BigInteger(Long.toUnsignedString(value));
    }
}
