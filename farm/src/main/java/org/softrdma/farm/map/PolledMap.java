package org.softrdma.farm.map;

import java.util.Objects;
import org.agrona.collections.IntArrayList;
import org.jspecify.annotations.Nullable;
import org.softrdma.farm.memory.ObjectImage;
import org.softrdma.farm.node.FarmException;
import org.softrdma.farm.node.FarmNode;
import org.softrdma.farm.node.PolledReads;

/**
 * Lookups of a {@link FarmMap} without waiting, for an application on the node's thread: it begins some, calls {@link
 * FarmNode#doWork}, and takes what has come. Nothing is allocated for a lookup. The node's thread.
 */
public final class PolledMap {
    private final FarmMap map;
    private final PolledReads reads;
    private final MapLookup[] lookups;
    private final long[] tags;
    private final IntArrayList free = new IntArrayList();
    private final Told told = new Told();
    private int ended;
    private long begunReads;

    /** Takes what has come. It may begin others. */
    public interface MapHandler {
        /**
         * A key was looked up.
         *
         * @param tag of the lookup
         * @param found false if there is no such key
         * @param image of what has its value, until this returns
         * @param offset where the value is in that image
         */
        void onValue(long tag, boolean found, ObjectImage image, int offset);

        /**
         * It cannot be looked up.
         *
         * @param tag of the lookup
         * @param reason why
         */
        void onFailure(long tag, String reason);
    }

    /** What reads tell, by the place of the lookup. */
    private final class Told implements PolledReads.ReadHandler {
        private @Nullable MapHandler handler;

        private MapHandler handler() {
            return Objects.requireNonNull(handler);
        }

        @Override
        public void onJudged(long place) {
            lookups[(int) place].onBuckets();
            goOn((int) place);
        }

        @Override
        public void onObject(long place, ObjectImage image) {
            lookups[(int) place].onBlock(image);
            goOn((int) place);
        }

        @Override
        public void onGone(long place) {
            try {
                lookups[(int) place].onGone();
            } catch (FarmException e) {
                onFailure(place, String.valueOf(e.getMessage()));
                return;
            }
            goOn((int) place);
        }

        private void goOn(int place) {
            MapLookup lookup = lookups[place];
            if (lookup.isOver()) {
                handler().onValue(tags[place], lookup.isFound(), lookup.foundIn(), lookup.valueOffset());
                end(place);
            } else {
                read(place);
            }
        }

        @Override
        public void onFailure(long place, String reason) {
            end((int) place);
            handler().onFailure(tags[(int) place], reason);
        }
    }

    PolledMap(FarmNode node, FarmMap map, int window) {
        this.map = map;
        reads = node.polledReads(window + 1); // one that is being told may begin another
        lookups = new MapLookup[window];
        tags = new long[window];
        for (int i = window - 1; i >= 0; i--) {
            lookups[i] = map.lookup();
            free.addInt(i);
        }
    }

    private void end(int place) {
        free.addInt(place);
        ended++;
    }

    private void read(int place) {
        MapLookup lookup = lookups[place];
        begunReads++;
        boolean begun = lookup.isAtBuckets()
                ? reads.startRead(lookup.address(), lookup.length(), lookup, place)
                : reads.startPointer(lookup.address(), lookup.length(), lookup.incarnation(), place);
        if (!begun) {
            throw new IllegalStateException("fewer reads may be under way than lookups");
        }
    }

    /**
     * Begins to look a key up.
     *
     * @param key it
     * @param tag names the lookup
     * @return false if as many as may be are under way
     */
    public boolean startGet(byte[] key, long tag) {
        if (free.isEmpty()) {
            return false;
        }
        int place = free.getInt(free.size() - 1);
        map.begin(lookups[place], key);
        free.removeAt(free.size() - 1);
        tags[place] = tag;
        read(place);
        return true;
    }

    /** READs that lookups have taken; one that is repeated because an object was being changed is one. */
    public long reads() {
        return begunReads;
    }

    /** How many are under way, or have come and were not taken yet. */
    public int outstanding() {
        return lookups.length - free.size();
    }

    /**
     * Tells what has come.
     *
     * @param handler takes it; it may begin others
     * @return how many lookups are over
     */
    public int poll(MapHandler handler) {
        int before = ended;
        told.handler = handler;
        int ignored = reads.poll(told);
        return ended - before;
    }
}
