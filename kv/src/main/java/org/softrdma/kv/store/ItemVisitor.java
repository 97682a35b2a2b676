package org.softrdma.kv.store;

/** Looks at an item that was found. */
@FunctionalInterface
public interface ItemVisitor {
    /**
     * Called at most once, with the lock of the item's key held: take what is needed and return.
     *
     * @param item the item; not to be kept
     */
    void visit(StoredItem item);
}
