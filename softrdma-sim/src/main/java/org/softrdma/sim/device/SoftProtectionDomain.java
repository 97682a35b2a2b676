package org.softrdma.sim.device;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.Advice;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.PinningPolicy;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.provider.Creation;
import org.softrdma.verbs.provider.DomainContents;

/** A protection domain: a number in the stag table, and a count of what it contains. Thread-safe. */
final class SoftProtectionDomain implements ProtectionDomain, Registrar.Domain {
    private final SoftRdmaDevice device;
    private final int number;
    private final DomainContents contents = new DomainContents();

    SoftProtectionDomain(SoftRdmaDevice device, int number) {
        this.device = device;
        this.number = number;
    }

    boolean isOf(SoftRdmaDevice other) {
        return device == other;
    }

    int number() {
        return number;
    }

    @Override
    public MemoryRegion register(MemorySegment memory, Set<AccessFlag> access) {
        return register(memory, access, PinningPolicy.AUTO);
    }

    @Override
    public MemoryRegion register(MemorySegment memory, Set<AccessFlag> access, PinningPolicy pinning) {
        device.progress().checkThread();
        // Not under the lock: EAGER takes time in proportion to the memory, and may wait for engines.
        return Creation.counted(
                contents::regionOpened,
                () -> device.registrar().register(this, number, memory, access, pinning),
                contents::regionClosed,
                "a memory region");
    }

    @Override
    public void advise(Advice advice, boolean wait, long address, long length, int lkey) {
        device.progress().checkThread();
        Runnable prefetch = device.registrar().prefetch(number, advice, address, length, lkey);
        if (wait || !device.progress().isThreaded()) {
            prefetch.run();
        } else {
            device.prefetchLater(prefetch);
        }
    }

    @Override
    public void regionClosed() {
        contents.regionClosed();
    }

    DomainContents contents() {
        return contents;
    }

    @Override
    public void close() {
        device.progress().checkThread();
        contents.close(device::childClosed);
    }
}
