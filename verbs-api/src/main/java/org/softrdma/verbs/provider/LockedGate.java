package org.softrdma.verbs.provider;

import java.util.concurrent.locks.ReentrantLock;

/** A lock, for devices that are told of each post while it is held. */
public final class LockedGate implements PostGate {
    private final ReentrantLock lock = new ReentrantLock();

    /** A free one. */
    public LockedGate() {}

    @Override
    public void enter() {
        lock.lock();
    }

    @Override
    public void exit() {
        lock.unlock();
    }
}
