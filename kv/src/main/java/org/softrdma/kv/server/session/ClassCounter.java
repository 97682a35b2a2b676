package org.softrdma.kv.server.session;

import java.util.Arrays;
import java.util.concurrent.atomic.LongAdder;
import org.softrdma.kv.store.SlabGeometry;

/** Counts an event by the slab class of its item. Any thread adds. */
public final class ClassCounter {
    private final LongAdder[] classes = new LongAdder[SlabGeometry.MAX_CLASSES];

    ClassCounter() {
        Arrays.setAll(classes, _ -> new LongAdder());
    }

    void increment(int sizeClass) {
        classes[sizeClass].increment();
    }

    /** All classes together. */
    public long sum() {
        long sum = 0;
        for (LongAdder each : classes) {
            sum += each.sum();
        }
        return sum;
    }

    long sum(int sizeClass) {
        return classes[sizeClass].sum();
    }

    void reset() {
        for (LongAdder each : classes) {
            each.reset();
        }
    }
}
