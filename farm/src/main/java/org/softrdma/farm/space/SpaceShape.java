package org.softrdma.farm.space;

import org.softrdma.farm.memory.FarmObjectDescriptor;
import org.softrdma.farm.memory.ObjectLines;
import org.softrdma.farm.memory.SizeClasses;

/**
 * Lengths of the address space, the same on every machine. Immutable.
 *
 * @param regionLength bytes of a region
 * @param blockLength bytes of a block of objects of one size
 * @param checksums whether objects end in a checksum
 */
public record SpaceShape(long regionLength, int blockLength, boolean checksums) {
    private static final long LARGEST_REGION = 1L << 31;

    /** Regions of 64 MiB, blocks of one, checksums. */
    public static final SpaceShape DEFAULT = new SpaceShape(64 << 20, 1 << 20, true);

    /** Checks. */
    public SpaceShape {
        if (blockLength < ObjectLines.LINE
                || blockLength % ObjectLines.LINE != 0
                || regionLength < 2L * blockLength
                || regionLength > LARGEST_REGION) {
            throw new IllegalArgumentException("regionLength=" + regionLength + ", blockLength=" + blockLength
                    + ": expected blocks of whole lines, and two or more of them in a region of at most "
                    + LARGEST_REGION);
        }
    }

    /** The longest object, header and payload. */
    public int longest() {
        int room = Math.min(blockLength, SizeClasses.LARGEST);
        int lines = room / ObjectLines.LINE;
        return room
                - (lines + 1) * ObjectLines.VERSION_LENGTH
                - FarmObjectDescriptor.CHECKSUM_LENGTH
                - FarmObjectDescriptor.ALIGNMENT;
    }

    /** Bytes of an object at an offset with its line versions. */
    public int lengthInMemory(long offset, int length) {
        return ObjectLines.lengthInMemory(offset, FarmObjectDescriptor.lengthWithChecksum(length, checksums));
    }

    /** Bytes that an object is given, wherever it begins: those of its size class are as many or a few more. */
    public int slotLength(int length) {
        return ObjectLines.slotLength(lengthWithChecksum(length));
    }

    /** Bytes from one object of this length to the next in a block of them. */
    public int stride(int length) {
        SizeClasses classes = new SizeClasses();
        return classes.size(classes.of(slotLength(length)));
    }

    /** Header, payload and checksum. */
    int lengthWithChecksum(int length) {
        return FarmObjectDescriptor.lengthWithChecksum(length, checksums);
    }
}
