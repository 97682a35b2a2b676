package org.softrdma.rdmacore.abi;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** The parts of this process's memory that hold machine code, from {@code /proc/self/maps} (proc(5)). Immutable. */
final class ExecutableMemory {
    private final List<long[]> ranges;

    private ExecutableMemory(List<long[]> ranges) {
        this.ranges = ranges;
    }

    /** The current parts. */
    static ExecutableMemory ofThisProcess() {
        try (var lines = Files.lines(Path.of("/proc/self/maps"))) {
            return new ExecutableMemory(lines.map(line -> line.split(" ", 3))
                    .filter(fields -> fields.length > 1 && fields[1].contains("x"))
                    .map(fields -> range(fields[0]))
                    .toList());
        } catch (IOException e) {
            throw new UncheckedIOException("/proc/self/maps cannot be read", e);
        }
    }

    private static long[] range(String text) {
        int dash = text.indexOf('-');
        return new long[] {
            Long.parseUnsignedLong(text.substring(0, dash), 16), Long.parseUnsignedLong(text.substring(dash + 1), 16)
        };
    }

    /** True if an address lies in one of them. */
    boolean contains(long address) {
        return ranges.stream()
                .anyMatch(range ->
                        Long.compareUnsigned(address, range[0]) >= 0 && Long.compareUnsigned(address, range[1]) < 0);
    }
}
