package org.softrdma.kv.races;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicLongArray;
import org.jspecify.annotations.Nullable;

/**
 * What may be got of keys that are written in numbered versions, by one writer each. A writer calls {@link #begin} before it
 * sends and {@link #acknowledge} once it was answered; a reader takes {@link #oldest} before it asks and gives what it got to
 * {@link #check}. What is got must then be
 *
 * <ul>
 *   <li>whole: a value repeats its key and version to its end;
 *   <li>not older than the last version that was acknowledged before the asking, nor than any that another reader had got
 *       before it, nor a version that is a removal;
 *   <li>begun;
 *   <li>there, unless a version in question is a removal or the store may lose keys.
 * </ul>
 *
 * <p>Thread-safe; one writer per key.
 */
final class History {
    /** Every seventh version removes the key, every other of them by an expiry in the past. */
    static final int REMOVE_EVERY = 7;

    private static final int KEY_SHIFT = 48;
    private static final long VERSION_MASK = (1L << KEY_SHIFT) - 1;

    private final AtomicLongArray begun;
    private final AtomicLongArray known;
    private final boolean mayLose;

    /**
     * A history without versions.
     *
     * @param keys how many
     * @param mayLose true if keys may vanish by themselves
     */
    History(int keys, boolean mayLose) {
        this.begun = new AtomicLongArray(keys);
        this.known = new AtomicLongArray(keys);
        this.mayLose = mayLose;
    }

    /** The number of keys. */
    int keys() {
        return begun.length();
    }

    /** The next version of a key: it may be seen from now on. */
    long begin(int key) {
        return begun.incrementAndGet(key);
    }

    /** Whoever asks from now on gets this version or a later one. */
    void acknowledge(int key, long version) {
        known.accumulateAndGet(key, version, Math::max);
    }

    /** True if a version removes the key. */
    static boolean isRemoval(long version) {
        return version % REMOVE_EVERY == 0;
    }

    /** The value of a version. */
    static byte[] value(int key, long version, int length) {
        ByteBuffer value = ByteBuffer.allocate(length);
        while (value.hasRemaining()) {
            value.putLong((long) key << KEY_SHIFT | version);
        }
        return value.array();
    }

    /** The oldest version that a GET that starts now may return. */
    long oldest(int key) {
        return known.get(key);
    }

    /**
     * Checks what a GET returned.
     *
     * @param key the key asked for
     * @param oldest what {@link #oldest} said before
     * @param got the value, or null if there was none
     * @throws AssertionError if that cannot be
     */
    void check(int key, long oldest, byte @Nullable [] got) {
        long latest = begun.get(key);
        if (got == null) {
            boolean removed = oldest == 0 || latest / REMOVE_EVERY * REMOVE_EVERY >= oldest;
            assertTrue(mayLose || removed, () -> "key " + key + ": got nothing, expected " + oldest + " to " + latest);
            return;
        }
        ByteBuffer value = ByteBuffer.wrap(got);
        long word = value.getLong();
        while (value.hasRemaining()) {
            assertEquals(
                    word,
                    value.getLong(),
                    () -> "key " + key + ": torn at " + value.position() + " of " + value.limit());
        }
        assertEquals(key, word >>> KEY_SHIFT, () -> "foreign value for key " + key);
        long version = word & VERSION_MASK;
        assertTrue(
                version >= oldest && version <= latest,
                () -> "key " + key + ": got version " + version + ", expected " + oldest + " to " + latest);
        assertTrue(!isRemoval(version), () -> "key " + key + ": got version " + version + ", which expired at once");
        acknowledge(key, version);
    }
}
