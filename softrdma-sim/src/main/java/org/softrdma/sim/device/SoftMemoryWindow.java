package org.softrdma.sim.device;

import org.softrdma.sim.memory.Window;
import org.softrdma.sim.memory.Windows;
import org.softrdma.verbs.MemoryWindow;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.provider.Closing;

/** A memory window: the application's handle of a row in the stag table. Thread-safe. */
final class SoftMemoryWindow implements MemoryWindow {
    private final ProtectionDomain domain;
    private final Window window;
    private final Runnable closer;
    private final Closing closing = new Closing();

    /**
     * A window that is not bound.
     *
     * @param window its row
     * @param closer frees the row, once
     */
    SoftMemoryWindow(ProtectionDomain domain, Window window, Runnable closer) {
        this.domain = domain;
        this.window = window;
        this.closer = closer;
    }

    @Override
    public ProtectionDomain protectionDomain() {
        return domain;
    }

    @Override
    public int rkey() {
        return window.rkey();
    }

    /**
     * The window of a request.
     *
     * @throws IllegalArgumentException if it belongs to another device
     */
    Window of(Windows device) {
        if (!device.contains(window)) {
            throw new IllegalArgumentException("the memory window belongs to another device");
        }
        return window;
    }

    /** The next bind will have this key. */
    void choose(int key, boolean zeroBased) {
        window.choose(key, zeroBased);
    }

    @Override
    public void close() {
        closing.once(closer);
    }

    @Override
    public String toString() {
        return "MemoryWindow[0x" + Integer.toHexString(rkey()) + "]";
    }
}
