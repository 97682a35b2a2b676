package org.softrdma.kv.store;

import java.util.concurrent.locks.ReentrantLock;

/** A part of the keys; everything in it is guarded by its lock. */
final class Stripe {
    final ReentrantLock lock;
    final HashIndex index = new HashIndex();

    /** For what is found, until the lock is given up. */
    final StoredItem view;

    Stripe(SlabAllocator slabs) {
        lock = slabs.turns().newLock();
        view = new StoredItem(slabs);
    }
}
