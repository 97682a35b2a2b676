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
final class ObjectWriter {
    private static final VarHandle WORD =
            ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN).varHandle();

    private final MemorySegment memory;
    private final boolean checksums;
    private final MemorySteps steps;

    ObjectWriter(MemorySegment memory, boolean checksums, MemorySteps steps) {
        this.memory = memory;
        this.checksums = checksums;
        this.steps = steps;
    }

    /** Takes an image of an object as it is. */
    void load(long object, int length, ObjectImage image) {
        image.resize(length);
        ObjectLines.gather(memory, object, object, length, image.segment());
        image.version(image.version() & ~FarmObjectDescriptor.LOCK_MASK);
    }

    /** The object belongs to a transaction: readers may still take what is there. */
    void lock(long object) {
        long version = (long) WORD.getOpaque(memory, object);
        if ((version & FarmObjectDescriptor.LOCK_MASK) != 0
                || !WORD.compareAndSet(memory, object, version, version | FarmObjectDescriptor.READERS_ALLOWED)) {
            throw new IllegalStateException("object " + object + " with version " + version + " is locked already");
        }
        steps.step(ObjectStep.LOCKED);
    }

    /** From now on no reader takes the object. */
    void lockForWriting(long object, int length) {
        long version = (long) WORD.getOpaque(memory, object) & ~FarmObjectDescriptor.LOCK_MASK;
        WORD.setOpaque(memory, object, version | FarmObjectDescriptor.EXCLUSIVE);
        steps.step(ObjectStep.LOCKED_FOR_WRITING);
        steps.fence();
        ObjectLines.setVersions(memory, object, allOf(length), FarmObjectDescriptor.LINE_LOCKED, steps);
        steps.fence(); // the locks before the data
    }

    /** Writes incarnation, payload and checksum. */
    void write(long object, ObjectImage image) {
        image.version(image.version() + FarmObjectDescriptor.VERSION_STEP);
        if (checksums) {
            image.seal();
        }
        ObjectLines.scatter(
                image.segment(), FarmObjectDescriptor.INCARNATION_OFFSET, allOf(image.length()), memory, object, steps);
        steps.fence(); // the data before the versions
    }

    /** Readers take the new object. */
    void unlock(long object, ObjectImage image) {
        ObjectLines.setVersions(
                memory, object, allOf(image.length()), FarmObjectDescriptor.lineVersion(image.version()), steps);
        steps.fence();
        WORD.setOpaque(memory, object, image.version());
        steps.step(ObjectStep.UNLOCKED);
    }

    private int allOf(int length) {
        return FarmObjectDescriptor.lengthWithChecksum(length, checksums);
    }
}
