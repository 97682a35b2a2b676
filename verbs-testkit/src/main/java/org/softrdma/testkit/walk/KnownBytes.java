package org.softrdma.testkit.walk;

import java.util.BitSet;

/** Bytes as the model knows them: some may be anything. The walk's thread. */
final class KnownBytes {
    private final byte[] bytes;
    private final BitSet known;

    /**
     * Bytes, which are not copied.
     *
     * @param bytes values
     * @param known which of them are certain
     */
    KnownBytes(byte[] bytes, BitSet known) {
        this.bytes = bytes;
        this.known = known;
    }

    static KnownBytes unknown(int length) {
        return new KnownBytes(new byte[length], new BitSet());
    }

    byte[] bytes() {
        return bytes;
    }

    BitSet known() {
        return known;
    }

    /** Part of them. */
    KnownBytes slice(int from, int length) {
        byte[] part = new byte[length];
        System.arraycopy(bytes, from, part, 0, length);
        return new KnownBytes(part, known.get(from, from + length));
    }

    /** Puts others over a part of these. */
    void overlay(int at, KnownBytes others, int from, int length) {
        System.arraycopy(others.bytes, from, bytes, at, length);
        for (int i = 0; i < length; i++) {
            known.set(at + i, others.known.get(from + i));
        }
    }
}
