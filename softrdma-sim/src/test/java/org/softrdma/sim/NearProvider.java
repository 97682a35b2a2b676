package org.softrdma.sim;

import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.softrdma.sim.device.DeviceEnvironment;
import org.softrdma.sim.device.DeviceSettings;
import org.softrdma.sim.device.SoftRdmaDevice;
import org.softrdma.sim.memory.MemoryOperations;
import org.softrdma.sim.pinning.CountedPageLocks;
import org.softrdma.sim.samehost.SameHost;
import org.softrdma.verbs.HostMemory;
import org.softrdma.verbs.MemorySource;
import org.softrdma.verbs.device.VerbsDevice;
import org.softrdma.verbs.device.VerbsProvider;

/**
 * The software RNIC with all memory that it allocates shareable, and connections that wait until the peer's is there: so
 * every READ that can be done by the requester's own thread is done so, from the first one on.
 */
public final class NearProvider implements VerbsProvider {
    /** For the service loader. */
    public NearProvider() {}

    @Override
    public String name() {
        return "near:sim";
    }

    @Override
    public Usability usability() {
        Optional<String> obstacle = SameHost.obstacle();
        return obstacle.map(reason -> Usability.unusable(reason, "use sim"))
                .orElseGet(() -> Usability.usable("for tests"));
    }

    @Override
    public Map<String, String> options() {
        return SoftRdmaContext.OPTIONS;
    }

    @Override
    public VerbsDevice open(Map<String, String> options) {
        return open(options, new Memory());
    }

    /** Opens a device with its operations on memory. */
    public static VerbsDevice open(Map<String, String> options, Memory memory) {
        SoftRdmaContext context = new SoftRdmaContext().set(options).conclude();
        DeviceSettings like = context.deviceSettings();
        DeviceSettings settings = new DeviceSettings(
                like.manualProgress(),
                like.maxRegions(),
                like.pinning(),
                SameHost.Mode.AT_ONCE,
                like.engine(),
                like.wire(),
                like.profile());
        SoftRdmaDevice device = new SoftRdmaDevice(
                settings,
                Transports.open(
                        context.transport(), context.threads(), context.manualProgress(), context.socketOptions()),
                DeviceEnvironment.with(CountedPageLocks.ofThisProcess(), memory));
        memory.device = device;
        return device;
    }

    /** Allocates shareable memory only, and does something before it copies. */
    public static final class Memory extends MemoryOperations {
        private volatile @Nullable VerbsDevice device;
        private volatile @Nullable Copy before;

        /** As usual until {@link #before}. */
        public Memory() {}

        /** From now on this runs before each copy; null for nothing. */
        public void before(@Nullable Copy step) {
            before = step;
        }

        @Override
        public void copy(long source, long target, long length) {
            Copy step = before;
            if (step != null) {
                step.of(source, target, length);
            }
            super.copy(source, target, length);
        }

        @Override
        public HostMemory allocateForApplication(long length, MemorySource source) {
            VerbsDevice mine = device;
            return mine != null && source instanceof MemorySource.Anonymous
                    ? mine.allocateMemory(length, new MemorySource.Shareable())
                    : super.allocateForApplication(length, source);
        }
    }

    /** A copy that is about to be made. */
    @FunctionalInterface
    public interface Copy {
        /** Raw addresses and bytes. */
        void of(long source, long target, long length);
    }
}
