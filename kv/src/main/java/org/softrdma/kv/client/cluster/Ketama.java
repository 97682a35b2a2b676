package org.softrdma.kv.client.cluster;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.security.DigestException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.List;

/**
 * Which server of a cluster a key lives on: consistent hashing as libmemcached does it with
 * {@code MEMCACHED_BEHAVIOR_KETAMA_WEIGHTED}, so that clients of both kinds agree about every key.
 *
 * <p>Each server has points on a circle of 2^32 places, 160 on average, more if its weight is larger. The next point
 * after the hash of a key determines its server. If a server leaves, its keys spread over the others, and all other
 * keys stay where they are; with weights this is not exact, because the number of points is rounded down to a multiple
 * of 4.
 *
 * <p>Points are computed four at a time from an MD5 of "name-index", keys hash to the first four bytes of their MD5,
 * all little endian. If two servers have the same point, the one that was named first wins. The number of points of a
 * server is computed in {@code float}, because libmemcached does: in {@code double}, some weights would give another
 * one.
 *
 * <p>Immutable and thread-safe: each thread has a digest of its own.
 */
public final class Ketama {
    private static final int POINTS_PER_SERVER = 160;
    private static final int POINTS_PER_HASH = 4;
    private static final float ROUNDING = 0.0000000001F;

    private static final ThreadLocal<Hasher> HASHER = ThreadLocal.withInitial(Hasher::new);

    /** Hash in the upper half, index of the server in the lower one; sorted without sign. */
    private final long[] points;

    /**
     * The circle of some servers.
     *
     * @param servers of the cluster, in the order that all clients have
     * @param live which of them have points; at least one
     */
    Ketama(List<ClusterServer> servers, boolean[] live) {
        long totalWeight = 0;
        int liveCount = 0;
        for (int i = 0; i < servers.size(); i++) {
            if (live[i]) {
                liveCount++;
                totalWeight += servers.get(i).weight();
            }
        }
        if (liveCount == 0) {
            throw new IllegalArgumentException("a circle without servers");
        }
        long[] made = new long[(liveCount + 1) * POINTS_PER_SERVER];
        int count = 0;
        for (int i = 0; i < servers.size(); i++) {
            int hashes = live[i] ? hashes(servers.get(i).weight(), totalWeight, liveCount) : 0;
            made = Arrays.copyOf(made, Math.max(made.length, count + hashes * POINTS_PER_HASH));
            for (int hash = 0; hash < hashes; hash++) {
                byte[] name = (servers.get(i).hashedName() + "-" + hash).getBytes(StandardCharsets.UTF_8);
                Hasher hasher = HASHER.get();
                hasher.hash(name);
                for (int j = 0; j < POINTS_PER_HASH; j++) {
                    made[count++] = place(hasher.word(j)) + i;
                }
            }
        }
        points = Arrays.copyOf(made, count);
        Arrays.sort(points);
    }

    /**
     * The circle of all servers of a cluster.
     *
     * @param servers in the order that all clients have; at least one
     */
    public static Ketama of(List<ClusterServer> servers) {
        boolean[] live = new boolean[servers.size()];
        Arrays.fill(live, true);
        return new Ketama(servers, live);
    }

    private static int hashes(int weight, long totalWeight, int liveCount) {
        float share = (float) weight / (float) totalWeight;
        return (int) (float) Math.floor(share * POINTS_PER_SERVER / POINTS_PER_HASH * (float) liveCount + ROUNDING);
    }

    /** Index of the server that a key lives on. Allocates nothing. */
    public int server(byte[] key) {
        Hasher hasher = HASHER.get();
        hasher.hash(key);
        long hash = place(hasher.word(0));
        int from = 0;
        int to = points.length;
        while (from < to) {
            int middle = (from + to) >>> 1;
            if (points[middle] < hash) {
                from = middle + 1;
            } else {
                to = middle;
            }
        }
        return (int) points[from == points.length ? 0 : from];
    }

    /** A hash without sign in the upper half of a number that sorts with its sign. */
    private static long place(int hash) {
        return (long) (hash ^ Integer.MIN_VALUE) << Integer.SIZE;
    }

    /** MD5 of one thread. */
    private static final class Hasher {
        private static final int LENGTH = 16;
        private static final VarHandle WORDS =
                MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

        private final MessageDigest md5;
        private final byte[] result = new byte[LENGTH];

        Hasher() {
            try {
                md5 = MessageDigest.getInstance("MD5");
            } catch (NoSuchAlgorithmException e) {
                throw new IllegalStateException("this Java has no MD5, which ketama needs", e);
            }
        }

        void hash(byte[] bytes) {
            md5.update(bytes);
            try {
                md5.digest(result, 0, LENGTH);
            } catch (DigestException e) {
                throw new IllegalStateException(e); // there is room
            }
        }

        /** Four bytes of the last hash. */
        int word(int index) {
            return (int) WORDS.get(result, index * Integer.BYTES);
        }
    }
}
