package org.softrdma.farm.memory;

import java.nio.ByteBuffer;

/**
 * A pointer to an object that also identifies the object: 16 bytes, little endian, within the payload of an
 * object, or in a message.
 *
 * <pre>
 *  63                            32 31                             0
 * +--------------------------------+--------------------------------+
 * |  region                        |  offset in the region          |   0  0 is none
 * +--------------------------------+--------------------------------+
 * |  low half of the incarnation   |  length of header and payload  |   8
 * +--------------------------------+--------------------------------+
 * </pre>
 *
 * <p>The paper says 128 bits for address, size and expected incarnation, and not how they are split.
 */
public final class FatPointerDescriptor {
    /** Where the address is. */
    public static final int ADDRESS_OFFSET = 0;

    /** Where the length is. */
    public static final int LENGTH_OFFSET = ADDRESS_OFFSET + Long.BYTES;

    /** Where the incarnation is. */
    public static final int INCARNATION_OFFSET = LENGTH_OFFSET + Integer.BYTES;

    /** Bytes of a pointer. */
    public static final int LENGTH = INCARNATION_OFFSET + Integer.BYTES;

    private FatPointerDescriptor() {}

    /** The address that a pointer names. */
    public static long address(ObjectImage image, int pointer) {
        return image.getLong(pointer + ADDRESS_OFFSET);
    }

    /** The length of its object. */
    public static int length(ObjectImage image, int pointer) {
        return image.getInt(pointer + LENGTH_OFFSET);
    }

    /** The incarnation that its object must have. */
    public static int incarnation(ObjectImage image, int pointer) {
        return image.getInt(pointer + INCARNATION_OFFSET);
    }

    /**
     * Sets a pointer.
     *
     * @param image of the object that has the pointer
     * @param pointer where
     * @param address of its object
     * @param target its object as it will be
     */
    public static void set(ObjectImage image, int pointer, long address, ObjectImage target) {
        image.putLong(pointer + ADDRESS_OFFSET, address);
        image.putInt(pointer + LENGTH_OFFSET, target.length());
        image.putInt(pointer + INCARNATION_OFFSET, (int) target.incarnation());
    }

    /** A pointer. */
    public static FatPointer get(ObjectImage image, int pointer) {
        return new FatPointer(address(image, pointer), length(image, pointer), incarnation(image, pointer));
    }

    /**
     * Sets a pointer.
     *
     * @param image of the object that has the pointer
     * @param pointer where
     * @param target what it points to
     */
    public static void put(ObjectImage image, int pointer, FatPointer target) {
        image.putLong(pointer + ADDRESS_OFFSET, target.address());
        image.putInt(pointer + LENGTH_OFFSET, target.length());
        image.putInt(pointer + INCARNATION_OFFSET, target.incarnation());
    }

    /** A pointer in a message or a value, little endian too. */
    public static FatPointer get(ByteBuffer message, int pointer) {
        return new FatPointer(
                message.getLong(pointer + ADDRESS_OFFSET),
                message.getInt(pointer + LENGTH_OFFSET),
                message.getInt(pointer + INCARNATION_OFFSET));
    }

    /**
     * Sets a pointer in a message or a value.
     *
     * @param message little endian
     * @param pointer where
     * @param target what it points to
     */
    public static void put(ByteBuffer message, int pointer, FatPointer target) {
        message.putLong(pointer + ADDRESS_OFFSET, target.address())
                .putInt(pointer + LENGTH_OFFSET, target.length())
                .putInt(pointer + INCARNATION_OFFSET, target.incarnation());
    }

    /** Makes a pointer point to nothing. */
    public static void clear(ObjectImage image, int pointer) {
        image.clear(pointer, LENGTH);
    }
}
