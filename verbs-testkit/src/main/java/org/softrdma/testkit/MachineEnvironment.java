package org.softrdma.testkit;

import java.util.concurrent.locks.LockSupport;
import org.softrdma.verbs.device.VerbsProvider;

/** This machine with a provider. */
final class MachineEnvironment implements CaseEnvironment {
    private static final int SPINS_BEFORE_PARKING = 100;
    private static final long PARK_NS = 20_000;

    private final VerbsProvider provider;

    MachineEnvironment(VerbsProvider provider) {
        this.provider = provider;
    }

    @Override
    public VerbsProvider requester() {
        return provider;
    }

    @Override
    public VerbsProvider responder() {
        return provider;
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
    public void spin(int spins) {
        for (int i = 0; i < spins; i++) {
            Thread.onSpinWait();
        }
    }

    @Override
    public void start(String name, boolean virtual, Runnable work) {
        Thread thread = virtual
                ? Thread.ofVirtual().name(name).unstarted(work)
                : Thread.ofPlatform().daemon().name(name).unstarted(work);
        thread.start();
    }

    @Override
    public boolean hasSockets() {
        return true;
    }
}
