package org.softrdma.bench.wimpy;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.softrdma.bench.perf.ByteSize;
import org.softrdma.bench.perf.DeviceFactory;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.HostMemory;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.PinningPolicy;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.device.VerbsDevice;

/** How long registering and deregistering memory takes that nobody has touched, by its size and policy. */
final class RegistrationTimes {
    static final String PART = "registration";
    private static final double NS_PER_MICRO = 1e3;
    private static final int WARM_UP = 200;

    private final DeviceFactory devices;
    private final PinningPlan plan;
    private final Map<String, String> skipped;

    RegistrationTimes(DeviceFactory devices, PinningPlan plan, Map<String, String> skipped) {
        this.devices = devices;
        this.plan = plan;
        this.skipped = skipped;
    }

    List<PinningRow> run() {
        List<PinningRow> rows = new ArrayList<>();
        try (VerbsDevice device = devices.open(Map.of("progress", "manual"));
                ProtectionDomain domain = device.allocateProtectionDomain()) {
            for (int i = 0; i < WARM_UP; i++) {
                time(device, domain, new PinningRow(PART, "", ""), PinningPolicy.LAZY, 1L << 20);
            }
            for (PinningPolicy policy : List.of(PinningPolicy.OFF, PinningPolicy.LAZY, PinningPolicy.EAGER)) {
                for (long bytes : plan.registrationBytes()) {
                    if (policy != PinningPolicy.EAGER || bytes <= plan.mostEagerBytes()) {
                        rows.add(row(device, domain, policy, bytes));
                    }
                }
            }
        }
        return rows;
    }

    private PinningRow row(VerbsDevice device, ProtectionDomain domain, PinningPolicy policy, long bytes) {
        PinningRow row = new PinningRow(PART, PinningStudy.name(policy), ByteSize.format(bytes));
        try {
            for (int round = 0; round < plan.rounds(); round++) {
                time(device, domain, row, policy, bytes);
            }
        } catch (VerbsException e) {
            skipped.put(row.system() + " registration of " + row.at(), String.valueOf(e.getMessage()));
        }
        return row;
    }

    private static void time(
            VerbsDevice device, ProtectionDomain domain, PinningRow row, PinningPolicy policy, long bytes) {
        try (HostMemory memory = device.allocateMemory(bytes)) {
            long startNs = System.nanoTime();
            MemoryRegion region = domain.register(memory.segment(), Set.of(AccessFlag.REMOTE_READ), policy);
            long registeredNs = System.nanoTime();
            region.close();
            long closedNs = System.nanoTime();
            row.values().add(PinningRow.REGISTER, (registeredNs - startNs) / NS_PER_MICRO);
            row.values().add(PinningRow.DEREGISTER, (closedNs - registeredNs) / NS_PER_MICRO);
        }
    }
}
