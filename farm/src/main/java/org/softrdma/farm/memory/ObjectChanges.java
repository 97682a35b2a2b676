package org.softrdma.farm.memory;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.agrona.collections.LongArrayList;
import org.softrdma.stores.MemorySteps;

/**
 * A transaction of one machine: objects of one region that change together. All are locked in the order of their
 * addresses, in the mode that admits readers; then each for writing, just before they are written; and none is unlocked
 * before all are written. A reader that READs several of them one after the other must still check that they belong
 * together. Allocates nothing once it has reached its maximum size. Owned by the thread that owns the region.
 */
public final class ObjectChanges {
    private final ObjectWriter writer;
    private final LongArrayList objects = new LongArrayList();
    private final List<ObjectImage> images = new ArrayList<>();

    /**
     * No changes.
     *
     * @param memory of the region
     * @param checksums whether objects end in a checksum
     * @param steps writes
     */
    public ObjectChanges(MemorySegment memory, boolean checksums, MemorySteps steps) {
        writer = new ObjectWriter(memory, checksums, steps);
    }

    /**
     * An object as it will be: as it is now, until the caller changes it. The same image each time until the commit.
     *
     * @param object its offset in the region
     * @param length of header and payload
     */
    public ObjectImage change(long object, int length) {
        int at = 0;
        while (at < objects.size() && objects.getLong(at) < object) {
            at++;
        }
        if (at < objects.size() && objects.getLong(at) == object) {
            return images.get(at);
        }
        ObjectImage image = images.size() > objects.size() ? images.removeLast() : new ObjectImage();
        objects.addLong(at, object);
        images.add(at, image);
        writer.load(object, length, image);
        return image;
    }

    /** Makes all changes, and starts a new transaction. */
    public void commit() {
        for (int i = 0; i < objects.size(); i++) {
            writer.lock(objects.getLong(i));
        }
        for (int i = 0; i < objects.size(); i++) {
            writer.lockForWriting(objects.getLong(i), images.get(i).length());
        }
        for (int i = 0; i < objects.size(); i++) {
            writer.write(objects.getLong(i), images.get(i));
        }
        for (int i = 0; i < objects.size(); i++) {
            writer.unlock(objects.getLong(i), images.get(i));
        }
        objects.clear();
    }

    /** True if an object changes. */
    public boolean includes(long object) {
        for (int i = 0; i < objects.size(); i++) {
            if (objects.getLong(i) == object) {
                return true;
            }
        }
        return false;
    }

    /**
     * Takes an image of an object as it is, changes not included.
     *
     * @param object its offset in the region
     * @param length of header and payload
     * @param image gets it
     */
    public void load(long object, int length, ObjectImage image) {
        writer.load(object, length, image);
    }
}
