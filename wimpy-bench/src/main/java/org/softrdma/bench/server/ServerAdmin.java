package org.softrdma.bench.server;

import java.util.Optional;
import org.softrdma.bench.cpu.CpuUse;
import org.softrdma.bench.measurement.MeasurementException;
import org.softrdma.bench.workload.MixPairs;

/** What a study asks of a server besides GETs. Belongs to the thread of the study. */
public interface ServerAdmin extends AutoCloseable {
    /** What the server says its version is. */
    String version();

    /**
     * Stores all pairs.
     *
     * @throws MeasurementException if one was not stored
     */
    void insert(MixPairs pairs);

    /** CPU time that the server says it has used; empty if it does not say. */
    Optional<CpuTime> cpuTime();

    /**
     * What a server says that it has used, as getrusage does.
     *
     * @param userNs in user mode
     * @param systemNs in the kernel
     */
    record CpuTime(long userNs, long systemNs) {
        private static final double NS_PER_SECOND = 1e9;

        /**
         * Of decimal seconds.
         *
         * @throws NumberFormatException if these are not
         */
        static CpuTime ofSeconds(String user, String system) {
            return new CpuTime(
                    Math.round(Double.parseDouble(user) * NS_PER_SECOND),
                    Math.round(Double.parseDouble(system) * NS_PER_SECOND));
        }

        /**
         * What was used since an earlier time.
         *
         * @param earlier the earlier time
         * @param wallNs time that passed
         */
        CpuUse since(CpuTime earlier, long wallNs) {
            long user = userNs - earlier.userNs;
            long system = systemNs - earlier.systemNs;
            return CpuUse.ofWhole(wallNs, user, system);
        }
    }

    @Override
    void close();
}
