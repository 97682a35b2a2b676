package org.softrdma.bench.floor;

import java.util.List;
import org.softrdma.bench.message.WriteLoad;

/**
 * What {@code FloorStudy} measures.
 *
 * @param operations what requests do
 * @param sizes bytes of a request
 * @param windows requests outstanding per connection
 * @param memoryBytes bytes of the memory that is read or written
 * @param responders processes of the soft RNIC that take turns
 * @param latency also measure single round trips, if READs are measured
 * @param sameHost also measure READs that the requester does by itself, if READs are measured
 * @param bothWays also measure READs of one connection in both directions, if READs are measured
 * @param limit the ratio that must not be exceeded
 */
public record FloorLoad(
        List<FloorOperation> operations,
        List<Long> sizes,
        List<Integer> windows,
        int connections,
        long memoryBytes,
        int responders,
        boolean latency,
        boolean sameHost,
        boolean bothWays,
        double limit) {
    /** Copies the lists and checks the numbers. */
    public FloorLoad {
        operations = operations.stream().distinct().toList();
        sizes = List.copyOf(sizes);
        windows = List.copyOf(windows);
        if (operations.isEmpty()
                || sizes.isEmpty()
                || windows.isEmpty()
                || connections < 1
                || responders < 1
                || sizes.stream().anyMatch(size -> size < 1 || size > memoryBytes)
                || windows.stream().anyMatch(window -> window < 1)) {
            throw new IllegalArgumentException("operations=" + operations + ", sizes=" + sizes + ", windows="
                    + windows + ", connections=" + connections
                    + ": expected at least one of each, and no size above the memory of " + memoryBytes);
        }
        long share = WriteLoad.shareBytes(memoryBytes, connections);
        if (operations.contains(FloorOperation.WRITE) && sizes.stream().anyMatch(size -> size > share)) {
            throw new IllegalArgumentException("sizes=" + sizes + ": each of " + connections + " connections WRITEs to "
                    + share + " bytes of the memory of " + memoryBytes);
        }
    }

    long largest() {
        return sizes.stream().mapToLong(Long::longValue).max().orElseThrow();
    }

    int widest() {
        return windows.stream().mapToInt(Integer::intValue).max().orElseThrow();
    }
}
