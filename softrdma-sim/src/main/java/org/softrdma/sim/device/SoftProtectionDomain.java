package org.softrdma.sim.device;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import org.softrdma.sim.memory.Registrar;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.Advice;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.PinningPolicy;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.VerbsDevice;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;

/** A number in the stag table, and a count of what lives in it. Thread-safe. */
final class SoftProtectionDomain implements ProtectionDomain, Registrar.Domain {
    private final SoftRdmaDevice device;
    private final int number;
    private final ReentrantLock lock = new ReentrantLock();
    private int regions;
    private int queuePairs;
    private boolean closed;

    SoftProtectionDomain(SoftRdmaDevice device, int number) {
        this.device = device;
        this.number = number;
    }

    @Override
    public VerbsDevice device() {
        return device;
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
        regionOpened();
        boolean registered = false;
        try {
            // Not under the lock: EAGER takes as long as its memory is large, and may wait for engines.
            MemoryRegion region = device.registrar().register(this, number, memory, access, pinning);
            registered = true;
            return region;
        } finally {
            if (!registered) {
                regionClosed();
            }
        }
    }

    private void regionOpened() {
        lock.lock();
        try {
            checkOpen();
            regions++;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void advise(Advice advice, boolean wait, long address, long length, int lkey) {
        device.progress().checkThread();
        Runnable prefetch = device.registrar().prefetch(number, advice, address, length, lkey);
        if (wait || device.manualProgress()) {
            prefetch.run();
        } else {
            device.prefetchLater(prefetch);
        }
    }

    @Override
    public void regionClosed() {
        lock.lock();
        try {
            regions--;
        } finally {
            lock.unlock();
        }
    }

    void queuePairOpened() {
        lock.lock();
        try {
            checkOpen();
            queuePairs++;
        } finally {
            lock.unlock();
        }
    }

    void queuePairClosed() {
        lock.lock();
        try {
            queuePairs--;
        } finally {
            lock.unlock();
        }
    }

    private void checkOpen() {
        if (closed) {
            throw new IllegalStateException("the protection domain is closed");
        }
    }

    @Override
    public void close() {
        device.progress().checkThread();
        lock.lock();
        try {
            if (closed) {
                return;
            }
            if (regions > 0 || queuePairs > 0) {
                throw new VerbsException(
                        VerbsErrorCode.BUSY,
                        regions + " memory regions and " + queuePairs
                                + " queue pairs still use this protection domain");
            }
            closed = true;
        } finally {
            lock.unlock();
        }
        device.childClosed();
    }
}
