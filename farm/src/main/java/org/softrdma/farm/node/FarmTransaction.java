package org.softrdma.farm.node;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.softrdma.farm.memory.FatPointer;
import org.softrdma.farm.memory.ObjectImage;
import org.softrdma.farm.node.SpareReservations.Reservation;
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
    private final TaskWait wait;
    private final Map<Long, ReadObject> objects = new LinkedHashMap<>();
    private final Set<FatPointer> gone = new HashSet<>();
    /** In the order in which the body has asked for them, and how many of these it has asked for since it began. */
    private final List<Reservation> allocations = new ArrayList<>();

    private int allocated;
    private int epoch = ANY_EPOCH;

    /** Waits for a task of the node's thread. */
    interface TaskWait {
        /**
         * Returns once it is done and {@code then} has run, or throws, and the body runs again later.
         *
         * @param task whose end is waited for
         * @param then takes what came of it
         */
        void await(NodeTask task, Runnable then);
    }

    private static final class ReadObject {
        private final ObjectImage before;
        private @Nullable ObjectImage after;
        private WriteEntry.Change change = WriteEntry.Change.NONE;

        ReadObject(ObjectImage before) {
            this.before = before;
        }

        ObjectImage image() {
            return after == null ? before : after;
        }

        /** The image to change. */
        ObjectImage change(WriteEntry.Change how) {
            ObjectImage changed = after;
            if (changed == null) {
                changed = new ObjectImage();
                changed.set(before);
                after = changed;
            }
            change = how;
            return changed;
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
     * @param wait for tasks of the node's thread
     */
    FarmTransaction(NodeParts node, TaskWait wait) {
        this.node = node;
        this.wait = wait;
    }

    /** Its body begins again: nothing is changed. What was read and allocated is here, and is not asked for twice. */
    void rewind() {
        allocated = 0;
        for (ReadObject object : objects.values()) {
            object.after = null;
            object.change = WriteEntry.Change.NONE;
        }
    }

    /**
     * Reads an object, or what this transaction will write. It must not be changed: {@link #write} has an image for that.
     *
     * @param address of the object
     * @param length of header and payload
     */
    public ObjectImage read(long address, int length) {
        if (!objects.containsKey(address)) {
            ObjectImage image = new ObjectImage();
            SpaceRead read = SpaceRead.of(node, address, length, MOST_LOOKS, image);
            wait.await(read, () -> hasRead(address, read, image));
        }
        ObjectImage image = required(address).image();
        if (image.length() != length) {
            throw new IllegalArgumentException("length=" + length + ", but the transaction has read " + image.length()
                    + " bytes at " + Long.toHexString(address));
        }
        return image;
    }

    /**
     * Reads what a fat pointer points to, or what this transaction will write. It must not be changed: {@link #write} has an
     * image for that.
     *
     * @param pointer to an object
     * @return null if it is no more: it was freed, or its incarnation has gone up for another reason
     */
    public @Nullable ObjectImage read(FatPointer pointer) {
        long address = pointer.address();
        if (!objects.containsKey(address) && !gone.contains(pointer)) {
            ObjectImage image = new ObjectImage();
            PointerJudge judge = new PointerJudge(node.reader(), image);
            judge.expect(pointer.length(), pointer.incarnation());
            SpaceRead read = SpaceRead.of(node, address, pointer.length(), MOST_LOOKS, judge);
            wait.await(read, () -> {
                if (judge.isGone()) {
                    gone.add(pointer); // incarnations never go down, so nobody has to validate that
                } else {
                    hasRead(address, read, image);
                }
            });
        }
        ReadObject object = objects.get(address);
        return object != null && pointer.equals(FatPointer.to(address, object.image())) ? object.image() : null;
    }

    /**
     * What a body throws that has found objects which contradict each other, because they were changed between its reads: it
     * begins again.
     *
     * @param what contradicts
     */
    public RuntimeException contradiction(String what) {
        return new Abandoned(what);
    }

    private void hasRead(long address, SpaceRead read, ObjectImage image) {
        String failure = read.failure();
        if (failure != null && read.failures() >= MOST_LOOKS) {
            throw new Abandoned(failure);
        }
        read.requireSuccess();
        requireEpoch(read.epoch());
        objects.put(address, new ReadObject(image));
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
        return object.change(object.change == WriteEntry.Change.NONE ? WriteEntry.Change.WRITE : object.change);
    }

    /**
     * A new object, all zeroes.
     *
     * @param length of header and payload
     * @param hint address of an object that it is to be near; {@link org.softrdma.farm.memory.FarmAddress#NONE}
     * @return its address; {@link #write} has the object
     */
    public long allocate(int length, long hint) {
        if (allocated == allocations.size()) {
            SpaceAllocation allocation = new SpaceAllocation(node, length, hint);
            wait.await(allocation, () -> hasAllocated(length, allocation));
        }
        long address = allocations.get(allocated++).address();
        ObjectImage ignored = required(address).change(WriteEntry.Change.ALLOCATE);
        return address;
    }

    private void hasAllocated(int length, SpaceAllocation allocation) {
        allocation.requireSuccess();
        Reservation reservation = allocation.reservation();
        allocations.add(reservation);
        requireEpoch(reservation.epoch());
        ObjectImage image = new ObjectImage();
        image.reset(length, reservation.version());
        image.incarnation(reservation.incarnation());
        image.allocated(true);
        objects.put(reservation.address(), new ReadObject(image));
    }

    /** Frees an object that it has read; does nothing if it is free already. */
    public void free(long address) {
        ReadObject object = required(address);
        if (object.image().isAllocated()) {
            ObjectImage image = object.change(WriteEntry.Change.FREE);
            image.nextIncarnation();
            image.allocated(false);
        }
    }

    private ReadObject required(long address) {
        ReadObject object = objects.get(address);
        if (object == null) {
            throw new IllegalStateException("the transaction has not read " + Long.toHexString(address));
        }
        return object;
    }

    /** It is over without effect: others may have what was reserved for it. */
    void giveUp() {
        node.spareReservations().add(allocations);
    }

    // ---- the commit

    int epoch() {
        return epoch;
    }

    /** False if it is over without a message: it has read one object at most, and writes none. */
    boolean needsCommit() {
        return objects.size() > 1
                || objects.values().stream().anyMatch(object -> object.change != WriteEntry.Change.NONE);
    }

    List<WriteEntry> written() {
        List<WriteEntry> entries = new ArrayList<>();
        objects.forEach((address, object) -> {
            if (object.change != WriteEntry.Change.NONE) {
                entries.add(new WriteEntry(address, object.change, object.image()));
            }
        });
        return entries;
    }

    /** What it has read and does not write. */
    List<ObjectVersion> onlyRead() {
        List<ObjectVersion> versions = new ArrayList<>();
        objects.forEach((address, object) -> {
            if (object.change == WriteEntry.Change.NONE) {
                versions.add(new ObjectVersion(address, object.before.version()));
            }
        });
        return versions;
    }
}
