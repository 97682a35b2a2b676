package org.softrdma.farm.map;

import org.softrdma.farm.memory.FarmAddress;
import org.softrdma.farm.memory.ObjectImage;
import org.softrdma.farm.table.TableObjects;
import org.softrdma.farm.transaction.LocalObjects;

/**
 * The objects of a shard in a function that is shipped: all that is changed commits with the transaction that the function
 * is a part of. The node's thread.
 */
final class TransactionObjects implements TableObjects {
    private final LocalObjects objects;
    private final long near;

    /**
     * What a function may change.
     *
     * @param objects it
     * @param near the address of an object that new ones are near to
     */
    TransactionObjects(LocalObjects objects, long near) {
        this.objects = objects;
        this.near = near;
    }

    @Override
    public void load(long address, int length, ObjectImage image) {
        image.set(objects.read(address, length));
    }

    @Override
    public long word(long address, int length, int offset) {
        return objects.read(address, length).getLong(offset);
    }

    @Override
    public ObjectImage change(long address, int length) {
        return objects.write(address, length);
    }

    @Override
    public boolean changes(long address) {
        return objects.changes(address);
    }

    @Override
    public long allocate(int length) {
        long address = objects.allocateIfRoom(length, near);
        return address == FarmAddress.NONE ? FULL : address;
    }

    @Override
    public void free(long address, int length) {
        objects.free(address, length);
    }

    @Override
    public void commit() {
        // with the transaction
    }
}
