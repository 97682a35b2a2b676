package org.softrdma.fabric.memory;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.softrdma.fabric.network.Copier;
import org.softrdma.fabric.scheduler.Scheduler;
import org.softrdma.net.memory.NativeMemory;

/**
 * Copies from and to registered memory grain by grain, in an order that the seed chooses, and lets others run in
 * between. Copies that touch no registered memory happen at once: nobody else sees them.
 */
public final class GrainCopier implements Copier {
    private static final long ALIGNMENT = 64;

    /** Most places where others may run in one copy: a longer copy has larger pieces, each a run of grains. */
    private static final int MOST_PIECES = 64;

    private final Scheduler scheduler;
    private final RegisteredRanges registered;
    private final Grains grains;
    private final long[] starts = new long[MOST_PIECES + 3]; // two are cut at the ends

    /** How a piece is copied. */
    @FunctionalInterface
    interface Piece {
        /** Copies. */
        void copy(long source, long target, long length);
    }

    private enum Order {
        FORWARD,
        BACKWARD,
        ANY;

        private static final Order[] ALL = values();
    }

    /** Copies of the devices of all nodes. */
    public GrainCopier(Scheduler scheduler, RegisteredRanges registered, Grains grains) {
        this.scheduler = scheduler;
        this.registered = registered;
        this.grains = grains;
    }

    @Override
    public MemorySegment allocate(long length) {
        return Arena.ofAuto().allocate(length, ALIGNMENT);
    }

    @Override
    public void copy(long source, long target, long length) {
        if (grains.bytes() == 0 || length <= 1) {
            NativeMemory.copy(source, target, length);
            return;
        }
        if (registered.contains(target)) {
            copyInPieces(source, target, cut(target, length, grains.bytes()), NativeMemory::copy);
        } else if (registered.contains(source)) {
            copyInPieces(source, target, cut(source, length, grains.bytes()), NativeMemory::copy);
        } else {
            NativeMemory.copy(source, target, length);
        }
    }

    /**
     * Copies from or to polled memory, in whole words at least; others may run in between.
     *
     * @param source where from
     * @param target where to
     * @param length bytes
     * @param polled which of the two is polled
     * @param piece copies words whole
     */
    void copyPolled(long source, long target, long length, long polled, Piece piece) {
        if (grains.bytes() == 0) {
            piece.copy(source, target, length);
        } else {
            copyInPieces(source, target, cut(polled, length, Math.max(Long.BYTES, grains.bytes())), piece);
        }
    }

    /** Where pieces begin, relative to the first byte; returns their number. */
    private int cut(long place, long length, long grain) {
        long unit = grain;
        while (length / unit > MOST_PIECES) {
            unit *= 2;
        }
        int pieces = 0;
        long at = 0;
        while (at < length) {
            starts[pieces++] = at;
            at += unit - Math.floorMod(place + at, unit);
        }
        starts[pieces] = length;
        return pieces;
    }

    private void copyInPieces(long source, long target, int pieces, Piece piece) {
        int[] order = order(pieces);
        long[] borders = starts.clone(); // others may copy in between
        for (int i = 0; i < pieces; i++) {
            long from = borders[order[i]];
            long to = borders[order[i] + 1];
            piece.copy(source + from, target + from, to - from);
            if (i + 1 == pieces) {
                return;
            }
            if (i == 0 || i + 2 == pieces) {
                scheduler.edge();
            } else {
                scheduler.step();
            }
        }
    }

    private int[] order(int pieces) {
        int[] order = new int[pieces];
        Order kind = Order.ALL[scheduler.choices().below(Order.ALL.length)];
        for (int i = 0; i < pieces; i++) {
            order[i] = kind == Order.BACKWARD ? pieces - 1 - i : i;
        }
        for (int i = pieces - 1; kind == Order.ANY && i > 0; i--) {
            int other = scheduler.choices().below(i + 1);
            int kept = order[i];
            order[i] = order[other];
            order[other] = kept;
        }
        return order;
    }
}
