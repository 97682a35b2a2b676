package org.softrdma.bench.machine;

import java.nio.file.Path;
import java.util.Optional;

/**
 * What has gone over the loopback interface since the machine was started, in both directions, as the kernel counts
 * it: a packet is what TCP hands to the interface, up to 64 KiB.
 *
 * @param bytes their bytes, headers of IP and TCP included
 */
public record LoopbackTraffic(long packets, long bytes) {
    private static final Path COUNTS = Path.of("/proc/net/dev");
    private static final String INTERFACE = "lo:";

    /** The counts now; empty where the kernel does not tell. */
    public static Optional<LoopbackTraffic> now() {
        return KernelFile.read(COUNTS).flatMap(LoopbackTraffic::parse);
    }

    /**
     * The counts in the text of {@code /proc/net/dev}.
     *
     * @param text a line for each interface: its name, bytes and packets received, and more
     */
    static Optional<LoopbackTraffic> parse(String text) {
        return text.lines()
                .map(String::strip)
                .filter(line -> line.startsWith(INTERFACE))
                .findFirst()
                .map(line -> line.substring(INTERFACE.length()).strip().split(" +", -1))
                .filter(columns -> columns.length > 1)
                .map(columns -> new LoopbackTraffic(Long.parseLong(columns[1]), Long.parseLong(columns[0])));
    }
}
