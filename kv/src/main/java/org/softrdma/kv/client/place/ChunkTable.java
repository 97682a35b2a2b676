package org.softrdma.kv.client.place;

import org.softrdma.kv.item.ItemDescriptor;
import org.softrdma.kv.item.Locator;

/**
 * The lengths of the server's chunks by class ("chunk" registration): a locator names a chunk of its class by an rkey
 * of its own, for ever, and whatever item lives there may be the one asked for. Owned by one thread.
 */
public final class ChunkTable implements Registration {
    private static final int WORDS = 3;
    private static final int CLASSES = 256;

    /** By class, 0 if there is no such class. */
    private final int[] chunkLengths = new int[CLASSES];

    /** Nothing is known yet. */
    public ChunkTable() {}

    /** {@code CLASS <number> <length of its chunks>}. */
    @Override
    public boolean add(String[] words) {
        if (words.length != WORDS || !words[0].equals("CLASS")) {
            return false;
        }
        int number = Integer.parseInt(words[1]);
        int length = Integer.parseInt(words[2]);
        if (number < 0
                || number >= CLASSES
                || length < ItemDescriptor.MIN_LENGTH
                || length > Locator.MAX_ITEM_LENGTH
                || length % ItemDescriptor.ALIGNMENT != 0) {
            return false;
        }
        chunkLengths[number] = length;
        return true;
    }

    /** The classes never change, and keys are many: each locator tells its own. */
    @Override
    public boolean knows(int rkey) {
        return true;
    }

    @Override
    public long address(long first, long second, int maxLength) {
        int length = Locator.length(second);
        boolean covered = length != 0
                && length == chunkLengths[Locator.sizeClass(second)]
                && length <= maxLength
                && Locator.offset(first) == 0;
        return covered ? 0 : NOT_COVERED;
    }

    @Override
    public boolean namesChunks() {
        return true;
    }
}
