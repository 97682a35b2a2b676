package org.softrdma.sim.samehost;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.softrdma.net.kernel.SealedMemory;
import org.softrdma.net.memory.NativeMemory;

/**
 * What a device hands over, in the order in which it came: parts of the table, and allocations. Peers ask for one after
 * the other. The first int of a page that they get at the beginning says how many there have been, so they know when to
 * ask again, and the same page says whether this process lives. Thread-safe.
 */
final class SharedFiles implements AutoCloseable {
    /** Bytes of the page that says how many files there have been. */
    static final int DIRECTORY_BYTES = 4096;

    /** Where in that page it stands whether this process lives. */
    static final int OWNER_OFFSET = 64;

    private final ReentrantLock lock = new ReentrantLock();
    private final SealedMemory directory;
    /** From the first peer on: it costs a thread. */
    private @Nullable OwnerLife owner;
    /** One for each that there has been; null if it is gone. */
    private final List<@Nullable Item> items = new ArrayList<>();
    /** The device is closed: nobody asks any more. */
    private boolean closed;

    SharedFiles() throws IOException {
        directory = SealedMemory.create("softrdma directory", DIRECTORY_BYTES);
    }

    /**
     * A file.
     *
     * @param allocation false for a part of the table
     * @param number of the allocation, or of the part
     * @param memory the file
     */
    record Item(boolean allocation, int number, SealedMemory memory) {}

    /**
     * Hands over the page, before anybody can close it.
     *
     * @param to sends its descriptor, without waiting
     * @throws IOException if nobody could say whether this process lives, or the device is closed
     */
    void directory(DirectoryTaker to) throws IOException {
        lock.lock();
        try {
            if (closed) {
                throw new IOException("the device is closed");
            }
            if (owner == null) {
                owner = new OwnerLife(directory.address() + OWNER_OFFSET);
            }
            to.take(directory.descriptor());
        } finally {
            lock.unlock();
        }
    }

    /** Gets the page. */
    @FunctionalInterface
    interface DirectoryTaker {
        /** Its descriptor. */
        void take(int descriptor) throws IOException;
    }

    void add(Item item) {
        lock.lock();
        try {
            if (closed) {
                return;
            }
            items.add(item);
            NativeMemory.putIntRelease(directory.address(), items.size());
        } finally {
            lock.unlock();
        }
    }

    /** A file is not handed over any more; who has it keeps it. */
    void remove(Item item) {
        lock.lock();
        try {
            int index = items.indexOf(item);
            if (index >= 0) {
                items.set(index, null);
            }
        } finally {
            lock.unlock();
        }
    }

    /**
     * Hands over the next file, before anybody can close it.
     *
     * @param after how many the peer has seen
     * @param to sends it, without waiting
     */
    void next(int after, Taker to) throws IOException {
        lock.lock();
        try {
            for (int i = Math.max(0, after); i < items.size(); i++) {
                Item item = items.get(i);
                if (item != null) {
                    to.take(item, i + 1);
                    return;
                }
            }
            to.take(null, items.size());
        } finally {
            lock.unlock();
        }
    }

    /** Gets the next file. */
    @FunctionalInterface
    interface Taker {
        /**
         * The next one.
         *
         * @param item the file, or null if there are no more
         * @param seen how many the peer has seen then
         */
        void take(@Nullable Item item, int seen) throws IOException;
    }

    @Override
    public void close() {
        lock.lock();
        try {
            closed = true;
            items.clear();
            if (owner != null) {
                owner.close();
            }
            directory.close();
        } finally {
            lock.unlock();
        }
    }
}
