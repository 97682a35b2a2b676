package org.softrdma.bench.compare;

import java.util.Map;
import java.util.function.Supplier;
import org.softrdma.bench.server.ServerMeter;
import org.softrdma.bench.server.ServerProcess;
import org.softrdma.bench.workload.StoreConnections;
import org.softrdma.bench.workload.TcpCommands;

/**
 * A store with its load, ready to be measured.
 *
 * @param kind what it is
 * @param label its name in results
 * @param server how its server waits
 * @param connections to it
 * @param process its server
 * @param meter measures the server
 * @param lossy true if it may lose pairs
 * @param memory asks the server what it holds: {@code pairs}, and totals of bytes; called while it runs
 * @param responder asks the server what its device has counted; empty if it does not tell
 */
record ComparedSystem(
        SystemKind kind,
        String label,
        CompareRow.Server server,
        StoreConnections connections,
        ServerProcess process,
        ServerMeter meter,
        boolean lossy,
        Supplier<Map<String, Long>> memory,
        Supplier<Map<String, Long>> responder) {
    /** False if it would only repeat another system with this window, or cannot do this mix. */
    boolean fits(int window, boolean getsOnly) {
        return !label.endsWith(TcpCommands.MULTI_KEY.mixLabel()) || (window > 1 && getsOnly);
    }
}
