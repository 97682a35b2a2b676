package org.softrdma.stores;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.SystemNanoClock;

/**
 * Settings that the clients and servers of a store share; most of them must be equal on both sides. Filled by one
 * thread; immutable once concluded.
 *
 * @param <S> the settings that these are part of
 */
public abstract class StoreSettings<S extends StoreSettings<S>> {
    private static final int MOST_WINDOW = 4096;
    private static final int MOST_LENGTH = 1 << 24;

    private Protocol protocol = Protocol.SAFE;
    private int window = 16;
    private int maxKeyLength = 250;
    private int maxValueLength = 4096;
    private Map<String, String> options = Map.of();
    private NanoClock nanoClock = SystemNanoClock.INSTANCE;
    private RandomGenerator random = new SplittableRandom();
    private boolean concluded;

    StoreSettings() {}

    /** These settings, by their own type. */
    abstract S self();

    /** Adds every setting of its own that is out of range. */
    abstract void check(List<String> faults);

    /** As published, or fixed (the default); the same on both sides. */
    public S protocol(Protocol newProtocol) {
        return changed(() -> protocol = newProtocol);
    }

    /** Most operations of a client on their way; 16 by default. */
    public S window(int operations) {
        return changed(() -> window = operations);
    }

    /** Bytes of the longest key; 250 by default. */
    public S maxKeyLength(int bytes) {
        return changed(() -> maxKeyLength = bytes);
    }

    /** Bytes of the longest value; 4096 by default. */
    public S maxValueLength(int bytes) {
        return changed(() -> maxValueLength = bytes);
    }

    /** Options of the design; none by default. */
    public S options(Map<String, String> newOptions) {
        Map<String, String> copy = Map.copyOf(newOptions);
        return changed(() -> options = copy);
    }

    /** The clock; the JVM's by default. */
    public S nanoClock(NanoClock clock) {
        return changed(() -> nanoClock = clock);
    }

    /** The source of names and seeds of hashes; by default a generator with its own seed. */
    public S random(RandomGenerator generator) {
        return changed(() -> random = generator);
    }

    /**
     * Checks the settings and freezes them.
     *
     * @throws IllegalArgumentException naming every setting that is out of range
     */
    public S conclude() {
        List<String> faults = new ArrayList<>();
        SettingCheck.range(faults, "window", window, 1, MOST_WINDOW);
        SettingCheck.range(faults, "maxKeyLength", maxKeyLength, 1, Short.MAX_VALUE);
        SettingCheck.range(faults, "maxValueLength", maxValueLength, 0, MOST_LENGTH);
        check(faults);
        SettingCheck.refuse(faults);
        concluded = true;
        return self();
    }

    final S changed(Runnable change) {
        if (concluded) {
            throw new IllegalStateException("the context is concluded");
        }
        change.run();
        return self();
    }

    /** Which form of the design. */
    public Protocol protocol() {
        return protocol;
    }

    /** Most operations of a client on their way. */
    public int window() {
        return window;
    }

    /** Bytes of the longest key. */
    public int maxKeyLength() {
        return maxKeyLength;
    }

    /** Bytes of the longest value. */
    public int maxValueLength() {
        return maxValueLength;
    }

    /** Options of the design. */
    public Map<String, String> options() {
        return options;
    }

    /** The clock. */
    public NanoClock nanoClock() {
        return nanoClock;
    }

    /** Where names and seeds come from. */
    public RandomGenerator random() {
        return random;
    }
}
