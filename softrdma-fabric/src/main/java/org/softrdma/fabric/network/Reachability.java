package org.softrdma.fabric.network;

import java.net.InetAddress;
import java.util.HashMap;
import java.util.Map;
import org.softrdma.fabric.scheduler.Scheduler;
import org.softrdma.fabric.scheduler.Source;

/**
 * Which hosts reach each other, and since when not. What is sent meanwhile is not lost, as TCP repeats it, but for a
 * host that is gone.
 */
final class Reachability {
    private final Scheduler scheduler;
    private final Map<Path, Cut> cuts = new HashMap<>();
    private final Map<InetAddress, Long> goneSinceNs = new HashMap<>();

    private record Path(InetAddress from, InetAddress to) {}

    private record Cut(long sinceNs, long untilNs) {}

    Reachability(Scheduler scheduler) {
        this.scheduler = scheduler;
    }

    /** Nothing gets from one host to another before a time; a cut that is there is made longer. */
    void cut(InetAddress from, InetAddress to, long untilNs) {
        cuts.merge(
                new Path(from, to),
                new Cut(scheduler.nanoTime(), untilNs),
                (old, cut) -> old.untilNs() > cut.sinceNs()
                        ? new Cut(old.sinceNs(), Math.max(old.untilNs(), cut.untilNs()))
                        : cut);
    }

    /** Everybody reaches everybody again who is there. */
    void heal() {
        cuts.clear();
    }

    /** A host loses its power. */
    void vanish(InetAddress host) {
        goneSinceNs.putIfAbsent(host, scheduler.nanoTime());
    }

    /** When something that is under way can arrive: now, later, or {@link Source#NEVER}. */
    long openAtNs(InetAddress from, InetAddress to) {
        if (goneSinceNs.containsKey(from) || goneSinceNs.containsKey(to)) {
            return Source.NEVER;
        }
        Cut cut = cuts.get(new Path(from, to));
        return cut == null ? Long.MIN_VALUE : cut.untilNs();
    }

    /** How long a host has heard nothing of another one, whatever it asks; 0 if it would hear. */
    long silentNs(InetAddress from, InetAddress to) {
        long nowNs = scheduler.nanoTime();
        Long since = goneSinceNs.get(to);
        long silentNs = since == null ? 0 : nowNs - since;
        for (Path path : new Path[] {new Path(from, to), new Path(to, from)}) {
            Cut cut = cuts.get(path);
            if (cut != null && cut.untilNs() > nowNs) {
                silentNs = Math.max(silentNs, nowNs - cut.sinceNs());
            }
        }
        return silentNs;
    }
}
