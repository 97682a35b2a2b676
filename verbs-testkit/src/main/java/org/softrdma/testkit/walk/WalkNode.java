package org.softrdma.testkit.walk;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.cm.Listener;
import org.softrdma.verbs.device.VerbsDevice;

/** A node: its device and what it has there. The walk's thread. */
final class WalkNode {
    private final int index;
    private final VerbsDevice device;
    private final Listener listener;
    private final Set<Feature> features;
    private final List<WalkDomain> domains = new ArrayList<>();
    private final List<WalkQueue> queues = new ArrayList<>();
    private final List<WalkEnd> ends = new ArrayList<>();
    private final List<WalkBuffer> buffers = new ArrayList<>();
    private final List<WalkRegion> closed = new ArrayList<>();
    private boolean dead;

    WalkNode(int index, VerbsDevice device, Listener listener) {
        this.index = index;
        this.device = device;
        this.listener = listener;
        features = device.capabilities().features();
    }

    int index() {
        return index;
    }

    VerbsDevice device() {
        return device;
    }

    /** What its connections have too. */
    Set<Feature> features() {
        return features;
    }

    Listener listener() {
        return listener;
    }

    List<WalkDomain> domains() {
        return domains;
    }

    List<WalkQueue> queues() {
        return queues;
    }

    /** Those that are not closed. */
    List<WalkEnd> ends() {
        return ends;
    }

    List<WalkBuffer> buffers() {
        return buffers;
    }

    /** Regions that are closed. */
    List<WalkRegion> closedRegions() {
        return closed;
    }

    /** The open regions of all domains. */
    List<WalkRegion> regions() {
        return domains.stream().flatMap(domain -> domain.regions().stream()).toList();
    }

    /** The open windows of all domains. */
    List<WalkWindow> windows() {
        return domains.stream().flatMap(domain -> domain.windows().stream()).toList();
    }

    /** The open shared receive queues of all domains. */
    List<WalkSharedQueue> sharedQueues() {
        return domains.stream()
                .flatMap(domain -> domain.sharedQueues().stream())
                .toList();
    }

    /** Killed, or without power: nothing of it may be touched any more. */
    boolean isDead() {
        return dead;
    }

    void die() {
        dead = true;
    }

    @Override
    public String toString() {
        return "node " + index;
    }
}
