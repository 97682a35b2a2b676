package org.softrdma.kv.server;

import java.util.ArrayList;
import java.util.List;

/** Whether settings may still change: not once their context is concluded. Not thread-safe. */
final class SettingsLock {
    private boolean concluded;

    /** From now on nothing changes. */
    void conclude() {
        concluded = true;
    }

    /** The new value of a setting. */
    <T> T changed(T value) {
        if (concluded) {
            throw new IllegalStateException("the context is concluded");
        }
        return value;
    }

    /** Refuses a value that is out of its range. */
    static void require(String name, long value, long min, long max) {
        List<String> faults = new ArrayList<>(1);
        check(faults, name, value, min, max);
        if (!faults.isEmpty()) {
            throw new IllegalArgumentException(faults.getFirst());
        }
    }

    /** Adds a fault if a value is out of its range. */
    static void check(List<String> faults, String name, long value, long min, long max) {
        if (value < min || value > max) {
            faults.add(name + "=" + value + ": expected " + min + " to " + max);
        }
    }
}
