package org.softrdma.run.rdmacm;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.softrdma.sim.roce.wire.NumberedPort;
import org.softrdma.sim.roce.wire.RocePacket;

/**
 * UDP ports at an address of this host where a connection manager may hear: 4791, and the {@link NumberedPort}s of further runs. The
 * kernel's table of sockets tells which are taken (/proc/net/udp and udp6, proc_pid_net(5)): an address in groups of four bytes, each in
 * host byte order, a colon and the port, in hexadecimal.
 */
final class HeardPorts {
    private static final int GROUP = Integer.BYTES;
    private static final int LOCAL_ADDRESS = 2;

    private HeardPorts() {}

    /**
     * Those that are taken, 4791 first.
     *
     * @param tables lines of the kernel's table
     */
    static List<Integer> of(InetAddress address, List<String> tables) {
        Set<String> taken = new HashSet<>();
        for (String line : tables) {
            String[] words = line.strip().split("\\s+", LOCAL_ADDRESS + 1);
            if (words.length > LOCAL_ADDRESS) {
                taken.add(words[1]);
            }
        }
        byte[] bytes = address.getAddress();
        String here = text(bytes);
        String anywhere = text(new byte[bytes.length]);
        String anywhereOfBoth = text(new byte[4 * GROUP]);
        List<Integer> found = IntStream.rangeClosed(0, NumberedPort.COUNT)
                .map(NumberedPort::at)
                .filter(port -> {
                    String end = ":" + HexFormat.of().withUpperCase().toHexDigits((short) port);
                    return taken.contains(here + end)
                            || taken.contains(anywhere + end)
                            || taken.contains(anywhereOfBoth + end);
                })
                .boxed()
                .toList();
        return found.isEmpty() ? List.of(RocePacket.UDP_PORT) : found;
    }

    /** Those of this host now; 4791 if the kernel does not tell. */
    static List<Integer> at(InetAddress address) {
        try {
            List<String> lines = new ArrayList<>(Files.readAllLines(Path.of("/proc/net/udp")));
            Path ipv6 = Path.of("/proc/net/udp6");
            if (Files.exists(ipv6)) {
                lines.addAll(Files.readAllLines(ipv6));
            }
            return of(address, lines);
        } catch (IOException e) {
            return List.of(RocePacket.UDP_PORT);
        }
    }

    private static String text(byte[] address) {
        StringBuilder text = new StringBuilder();
        ByteBuffer groups = ByteBuffer.wrap(address).order(ByteOrder.nativeOrder());
        while (groups.hasRemaining()) {
            text.append(HexFormat.of().withUpperCase().toHexDigits(groups.getInt()));
        }
        return text.toString();
    }
}
