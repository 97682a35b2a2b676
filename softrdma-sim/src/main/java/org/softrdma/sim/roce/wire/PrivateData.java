package org.softrdma.sim.roce.wire;

import java.util.Arrays;
import java.util.HexFormat;
import org.softrdma.net.memory.NativeMemory;

/**
 * The bytes that two applications exchange while they connect. Each message has a field of fixed length for them; what
 * the application does not fill is zero, and the receiver gets the whole field. Immutable.
 */
public final class PrivateData {
    /** No bytes. */
    public static final PrivateData NONE = new PrivateData(new byte[0]);

    private final byte[] bytes;

    private PrivateData(byte[] bytes) {
        this.bytes = bytes;
    }

    /** A copy of some bytes. */
    public static PrivateData of(byte[] bytes) {
        return new PrivateData(bytes.clone());
    }

    /** What a field holds. */
    static PrivateData read(long field, int length) {
        return new PrivateData(NativeMemory.bytes(field, length));
    }

    /**
     * Writes the bytes into a field that holds zeroes.
     *
     * @throws IllegalArgumentException if the field is too short
     */
    void write(long field, int length) {
        if (bytes.length > length) {
            throw new IllegalArgumentException(
                    "private data of " + bytes.length + " bytes: expected at most " + length);
        }
        NativeMemory.put(field, bytes);
    }

    /** A copy of the bytes. */
    public byte[] bytes() {
        return bytes.clone();
    }

    /** How many bytes there are. */
    public int length() {
        return bytes.length;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof PrivateData data && Arrays.equals(bytes, data.bytes);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(bytes);
    }

    @Override
    public String toString() {
        return HexFormat.of().formatHex(bytes);
    }
}
