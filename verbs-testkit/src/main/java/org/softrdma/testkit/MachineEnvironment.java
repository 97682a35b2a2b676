package org.softrdma.testkit;

import org.softrdma.verbs.device.VerbsProvider;

/** This machine with a provider. */
final class MachineEnvironment implements CaseEnvironment, MachineTime {
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
