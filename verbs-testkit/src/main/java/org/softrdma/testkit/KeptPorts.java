package org.softrdma.testkit;

import java.io.IOException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.SocketException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.IntPredicate;

/**
 * Ports for a server that ends and comes back. While it is away, the system gives the port to nobody who asks for
 * any port: it takes those from {@code ip_local_port_range} (ip(7)), and these are not of that range. Any thread.
 */
public final class KeptPorts {
    private static final Path RANGE = Path.of("/proc/sys/net/ipv4/ip_local_port_range");
    private static final int LOWEST = 10_000; // below it are ports that people know
    private static final int HIGHEST = 65_535;
    private static final int HIGHEST_OF_ROCE = 0xBFFF; // its peers take higher ones for anybody's
    private static final int ATTEMPTS = 1_000;

    private KeptPorts() {}

    /**
     * A port of the loopback that is free now.
     *
     * @throws IOException if there is none
     */
    public static int next() throws IOException {
        return next(HIGHEST, KeptPorts::isFree);
    }

    /**
     * A UDP port of the loopback that is free now, for a device of RoCEv2.
     *
     * @throws IOException if there is none
     */
    public static int nextUdp() throws IOException {
        return next(HIGHEST_OF_ROCE, KeptPorts::isFreeUdp);
    }

    private static int next(int highest, IntPredicate isFree) throws IOException {
        // By lines: the kernel shows the whole range to the first read only, and readString reads a byte first.
        String[] range = Files.readAllLines(RANGE).getFirst().strip().split("\\s+", 2);
        int low = Integer.parseInt(range[0]);
        int high = Integer.parseInt(range[1]);
        int below = Math.max(0, low - LOWEST);
        int count = below + Math.max(0, highest - high);
        for (int i = 0; i < ATTEMPTS && count > 0; i++) {
            int chosen = ThreadLocalRandom.current().nextInt(count);
            int port = chosen < below ? LOWEST + chosen : high + 1 + chosen - below;
            if (isFree.test(port)) {
                return port;
            }
        }
        throw new IOException("no free port from " + LOWEST + " outside of " + low + " to " + high + ", see " + RANGE);
    }

    private static boolean isFree(int port) {
        try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
            return socket.isBound();
        } catch (IOException e) {
            return false;
        }
    }

    private static boolean isFreeUdp(int port) {
        try (DatagramSocket socket = new DatagramSocket(port, InetAddress.getLoopbackAddress())) {
            return socket.isBound();
        } catch (SocketException e) {
            return false;
        }
    }
}
