package org.softrdma.sim.device;

import org.jspecify.annotations.Nullable;
import org.softrdma.sim.memory.StagTable;
import org.softrdma.sim.memory.Window;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.MemoryWindow;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.provider.DomainContents;

/** A protection domain, as its regions, windows and queue pairs see it. Thread-safe. */
interface DeviceDomain extends ProtectionDomain {
    /** Its number in the stag table. */
    int number();

    /** True if its regions are rows of this table. */
    boolean isOf(StagTable table);

    /**
     * Refuses what needs a feature that its device lacks.
     *
     * @param feature needed
     * @param what was asked for
     */
    void require(Feature feature, String what);

    /**
     * One more lives in it.
     *
     * @throws IllegalStateException if it is closed
     */
    void opened(DomainContents.Kind kind);

    /** One is gone. */
    void closed(DomainContents.Kind kind);

    /**
     * The window that a request of a queue pair of this domain binds.
     *
     * @throws IllegalArgumentException if it belongs to another device
     */
    Window window(@Nullable MemoryWindow window);
}
