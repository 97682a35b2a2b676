package org.softrdma.farm.memory;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.softrdma.stores.hash.ChecksumPair;

/**
 * An object as its users see it: a copy without line versions, in a buffer that is reused. Offsets count from the start
 * of the object, so the payload begins at {@link FarmObjectDescriptor#PAYLOAD_OFFSET}. One thread.
 */
public final class ObjectImage {
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private final ChecksumPair checksums = new ChecksumPair();
    private byte[] bytes = new byte[0];
    private MemorySegment segment = MemorySegment.ofArray(bytes);
    private ByteBuffer buffer = ByteBuffer.wrap(bytes);
    private int length;

    /** An image of nothing. */
    public ObjectImage() {}

    /**
     * Makes room for an object. The previous contents of the image are lost.
     *
     * @param newLength of header and payload
     */
    public void resize(int newLength) {
        int needed = newLength + FarmObjectDescriptor.CHECKSUM_LENGTH;
        if (bytes.length < needed) {
            bytes = new byte[needed];
            segment = MemorySegment.ofArray(bytes);
            buffer = ByteBuffer.wrap(bytes);
        }
        length = newLength;
    }

    /**
     * Becomes an object of zeroes.
     *
     * @param newLength of header and payload
     * @param version of it, without a lock
     */
    public void reset(int newLength, long version) {
        resize(newLength);
        clear(0, newLength);
        version(version);
    }

    /** Becomes what another image is. */
    public void set(ObjectImage other) {
        resize(other.length);
        put(0, other, 0, other.length);
    }

    /** Bytes of header and payload. */
    public int length() {
        return length;
    }

    /** The bytes; those behind {@link #length()} are the checksum, if there is one. */
    public MemorySegment segment() {
        return segment;
    }

    /** The version with its lock. */
    public long version() {
        return getLong(FarmObjectDescriptor.VERSION_OFFSET);
    }

    /** Sets the version with its lock. */
    void version(long version) {
        putLong(FarmObjectDescriptor.VERSION_OFFSET, version);
    }

    /** The incarnation. */
    public long incarnation() {
        return getLong(FarmObjectDescriptor.INCARNATION_OFFSET);
    }

    /** Sets the incarnation. */
    public void incarnation(long incarnation) {
        putLong(FarmObjectDescriptor.INCARNATION_OFFSET, incarnation);
    }

    /** True if the object is allocated, as its transaction said. */
    public boolean isAllocated() {
        return incarnation() < 0;
    }

    /** Marks the object as allocated, or as free. */
    public void allocated(boolean allocated) {
        long bits = incarnation() & ~FarmObjectDescriptor.ALLOCATED;
        putLong(FarmObjectDescriptor.INCARNATION_OFFSET, allocated ? bits | FarmObjectDescriptor.ALLOCATED : bits);
    }

    /** A holder of a pointer to the old object can then tell that this is another one. */
    public void nextIncarnation() {
        putLong(FarmObjectDescriptor.INCARNATION_OFFSET, incarnation() + 1);
    }

    /** The word at an offset. */
    public long getLong(int offset) {
        return segment.get(LONG, offset);
    }

    /** Sets the word at an offset. */
    public void putLong(int offset, long value) {
        segment.set(LONG, offset, value);
    }

    /** The half word at an offset. */
    public int getInt(int offset) {
        return segment.get(INT, offset);
    }

    /** Sets the half word at an offset. */
    public void putInt(int offset, int value) {
        segment.set(INT, offset, value);
    }

    /**
     * Takes bytes from another image.
     *
     * @param offset where they go
     * @param other image that has them
     * @param otherOffset where
     * @param count how many
     */
    public void put(int offset, ObjectImage other, int otherOffset, int count) {
        System.arraycopy(other.bytes, otherOffset, bytes, offset, count);
    }

    /**
     * Takes bytes out of a message.
     *
     * @param offset where they go
     * @param message that has them
     * @param messageOffset where
     * @param count how many
     */
    public void put(int offset, ByteBuffer message, int messageOffset, int count) {
        message.get(messageOffset, bytes, offset, count);
    }

    /**
     * Puts bytes into a message.
     *
     * @param offset where they are
     * @param message gets them
     * @param messageOffset where
     * @param count how many
     */
    public void get(int offset, ByteBuffer message, int messageOffset, int count) {
        message.put(messageOffset, bytes, offset, count);
    }

    /**
     * Takes bytes.
     *
     * @param offset where they go
     * @param from the bytes
     */
    public void put(int offset, byte[] from) {
        System.arraycopy(from, 0, bytes, offset, from.length);
    }

    /**
     * Gives bytes.
     *
     * @param offset where they are
     * @param to gets as many as it has room for
     */
    public void get(int offset, byte[] to) {
        System.arraycopy(bytes, offset, to, 0, to.length);
    }

    /**
     * Moves bytes within the object.
     *
     * @param from where they are
     * @param to where they go; the two may overlap
     * @param count how many
     */
    public void move(int from, int to, int count) {
        System.arraycopy(bytes, from, bytes, to, count);
    }

    /** Sets bytes to zero. */
    public void clear(int offset, int count) {
        Arrays.fill(bytes, offset, offset + count, (byte) 0);
    }

    /** The checksum that the object has brought. */
    long storedChecksum() {
        return getLong(length);
    }

    /** Puts the checksum of the object behind its payload. The lock must be free. */
    void seal() {
        putLong(length, checksum());
    }

    /** Of the whole object, as it is now. */
    long checksum() {
        return checksums.of(buffer, 0, length);
    }
}
