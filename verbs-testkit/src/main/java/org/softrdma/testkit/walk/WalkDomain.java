package org.softrdma.testkit.walk;

import java.util.ArrayList;
import java.util.List;
import org.softrdma.verbs.ProtectionDomain;

/** A protection domain and what is in it. The walk's thread. */
final class WalkDomain {
    private final ProtectionDomain domain;
    private final List<WalkRegion> regions = new ArrayList<>();
    private final List<WalkEnd> ends = new ArrayList<>();
    private final List<WalkWindow> windows = new ArrayList<>();
    private final List<WalkSharedQueue> sharedQueues = new ArrayList<>();

    WalkDomain(ProtectionDomain domain) {
        this.domain = domain;
    }

    ProtectionDomain verbs() {
        return domain;
    }

    /** The open ones. */
    List<WalkRegion> regions() {
        return regions;
    }

    /** The open ones. */
    List<WalkEnd> ends() {
        return ends;
    }

    /** The open ones. */
    List<WalkWindow> windows() {
        return windows;
    }

    /** The open ones. */
    List<WalkSharedQueue> sharedQueues() {
        return sharedQueues;
    }

    boolean isBusy() {
        return !regions.isEmpty() || !ends.isEmpty() || !windows.isEmpty() || !sharedQueues.isEmpty();
    }
}
