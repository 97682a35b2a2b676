package org.softrdma.sim.memory;

import org.softrdma.net.memory.BufferOperations;
import org.softrdma.net.memory.NativeMemory;
import org.softrdma.verbs.HostMemory;
import org.softrdma.verbs.MemorySource;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.provider.Creation;
import org.softrdma.verbs.provider.HostMemories;

/**
 * A device's operations on native memory that can fail: those on buffers, and on the memory of registered regions.
 * Nothing else in the module allocates native memory for connections or copies the application's. So this is the one
 * place where a test puts guards around every buffer and makes any call fail. Any thread.
 */
public class MemoryOperations extends BufferOperations {
    private static final int CACHE_LINE = 64;

    /** The operations of this machine. */
    public MemoryOperations() {}

    /**
     * Copies from memory of a region, whoever owns it, to memory of the device; polled memory by whole words.
     *
     * @param source address in its memory
     * @param target memory of the device
     * @param length bytes
     * @return false if another process owns it, and it cannot be read there
     * @throws InternalError if a page of this process is gone
     */
    public final boolean copyFrom(Binding region, long source, long target, long length) {
        ForeignProcess owner = region.owner();
        if (owner != null) {
            return owner.read(source, target, length);
        }
        if (region.isPolled()) {
            copyFromPolled(source, target, length);
        } else {
            copy(source, target, length);
        }
        return true;
    }

    /**
     * Copies from memory of the device to memory of a region that is not polled, whoever owns it.
     *
     * @param source memory of the device
     * @param target address in its memory
     * @param length bytes
     * @return false if another process owns it, and it cannot be written there
     * @throws InternalError if a page of this process is gone
     */
    public final boolean copyTo(long source, Binding region, long target, long length) {
        ForeignProcess owner = region.owner();
        if (owner != null) {
            return owner.write(source, target, length);
        }
        copy(source, target, length);
        return true;
    }

    /**
     * Reads a byte of each cache line, so that a copy from there need not wait for them one after the other. Fails as
     * {@link #copy} does.
     *
     * @return their sum, which the caller keeps: the compiler leaves out what nobody uses
     * @throws InternalError if a page is gone
     */
    public int touch(long address, long length) {
        int sum = 0;
        long at = address;
        while (at < address + length) {
            sum += NativeMemory.getByteAcquire(at); // not later than the safepoint of this round
            at = (at | (CACHE_LINE - 1)) + 1; // a step that the compiler cannot count keeps the safepoint
        }
        return sum;
    }

    /**
     * Copies to polled memory of the application: a word (8 aligned bytes of the target) that lies wholly in the range
     * by one store, other bytes one by one. Fails as {@link #copy} does.
     *
     * @param source memory of the device, of any alignment
     * @param target polled memory
     * @param length bytes
     * @throws InternalError if a page is gone
     */
    public void copyToPolled(long source, long target, long length) {
        long from = source;
        long to = target;
        for (long left = length; left > 0; ) {
            int words = wordsAt(to, left);
            long here = Math.max(1, (long) words * Long.BYTES);
            if (words > 0) {
                NativeMemory.storeWords(from, to, words);
            } else {
                NativeMemory.putByte(to, NativeMemory.getByte(from));
            }
            from += here;
            to += here;
            left -= here;
        }
    }

    /**
     * Copies from polled memory of the application: a word (8 aligned bytes of the source) that lies wholly in the
     * range by one load, other bytes one by one. Fails as {@link #copy} does.
     *
     * @param source polled memory
     * @param target memory of the device, of any alignment
     * @param length bytes
     * @throws InternalError if a page is gone
     */
    public void copyFromPolled(long source, long target, long length) {
        long from = source;
        long to = target;
        for (long left = length; left > 0; ) {
            int words = wordsAt(from, left);
            long here = Math.max(1, (long) words * Long.BYTES);
            if (words > 0) {
                NativeMemory.loadWords(from, to, words);
            } else {
                NativeMemory.putByte(to, NativeMemory.getByte(from));
            }
            from += here;
            to += here;
            left -= here;
        }
    }

    /** How many words to copy next from an address on: 0 if it is not aligned or not one is left. */
    private static int wordsAt(long address, long left) {
        return (address & (Long.BYTES - 1)) == 0 ? (int) (Math.min(left, LARGEST_COPY) / Long.BYTES) : 0;
    }

    /**
     * Copies the end of a message to polled memory, and makes the whole message visible by it: bytes behind the word
     * first, then the word, by release; bytes that have no word in rising order, the last one by release. Who reads
     * what comes last by acquire sees everything that this thread has copied before. If the page of what comes last is
     * gone, the error may come after this method, at the caller's next safepoint.
     *
     * @param source memory of the device, of any alignment
     * @param target polled memory: a word and at most 7 bytes behind it, or a range without a word
     * @param length bytes, 1 to 15
     */
    public void publish(long source, long target, int length) {
        if (wordsAt(target, length) > 0) {
            copyToPolled(source + Long.BYTES, target + Long.BYTES, length - Long.BYTES);
            NativeMemory.putWordRelease(target, NativeMemory.getNativeLong(source));
        } else {
            copyToPolled(source, target, length - 1);
            NativeMemory.putByteRelease(target + length - 1, NativeMemory.getByte(source + length - 1));
        }
    }

    /**
     * Adds to a word of the application, atomically with everybody who accesses the word whole: other engines, and
     * threads of this process.
     *
     * <p>Both atomics are loops, if most often of one round: so each has a safepoint, where the error of a page that is
     * gone is thrown before anybody learns what was read.
     *
     * @param word aligned address
     * @param delta what is added
     * @param fields highest bit of each field of the word, whose carry is dropped; 0 if the word is one field
     * @return what the word was
     * @throws InternalError if the page is gone
     */
    public long fetchAndAdd(long word, long delta, long fields) {
        long before;
        do {
            before = NativeMemory.getWordVolatile(word);
        } while (!NativeMemory.compareAndSetWord(word, before, sum(before, delta, fields)));
        return before;
    }

    /** The highest bits of fields are added without their carry (RFC 7306 section 5.1.1). */
    private static long sum(long one, long other, long fields) {
        return ((one & ~fields) + (other & ~fields)) ^ ((one ^ other) & fields);
    }

    /**
     * Replaces bits of a word of the application if other bits of it are as expected, atomically as {@link
     * #fetchAndAdd}.
     *
     * @param word aligned address
     * @param expected what the word must be
     * @param compared the bits of it that are compared
     * @param replacement what it becomes
     * @param replaced the bits of it that are replaced
     * @return what the word was
     * @throws InternalError if the page is gone
     */
    public long compareAndSwap(long word, long expected, long compared, long replacement, long replaced) {
        long before;
        do {
            before = NativeMemory.getWordVolatile(word);
        } while (((before ^ expected) & compared) == 0
                && !NativeMemory.compareAndSetWord(word, before, (before & ~replaced) | (replacement & replaced)));
        return before;
    }

    /**
     * Adds to a word of a region, whoever owns it.
     *
     * @param word aligned address in its memory
     * @param delta what is added
     * @param original memory of the device, for what the word was
     * @return false if another process owns it, and it cannot be changed there
     * @throws InternalError if a page of this process is gone
     */
    public final boolean fetchAndAdd(Binding region, long word, long delta, long original) {
        ForeignProcess owner = region.owner();
        if (owner != null) {
            return owner.fetchAndAdd(word, delta, original);
        }
        NativeMemory.putNativeLong(original, fetchAndAdd(word, delta, 0));
        return true;
    }

    /**
     * Replaces a word of a region, whoever owns it, if it is as expected.
     *
     * @param word aligned address in its memory
     * @param expected what the word must be
     * @param replacement what it becomes
     * @param original memory of the device, for what the word was
     * @return false if another process owns it, and it cannot be changed there
     * @throws InternalError if a page of this process is gone
     */
    public final boolean compareAndSwap(Binding region, long word, long expected, long replacement, long original) {
        ForeignProcess owner = region.owner();
        if (owner != null) {
            return owner.compareAndSwap(word, expected, replacement, original);
        }
        NativeMemory.putNativeLong(original, compareAndSwap(word, expected, -1, replacement, -1));
        return true;
    }

    /**
     * Memory for the application, which outlives its registrations on any device.
     *
     * @param length bytes, at least 1
     * @param source where its pages come from
     * @throws VerbsException {@code NO_RESOURCES} if the machine has not that much, {@code NOT_SUPPORTED} if it has
     *     none of that kind
     */
    public HostMemory allocateForApplication(long length, MemorySource source) {
        if (length < 1) {
            throw new IllegalArgumentException("length=" + length + ": expected at least 1");
        }
        return Creation.orUndo(
                () -> {
                    PageMemory pages = map(length, source);
                    boolean resident = source instanceof MemorySource.HugePages;
                    return HostMemories.add(pages.segment(), resident, pages::close);
                },
                () -> {},
                length + " bytes");
    }

    /** Allocates whole pages, for tables and for the application; see {@link PageMemory#allocate}. */
    PageMemory map(long length, MemorySource source) {
        return PageMemory.allocate(length, source, 0);
    }
}
