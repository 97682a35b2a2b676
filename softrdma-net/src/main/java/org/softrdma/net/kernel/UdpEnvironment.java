package org.softrdma.net.kernel;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * What Linux has around UDP sockets: how large their buffers may be, which ports are taken, and which network interfaces belong to
 * an RDMA device. From files below /proc and /sys; where there are none, nothing is said. Any thread.
 */
public final class UdpEnvironment {
    /** In /proc/net/udp: the local address as address and port, in hexadecimal digits. */
    private static final int LOCAL_ADDRESS = 1;

    private static final int HEXADECIMAL = 16;
    private static final String ROCE = "RoCE v2";

    private final Path root;

    /**
     * Of a machine.
     *
     * @param root below which its proc and sys are
     */
    public UdpEnvironment(Path root) {
        this.root = root;
    }

    /** Those of this machine. */
    public static UdpEnvironment ofThisMachine() {
        return new UdpEnvironment(Path.of("/"));
    }

    /** Most bytes that a socket may ask for as its receive buffer, net.core.rmem_max; nothing if the kernel does not say. */
    public Optional<Long> mostReceiveBuffer() {
        return lines("proc/sys/net/core/rmem_max").stream()
                .map(String::strip)
                .filter(line -> line.matches("[0-9]{1,18}"))
                .map(Long::valueOf)
                .findFirst();
    }

    /** True if a socket has a UDP port, at any address. */
    public boolean isTaken(int port) {
        return Stream.of("proc/net/udp", "proc/net/udp6")
                .flatMap(file -> lines(file).stream().skip(1))
                .map(line -> line.strip().split("\\s+", -1))
                .filter(words -> words.length > LOCAL_ADDRESS)
                .map(words -> words[LOCAL_ADDRESS].substring(words[LOCAL_ADDRESS].indexOf(':') + 1))
                .anyMatch(hex -> hex.matches("[0-9A-F]{4}") && Integer.parseInt(hex, HEXADECIMAL) == port);
    }

    /**
     * The RDMA device that speaks RoCEv2 on a network interface. A card takes packets to its UDP port before any socket sees them;
     * SoftRoCE has the port itself.
     *
     * @param networkInterface its name
     */
    public Optional<String> rdmaDevice(String networkInterface) {
        for (Path device : children(root.resolve("sys/class/infiniband"))) {
            for (Path port : children(device.resolve("ports"))) {
                for (Path name : children(port.resolve("gid_attrs/ndevs"))) {
                    Path type = port.resolve("gid_attrs/types").resolve(name.getFileName());
                    if (first(name).equals(networkInterface) && first(type).equals(ROCE)) {
                        return Optional.of(device.getFileName().toString());
                    }
                }
            }
        }
        return Optional.empty();
    }

    private List<String> lines(String file) {
        return ProcFile.lines(root.resolve(file).toString());
    }

    /** Empty also where the kernel has nothing to tell: reading an unused entry fails. */
    private static String first(Path file) {
        return ProcFile.lines(file.toString()).stream().findFirst().orElse("").strip();
    }

    private static List<Path> children(Path directory) {
        try (Stream<Path> all = Files.list(directory)) {
            return all.sorted().toList();
        } catch (IOException e) {
            return List.of();
        }
    }
}
