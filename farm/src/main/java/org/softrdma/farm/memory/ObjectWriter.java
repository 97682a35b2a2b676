package org.softrdma.farm.memory;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import org.softrdma.stores.MemorySteps;

/**
 * Writes objects of one region so that a reader of {@link LockFreeReader} takes the old bytes or the new ones: lock for
 * writing, spoil the line versions, write the data, write the line versions, unlock with the next version. A fence
 * stands between each two of these steps (section 3.4 of the paper). The thread that owns the region.
 */
public final class ObjectWriter {
    private static final VarHandle WORD =
            ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN).varHandle();

    private final MemorySegment memory;
    private final boolean checksums;
    private final MemorySteps steps;

    /**
     * Of a region.
     *
     * @param memory of the region
     * @param checksums whether objects end in a checksum
     * @param steps writes
     */
    public ObjectWriter(MemorySegment memory, boolean checksums, MemorySteps steps) {
        this.memory = memory;
        this.checksums = checksums;
        this.steps = steps;
    }

    /**
     * Takes an image of an object as it is.
     *
     * @param object its offset in the region
     * @param length of header and payload
     * @param image gets it, without its lock
     */
    public void load(long object, int length, ObjectImage image) {
        image.resize(length);
        ObjectLines.gather(memory, object, object, length, image.segment());
        image.version(image.version() & ~FarmObjectDescriptor.LOCK_MASK);
    }

    /** The object belongs to a transaction: readers may still take what is there. It must be free. */
    void lock(long object) {
        long version = (long) WORD.getOpaque(memory, object);
        if ((version & FarmObjectDescriptor.LOCK_MASK) != 0
                || !WORD.compareAndSet(memory, object, version, version | FarmObjectDescriptor.READERS_ALLOWED)) {
            throw new IllegalStateException("object " + object + " with version " + version + " is locked already");
        }
        steps.step(ObjectStep.LOCKED);
    }

    /**
     * Locks an object if it is free and as it was.
     *
     * @param object its offset in the region
     * @param expectedVersion the version that it had
     * @param mode {@link FarmObjectDescriptor#READERS_ALLOWED} or {@link FarmObjectDescriptor#EXCLUSIVE}
     * @return false if it is locked, or of another version
     */
    public boolean tryLock(long object, long expectedVersion, long mode) {
        boolean locked = WORD.compareAndSet(memory, object, expectedVersion, expectedVersion | mode);
        steps.step(ObjectStep.LOCKED);
        return locked;
    }

    /** The version of an object, with its lock. */
    public long version(long object) {
        return (long) WORD.getOpaque(memory, object);
    }

    /** Gives the lock of an object back that was not written. */
    public void release(long object) {
        WORD.setOpaque(memory, object, version(object) & ~FarmObjectDescriptor.LOCK_MASK);
        steps.step(ObjectStep.UNLOCKED);
    }

    /** Locks an object for good, whoever has it: from now on no reader takes it. */
    public void lockAgainstReaders(long object) {
        long version = version(object) & ~FarmObjectDescriptor.LOCK_MASK;
        WORD.setOpaque(memory, object, version | FarmObjectDescriptor.EXCLUSIVE);
        steps.step(ObjectStep.LOCKED_FOR_WRITING);
    }

    /**
     * From now on no reader takes the object, and its lines are spoilt until it is unlocked.
     *
     * @param object its offset in the region
     * @param length of header and payload
     */
    public void lockForWriting(long object, int length) {
        lockAgainstReaders(object);
        steps.fence();
        ObjectLines.setVersions(memory, object, allOf(length), FarmObjectDescriptor.LINE_LOCKED, steps);
        steps.fence(); // the locks before the data
    }

    /**
     * Writes incarnation, payload and checksum.
     *
     * @param object its offset in the region
     * @param image what it is to be; its version goes up by a write's
     */
    public void write(long object, ObjectImage image) {
        image.version(image.version() + FarmObjectDescriptor.VERSION_STEP);
        if (checksums) {
            image.seal();
        }
        ObjectLines.scatter(
                image.segment(), FarmObjectDescriptor.INCARNATION_OFFSET, allOf(image.length()), memory, object, steps);
        steps.fence(); // the data before the versions
    }

    /**
     * Readers take the new object.
     *
     * @param object its offset in the region
     * @param image what was written
     */
    public void unlock(long object, ObjectImage image) {
        finish(object, image, 0);
    }

    /**
     * The object is written, but stays locked against readers: another transaction holds it too.
     *
     * @param object its offset in the region
     * @param image what was written
     */
    public void keepLocked(long object, ObjectImage image) {
        finish(object, image, FarmObjectDescriptor.EXCLUSIVE);
    }

    /**
     * Puts an object down as it is on another machine, with its line versions. Nobody READs it here.
     *
     * @param object its offset in the region
     * @param bytes of it
     */
    public void put(long object, MemorySegment bytes) {
        steps.copy(bytes, 0, memory, object, bytes.byteSize());
    }

    private void finish(long object, ObjectImage image, long lock) {
        ObjectLines.setVersions(
                memory, object, allOf(image.length()), FarmObjectDescriptor.lineVersion(image.version()), steps);
        steps.fence();
        WORD.setOpaque(memory, object, image.version() | lock);
        steps.step(lock == 0 ? ObjectStep.UNLOCKED : ObjectStep.LOCKED_FOR_WRITING);
    }

    private int allOf(int length) {
        return FarmObjectDescriptor.lengthWithChecksum(length, checksums);
    }
}
