package org.softrdma.stores;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.SystemNanoClock;

/** Settings of a server of any design. Filled by one thread; immutable once concluded. */
public final class StoreServerContext {
    private static final int MOST_CONNECTIONS = 10_000;
    private static final int MOST_WINDOW = 4096;
    private static final int MOST_LENGTH = 1 << 24;

    private final InetSocketAddress address;
    private Protocol protocol = Protocol.SAFE;
    private int maxConnections = 64;
    private int window = 16;
    private int maxKeyLength = 250;
    private int maxValueLength = 4096;
    private Map<String, String> options = Map.of();
    private NanoClock nanoClock = SystemNanoClock.INSTANCE;
    private RandomGenerator random = new SplittableRandom();
    private MemorySteps steps = MemorySteps.OF_JVM;
    private boolean concluded;

    /**
     * Usual settings.
     *
     * @param address where to listen; port 0 picks a free one
     */
    public StoreServerContext(InetSocketAddress address) {
        this.address = address;
    }

    /** As published, or mended (the default). */
    public StoreServerContext protocol(Protocol newProtocol) {
        return changed(() -> protocol = newProtocol);
    }

    /** Most clients at a time; 64 by default. */
    public StoreServerContext maxConnections(int connections) {
        return changed(() -> maxConnections = connections);
    }

    /** Requests of a client that may be on their way; 16 by default. */
    public StoreServerContext window(int requests) {
        return changed(() -> window = requests);
    }

    /** Bytes of the longest key; 250 by default. */
    public StoreServerContext maxKeyLength(int bytes) {
        return changed(() -> maxKeyLength = bytes);
    }

    /** Bytes of the longest value; 4096 by default. */
    public StoreServerContext maxValueLength(int bytes) {
        return changed(() -> maxValueLength = bytes);
    }

    /** Options of the design; none by default. */
    public StoreServerContext options(Map<String, String> newOptions) {
        Map<String, String> copy = Map.copyOf(newOptions);
        return changed(() -> options = copy);
    }

    /** The clock; the JVM's by default. */
    public StoreServerContext nanoClock(NanoClock clock) {
        return changed(() -> nanoClock = clock);
    }

    /** Where names and seeds of hashes come from; a generator with a seed of its own by default. */
    public StoreServerContext random(RandomGenerator generator) {
        return changed(() -> random = generator);
    }

    /** How it writes memory that peers READ meanwhile; as usual by default. */
    public StoreServerContext steps(MemorySteps newSteps) {
        return changed(() -> steps = newSteps);
    }

    /**
     * Checks the settings and freezes them.
     *
     * @throws IllegalArgumentException naming every setting that is out of range
     */
    public StoreServerContext conclude() {
        List<String> faults = new ArrayList<>();
        SettingCheck.range(faults, "maxConnections", maxConnections, 1, MOST_CONNECTIONS);
        SettingCheck.range(faults, "window", window, 1, MOST_WINDOW);
        SettingCheck.range(faults, "maxKeyLength", maxKeyLength, 1, Short.MAX_VALUE);
        SettingCheck.range(faults, "maxValueLength", maxValueLength, 0, MOST_LENGTH);
        SettingCheck.refuse(faults);
        concluded = true;
        return this;
    }

    private StoreServerContext changed(Runnable change) {
        if (concluded) {
            throw new IllegalStateException("the context is concluded");
        }
        change.run();
        return this;
    }

    /** Where it listens. */
    public InetSocketAddress address() {
        return address;
    }

    /** Which form of the design. */
    public Protocol protocol() {
        return protocol;
    }

    /** Most clients at a time. */
    public int maxConnections() {
        return maxConnections;
    }

    /** Requests of a client that may be on their way. */
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

    /** How it writes memory that peers READ meanwhile. */
    public MemorySteps steps() {
        return steps;
    }
}
