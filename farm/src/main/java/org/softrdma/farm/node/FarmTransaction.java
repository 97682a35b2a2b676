package org.softrdma.farm.node;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.softrdma.farm.memory.ObjectImage;
import org.softrdma.farm.transaction.ObjectVersion;
import org.softrdma.farm.transaction.WriteEntry;

/**
 * What a transaction has read, and what it will write: nothing is changed before the commit. Each object is as it was at
 * one instant, but before the commit nothing is promised between objects (the paper's later version adds that): what they
 * say together may be of no moment, and then the commit fails. One thread of the application.
 */
public final class FarmTransaction {
    /** The epoch of what it has read, if it has read nothing. */
    static final int ANY_EPOCH = 0;

    /** Looks at an object that is being changed, before the transaction gives up. */
    private static final int MOST_LOOKS = 64;

    private final NodeParts node;
    private final Consumer<NodeTask> waits;
    private final Map<Long, ReadObject> objects = new LinkedHashMap<>();
    private int epoch = ANY_EPOCH;

    private static final class ReadObject {
        private final ObjectImage image;
        private WriteEntry.Change change = WriteEntry.Change.NONE;

        ReadObject(ObjectImage image) {
            this.image = image;
        }
    }

    /** The body of a transaction cannot go on: it begins again, or ends. */
    static final class Abandoned extends RuntimeException {
        private static final long serialVersionUID = 1;

        Abandoned(String reason) {
            super(reason, null, false, false);
        }
    }

    /**
     * A transaction that has done nothing.
     *
     * @param node where
     * @param waits hands a task to the node's thread, and waits for it
     */
    FarmTransaction(NodeParts node, Consumer<NodeTask> waits) {
        this.node = node;
        this.waits = waits;
    }

    /**
     * Reads an object, or what this transaction will write.
     *
     * @param address of the object
     * @param length of header and payload
     */
    public ObjectImage read(long address, int length) {
        ReadObject known = objects.get(address);
        if (known == null) {
            ObjectImage image = new ObjectImage();
            SpaceRead read = SpaceRead.of(node, address, length, MOST_LOOKS, image);
            try {
                waits.accept(read);
            } catch (FarmException e) {
                if (read.failures() >= MOST_LOOKS) {
                    throw new Abandoned(String.valueOf(e.getMessage()));
                }
                throw e;
            }
            requireEpoch(read.epoch());
            known = new ReadObject(image);
            objects.put(address, known);
        }
        if (known.image.length() != length) {
            throw new IllegalArgumentException("length=" + length + ", but the transaction has read "
                    + known.image.length() + " bytes at " + Long.toHexString(address));
        }
        return known.image;
    }

    private void requireEpoch(int epochOfRead) {
        if (epoch != ANY_EPOCH && epoch != epochOfRead) {
            throw new Abandoned("an epoch has begun");
        }
        epoch = epochOfRead;
    }

    /**
     * The object that it will write: change it.
     *
     * @param address of an object that it has read or allocated
     */
    public ObjectImage write(long address) {
        ReadObject object = required(address);
        if (object.change == WriteEntry.Change.NONE) {
            object.change = WriteEntry.Change.WRITE;
        }
        return object.image;
    }

    /**
     * A new object, all zeroes.
     *
     * @param length of header and payload
     * @param hint address of an object that it is to be near; {@link org.softrdma.farm.memory.FarmAddress#NONE}
     * @return its address; {@link #write} has the object
     */
    public long allocate(int length, long hint) {
        SpaceAllocation allocation = new SpaceAllocation(node, length, hint);
        waits.accept(allocation);
        requireEpoch(allocation.epoch());
        ObjectImage image = new ObjectImage();
        image.reset(length, allocation.version());
        image.incarnation(allocation.incarnation());
        image.allocated(true);
        ReadObject object = new ReadObject(image);
        object.change = WriteEntry.Change.ALLOCATE;
        objects.put(allocation.address(), object);
        return allocation.address();
    }

    /** Frees an object that it has read; does nothing if it is free already. */
    public void free(long address) {
        ReadObject object = required(address);
        if (!object.image.isAllocated()) {
            return;
        }
        object.change = WriteEntry.Change.FREE;
        object.image.nextIncarnation();
        object.image.allocated(false);
    }

    private ReadObject required(long address) {
        ReadObject object = objects.get(address);
        if (object == null) {
            throw new IllegalStateException("the transaction has not read " + Long.toHexString(address));
        }
        return object;
    }

    // ---- the commit

    int epoch() {
        return epoch;
    }

    List<WriteEntry> written() {
        List<WriteEntry> entries = new ArrayList<>();
        objects.forEach((address, object) -> {
            if (object.change != WriteEntry.Change.NONE) {
                entries.add(new WriteEntry(address, object.change, object.image));
            }
        });
        return entries;
    }

    /** What it has read and does not write. */
    List<ObjectVersion> onlyRead() {
        List<ObjectVersion> versions = new ArrayList<>();
        objects.forEach((address, object) -> {
            if (object.change == WriteEntry.Change.NONE) {
                versions.add(new ObjectVersion(address, object.image.version()));
            }
        });
        return versions;
    }
}
