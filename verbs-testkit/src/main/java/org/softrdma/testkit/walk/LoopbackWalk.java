package org.softrdma.testkit.walk;

import java.net.InetAddress;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.softrdma.testkit.MachineTime;
import org.softrdma.testkit.ProviderTraits;
import org.softrdma.verbs.device.VerbsDevice;
import org.softrdma.verbs.device.VerbsProvider;
import org.softrdma.verbs.device.VerbsProviders;

/**
 * This machine as the place of a walk: every node is a device of a provider. Nothing goes wrong here. The walk's
 * thread.
 */
public final class LoopbackWalk implements WalkEnvironment, MachineTime {
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
        return !ProviderTraits.of(VerbsProviders.bareName(provider.name()), "", Set.of())
                .has(ProviderTraits.Trait.KEEPS_KEYS_BACK);
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
