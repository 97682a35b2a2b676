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
         * What a read's own judge has taken has come.
         *
         * @param tag of the read
         */
        default void onJudged(long tag) {
            throw new IllegalStateException("the read " + tag + " was begun without a judge");
        }

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
        private final ReadJudge object;
        private final SpaceRead read;
        private int length;
        private ReadJudge judge;
        private long tag;
        private boolean isTaken;

        Place(NodeParts node) {
            pointer = new PointerJudge(node.reader(), image);
            object = (memory, at, start) -> node.reader().read(memory, at, start, length, image);
            judge = object;
            read = new SpaceRead(
                    node,
                    FarmAddress.NONE,
                    0,
                    FarmNode.MOST_FAILURES,
                    (memory, at, start) -> judge.judge(memory, at, start));
        }

        void start(ReadJudge newJudge, long address, int bytes, long newTag, List<NodeTask> tasks) {
            judge = newJudge;
            tag = newTag;
            isTaken = true;
            read.again(address, bytes);
            tasks.add(read);
        }

        void tell(ReadHandler handler) {
            @Nullable String failure = read.failure();
            if (failure != null) {
                handler.onFailure(tag, failure);
            } else if (!read.isDone()) {
                handler.onFailure(tag, FarmNode.REMOVED);
            } else if (judge == object || (judge == pointer && !pointer.isGone())) {
                handler.onObject(tag, image);
            } else if (judge == pointer) {
                handler.onGone(tag);
            } else {
                handler.onJudged(tag);
            }
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
        int bytes = lengthInMemory(address, length);
        Place place = take();
        if (place == null) {
            return false;
        }
        place.length = length;
        place.start(place.object, address, bytes, tag, tasks);
        return true;
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
        int bytes = lengthInMemory(address, length);
        Place place = take();
        if (place == null) {
            return false;
        }
        place.pointer.expect(length, incarnation);
        place.start(place.pointer, address, bytes, tag, tasks);
        return true;
    }

    /**
     * Begins to read objects whose places lie one behind the other, by one READ.
     *
     * @param address of the first
     * @param bytes of all, with their line versions
     * @param judge says whether that is what was there at one instant, and takes it; until then it is READ again
     * @param tag names the read
     * @return false if as many as may be are under way
     */
    public boolean startRead(long address, int bytes, ReadJudge judge, long tag) {
        Place place = take();
        if (place == null) {
            return false;
        }
        place.start(judge, address, bytes, tag, tasks);
        return true;
    }

    private int lengthInMemory(long address, int length) {
        if (!node.space().fits(address, length)) {
            throw new FarmException("no object of " + length + " bytes can be at " + Long.toHexString(address));
        }
        return node.space().shape().lengthInMemory(FarmAddress.offset(address), length);
    }

    private @Nullable Place take() {
        return free.isEmpty() ? null : places[free.removeAt(free.size() - 1)];
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
                place.tell(handler);
                place.isTaken = false;
                free.addInt(i);
            }
        }
        return count;
    }
}
