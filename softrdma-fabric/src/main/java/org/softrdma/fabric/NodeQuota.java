package org.softrdma.fabric;

import java.util.EnumMap;
import java.util.Map;
import org.softrdma.sim.device.ResourceQuota;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;

/** How many objects the devices of a node have together, and may have. */
final class NodeQuota implements ResourceQuota {
    private final String node;
    private final Map<Kind, Long> most = new EnumMap<>(Kind.class);
    private final Map<Kind, Long> taken = new EnumMap<>(Kind.class);

    NodeQuota(String node) {
        this.node = node;
    }

    void limit(Kind kind, long newMost) {
        most.put(kind, newMost);
    }

    @Override
    public void take(Kind kind) {
        long now = taken.getOrDefault(kind, 0L);
        long limit = most.getOrDefault(kind, Long.MAX_VALUE);
        if (now >= limit) {
            throw new VerbsException(
                    VerbsErrorCode.NO_RESOURCES,
                    "no " + kind + " is left on node " + node + ": it has " + now + ", and its quota is " + limit);
        }
        taken.put(kind, now + 1);
    }

    @Override
    public void giveBack(Kind kind) {
        taken.merge(kind, -1L, Long::sum);
    }
}
