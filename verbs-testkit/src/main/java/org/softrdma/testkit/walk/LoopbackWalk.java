package org.softrdma.testkit.walk;

import java.net.InetAddress;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import org.softrdma.verbs.device.VerbsDevice;
import org.softrdma.verbs.device.VerbsProvider;

/**
 * This machine as the place of a walk: every node is a device of a provider. Nothing goes wrong here. The walk's
 * thread.
 */
public final class LoopbackWalk implements WalkEnvironment {
    /** The one provider that keeps a key back for a long time. */
    private static final String SIM = "sim";

    private static final int SPINS_BEFORE_PARKING = 100;
    private static final long PARK_NS = 20_000;

    private final VerbsProvider provider;
    private final Map<String, String> options;
    private final InetAddress address;

    /**
     * A place.
     *
     * @param provider of all devices
     * @param options of all devices
     * @param address of all devices
     */
    public LoopbackWalk(VerbsProvider provider, Map<String, String> options, InetAddress address) {
        this.provider = provider;
        this.options = Map.copyOf(options);
        this.address = address;
    }

    @Override
    public VerbsDevice open(int node) {
        return provider.open(options);
    }

    @Override
    public InetAddress address(int node) {
        return address;
    }

    @Override
    public boolean reusesKeys() {
        return !provider.name().endsWith(SIM);
    }

    @Override
    public long nanoTime() {
        return System.nanoTime();
    }

    @Override
    public void idle(int rounds) {
        if (rounds < SPINS_BEFORE_PARKING) {
            Thread.onSpinWait();
        } else {
            LockSupport.parkNanos(PARK_NS);
        }
    }

    @Override
    public void sleep(long durationNs) {
        LockSupport.parkNanos(durationNs);
    }

    @Override
    public void start(String name, Runnable work) {
        Thread.ofPlatform().daemon().name("walk-" + name).start(work);
    }

    @Override
    public Optional<WalkFaults> faults() {
        return Optional.empty();
    }
}
