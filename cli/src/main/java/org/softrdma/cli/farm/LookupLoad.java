package org.softrdma.cli.farm;

import java.util.SplittableRandom;
import org.softrdma.farm.map.FarmMap;
import org.softrdma.farm.map.PolledMap;
import org.softrdma.farm.memory.ObjectImage;

/** Lookups of keys of a hash table, drawn evenly; all of them are there. The node's thread. */
final class LookupLoad extends WindowLoad implements PolledMap.MapHandler {
    private final PolledMap map;
    private final byte[][] keys;
    private final SplittableRandom random;

    /**
     * A load.
     *
     * @param map the table
     * @param loaded what it has
     * @param window lookups under way
     * @param seed decides which
     */
    LookupLoad(FarmMap map, LoadedMap loaded, int window, long seed) {
        super(window);
        this.map = map.polled(window);
        keys = new byte[loaded.pairs()][];
        for (int i = 0; i < keys.length; i++) {
            keys[i] = loaded.key(i);
        }
        random = new SplittableRandom(seed);
    }

    @Override
    void begin(int place) {
        boolean ignored = map.startGet(keys[random.nextInt(keys.length)], place);
    }

    @Override
    int poll() {
        return map.poll(this);
    }

    @Override
    public void onValue(long tag, boolean found, ObjectImage image, int offset) {
        if (found) {
            long ignored = ended((int) tag);
        } else {
            onFailure(tag, "a key that was stored was not found. This is a fault of softrdma");
        }
    }

    @Override
    public void onFailure(long tag, String reason) {
        fail(reason, (int) tag);
    }
}
