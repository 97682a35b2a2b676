package org.softrdma.farm.node;

import java.util.List;
import java.util.function.BooleanSupplier;
import org.agrona.collections.IntArrayList;
import org.jspecify.annotations.Nullable;
import org.softrdma.farm.memory.FarmAddress;
import org.softrdma.farm.memory.ObjectImage;

/**
 * Lock-free reads without waiting, for an application on the node's thread: it begins some, calls {@link FarmNode#doWork},
 * and takes what has come. Nothing is allocated for a read. The node's thread.
 */
public final class PolledReads {
    private final NodeParts node;
    private final List<NodeTask> tasks;
    private final BooleanSupplier isOver;
    private final Place[] places;
    private final IntArrayList free = new IntArrayList();

    /** Takes what has come. */
    public interface ReadHandler {
        /**
         * An object has come.
         *
         * @param tag of the read
         * @param image of the object as it was at one instant; until this returns
         */
        void onObject(long tag, ObjectImage image);

        /**
         * What a fat pointer points to is no more: it was freed, or its incarnation has gone up for another reason.
         *
         * @param tag of the read
         */
        default void onGone(long tag) {
            throw new IllegalStateException("the read " + tag + " was begun without a fat pointer");
        }

        /**
         * It cannot be read.
         *
         * @param tag of the read
         * @param reason why
         */
        void onFailure(long tag, String reason);
    }

    /** A read that may be under way. */
    private static final class Place {
        private final ObjectImage image = new ObjectImage();
        private final PointerJudge pointer;
        private final SpaceRead read;
        private int length;
        private boolean isPointer;
        private long tag;
        private boolean isTaken;

        Place(NodeParts node) {
            pointer = new PointerJudge(node.reader(), image);
            read = new SpaceRead(
                    node,
                    FarmAddress.NONE,
                    0,
                    FarmNode.MOST_FAILURES,
                    (memory, at, start) -> isPointer
                            ? pointer.judge(memory, at, start)
                            : node.reader().read(memory, at, start, length, image));
        }
    }

    PolledReads(NodeParts node, int window, List<NodeTask> tasks, BooleanSupplier isOver) {
        if (window < 1) {
            throw new IllegalArgumentException("window=" + window + ": expected at least 1");
        }
        this.node = node;
        this.tasks = tasks;
        this.isOver = isOver;
        places = new Place[window];
        for (int i = window - 1; i >= 0; i--) {
            places[i] = new Place(node);
            free.addInt(i);
        }
    }

    /**
     * Begins to read an object.
     *
     * @param address of the object
     * @param length of header and payload
     * @param tag names the read
     * @return false if as many as may be are under way
     * @throws FarmException if no such object can be there
     */
    public boolean startRead(long address, int length, long tag) {
        return start(address, length, false, 0, tag);
    }

    /**
     * Begins to read what a fat pointer points to.
     *
     * @param address of the object
     * @param length of header and payload
     * @param incarnation low half of the incarnation that it must have
     * @param tag names the read
     * @return false if as many as may be are under way
     * @throws FarmException if no such object can be there
     */
    public boolean startPointer(long address, int length, int incarnation, long tag) {
        return start(address, length, true, incarnation, tag);
    }

    private boolean start(long address, int length, boolean isPointer, int incarnation, long tag) {
        if (!node.space().fits(address, length)) {
            throw new FarmException("no object of " + length + " bytes can be at " + Long.toHexString(address));
        }
        if (free.isEmpty()) {
            return false;
        }
        Place place = places[free.removeAt(free.size() - 1)];
        place.length = length;
        place.isPointer = isPointer;
        place.pointer.expect(length, incarnation);
        place.tag = tag;
        place.isTaken = true;
        place.read.again(address, node.space().shape().lengthInMemory(FarmAddress.offset(address), length));
        tasks.add(place.read);
        return true;
    }

    /** How many are under way, or have come and were not taken yet. */
    public int outstanding() {
        return places.length - free.size();
    }

    /**
     * Tells what has come.
     *
     * @param handler takes it; it may begin others
     * @return how much
     */
    public int poll(ReadHandler handler) {
        int count = 0;
        for (int i = 0; i < places.length && outstanding() > 0; i++) {
            Place place = places[i];
            if (place.isTaken && (place.read.isDone() || isOver.getAsBoolean())) {
                count++;
                tell(place, handler);
                place.isTaken = false;
                free.addInt(i);
            }
        }
        return count;
    }

    private static void tell(Place place, ReadHandler handler) {
        @Nullable String failure = place.read.failure();
        if (failure != null) {
            handler.onFailure(place.tag, failure);
        } else if (place.read.isDone() && place.pointer.isGone()) {
            handler.onGone(place.tag);
        } else if (place.read.isDone()) {
            handler.onObject(place.tag, place.image);
        } else {
            handler.onFailure(place.tag, FarmNode.REMOVED);
        }
    }
}
