package org.softrdma.suites.kv;

import java.io.Serial;
import java.util.concurrent.locks.ReentrantLock;
import org.softrdma.fabric.baton.Baton;

/** A lock whose waiters hand the baton on. Whoever holds that. */
final class BatonLock extends ReentrantLock {
    @Serial
    private static final long serialVersionUID = 1L;

    private final transient Baton baton;

    BatonLock(Baton baton) {
        this.baton = baton;
    }

    @Override
    public void lock() {
        while (!tryLock()) {
            boolean ignored = baton.until(() -> !isLocked(), Long.MAX_VALUE);
        }
    }
}
