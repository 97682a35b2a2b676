package org.softrdma.stores.pilaf;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.HexFormat;

/** Memory with given bytes. */
final class Bytes {
    private final ByteBuffer view;

    private Bytes(byte[] bytes) {
        view = ByteBuffer.allocateDirect(bytes.length).put(bytes);
    }

    static Bytes of(String hex) {
        return new Bytes(HexFormat.of().parseHex(hex));
    }

    static Bytes zeroes(int length) {
        return new Bytes(new byte[length]);
    }

    MemorySegment memory() {
        return MemorySegment.ofBuffer(view.duplicate().clear());
    }

    ByteBuffer view() {
        return view;
    }

    /** Changes a byte. */
    void flip(int at) {
        ByteBuffer all = view.duplicate().clear();
        all.put(at, (byte) (all.get(at) ^ 1));
    }

    @Override
    public String toString() {
        byte[] bytes = new byte[view.capacity()];
        view.duplicate().clear().get(bytes);
        return HexFormat.of().formatHex(bytes);
    }
}
