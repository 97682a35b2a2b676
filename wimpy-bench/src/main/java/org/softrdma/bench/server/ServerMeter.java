package org.softrdma.bench.server;

import java.util.Optional;
import org.softrdma.bench.cpu.CpuClock;
import org.softrdma.bench.cpu.CpuUse;

/** Measures the CPU time of a server while it is loaded. Belongs to the thread of the study. */
public interface ServerMeter {
    /** Begins. */
    void start();

    /** What the server has used since the beginning; empty if nobody can tell. */
    Optional<CpuUse> stop();

    /** The kernel's account of a process of this machine. */
    static ServerMeter ofProcess(CpuClock clock) {
        return new ServerMeter() {
            private CpuClock.Sample begin = clock.sample();

            @Override
            public void start() {
                begin = clock.sample();
            }

            @Override
            public Optional<CpuUse> stop() {
                return Optional.of(clock.sample().since(begin));
            }
        };
    }

    /** What a server elsewhere says of itself. */
    static ServerMeter ofServer(ServerAdmin admin) {
        return new ServerMeter() {
            private Optional<ServerAdmin.CpuTime> begin = Optional.empty();
            private long beginNs;

            @Override
            public void start() {
                begin = admin.cpuTime();
                beginNs = System.nanoTime();
            }

            @Override
            public Optional<CpuUse> stop() {
                return begin.flatMap(earlier ->
                        admin.cpuTime().map(now -> now.since(earlier, System.nanoTime() - beginNs)));
            }
        };
    }
}
