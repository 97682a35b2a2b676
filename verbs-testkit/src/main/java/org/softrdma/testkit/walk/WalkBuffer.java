package org.softrdma.testkit.walk;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.random.RandomGenerator;
import org.softrdma.verbs.HostMemory;

/** Memory of a node, what the model knows of its contents, and who uses which part of it. The walk's thread. */
final class WalkBuffer {
    private final String name;
    private final HostMemory memory;
    private final MemorySegment segment;
    private final KnownBytes contents;
    private final List<Claim> claims = new ArrayList<>();

    WalkBuffer(String name, HostMemory memory) {
        this.name = name;
        this.memory = memory;
        segment = memory.segment();
        int length = (int) segment.byteSize();
        contents = new KnownBytes(new byte[length], new BitSet());
        contents.known().set(0, length);
    }

    int length() {
        return contents.bytes().length;
    }

    MemorySegment segment() {
        return segment;
    }

    /** What is there, as far as it is known. */
    KnownBytes contents(int from, int length) {
        return contents.slice(from, length);
    }

    /** The program writes. */
    void fill(RandomGenerator random, int from, int length) {
        byte[] values = new byte[length];
        random.nextBytes(values);
        MemorySegment.copy(values, 0, segment, ValueLayout.JAVA_BYTE, from, length);
        System.arraycopy(values, 0, contents.bytes(), from, length);
        contents.known().set(from, from + length);
    }

    /** The device has written. */
    void put(int at, KnownBytes others, int from, int length) {
        contents.overlay(at, others, from, length);
    }

    /** The device may have written anything. */
    void forget(int from, int to) {
        contents.known().clear(from, to);
    }

    // ---- claims

    void claim(Claim claim) {
        claims.add(claim);
    }

    void release(Claim claim) {
        claims.remove(claim);
    }

    /** Claims on a part, in the order in which they were made. */
    List<Claim> claims(int from, int to) {
        return claims.stream().filter(claim -> claim.overlaps(from, to)).toList();
    }

    boolean isFree(int from, int to) {
        return claims.stream().noneMatch(claim -> claim.overlaps(from, to));
    }

    // ---- checks

    /**
     * Compares the memory with what is known. Bytes that a request under way may write are left out; bytes that nobody
     * writes any more, and that could be anything, are taken as they are: from now on they must stay so.
     *
     * @throws WalkFailure if a byte is wrong
     */
    void check() {
        byte[] actual = segment.toArray(ValueLayout.JAVA_BYTE);
        BitSet changing = new BitSet();
        for (Claim claim : claims) {
            if (claim.writes()) {
                changing.set(claim.from(), claim.to());
            }
        }
        for (int i = 0; i < actual.length; i++) {
            if (changing.get(i)) {
                continue;
            }
            if (!contents.known().get(i)) {
                contents.bytes()[i] = actual[i];
                contents.known().set(i);
            } else if (actual[i] != contents.bytes()[i]) {
                throw new WalkFailure("byte %d of %s is 0x%02x, and nobody was to change it: it was 0x%02x"
                        .formatted(i, name, actual[i], contents.bytes()[i]));
            }
        }
    }

    void close() {
        memory.close();
    }

    @Override
    public String toString() {
        return name;
    }
}
