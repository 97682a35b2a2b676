package org.softrdma.sanitiser.device;

import org.softrdma.verbs.MemoryWindow;
import org.softrdma.verbs.ProtectionDomain;

/** A memory window. Any thread. */
final class SanitisedWindow implements MemoryWindow {
    private final MemoryWindow window;
    private final ProtectionDomain domain;
    private final Lifetime lifetime;

    SanitisedWindow(MemoryWindow window, ProtectionDomain domain, Lifetime lifetime) {
        this.window = window;
        this.domain = domain;
        this.lifetime = lifetime;
    }

    /** The provider's window. */
    static MemoryWindow bare(MemoryWindow window) {
        return window instanceof SanitisedWindow sanitised ? sanitised.window : window;
    }

    @Override
    public ProtectionDomain protectionDomain() {
        return domain;
    }

    @Override
    public int rkey() {
        return window.rkey();
    }

    @Override
    public void close() {
        window.close();
        lifetime.end();
    }

    @Override
    public String toString() {
        return window.toString();
    }
}
