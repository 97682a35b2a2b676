package org.softrdma.cluster;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.softrdma.farm.memory.FarmObjectDescriptor;
import org.softrdma.farm.node.FarmException;
import org.softrdma.sim.SoftRdmaProvider;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * A machine in a process of its own, for {@link StoppedPrimaryTest}. It says number and password of its session, and reads the object of each address
 * that it is told.
 */
final class StoppedPrimary {
    static final String NAME = "stopped";
    static final int VALUE = FarmObjectDescriptor.PAYLOAD_OFFSET;
    static final int LENGTH = VALUE + Long.BYTES;
    static final ClusterSettings SETTINGS = new ClusterSettings(2, 2, 1 << 18, 1 << 12, 1500);
    static final InetSocketAddress ANY = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(60);

    private StoppedPrimary() {}

    public static void main(String[] arguments) throws IOException {
        ZooKeeperMembership membership = join(arguments[0]);
        try (ClusterNode node =
                        ClusterNode.start(StoppedPrimary::device, membership, membership.context(ANY), () -> {});
                BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            System.out.println(membership.client().getSessionId());
            System.out.println(HexFormat.of().formatHex(membership.client().getSessionPasswd()));
            for (String line = input.readLine(); line != null; line = input.readLine()) {
                System.out.println(read(node, Long.parseLong(line)));
            }
        }
    }

    /** As {@code softrdma farm node} opens it. */
    static VerbsDevice device() {
        return new SoftRdmaProvider().open(Map.of("progress", "manual"));
    }

    static ZooKeeperMembership join(String servers) {
        return ZooKeeperMembership.join(servers, NAME, SETTINGS, TIMEOUT_NS);
    }

    private static String read(ClusterNode node, long address) {
        try {
            return "read " + node.node().read(address, LENGTH).getLong(VALUE);
        } catch (FarmException e) {
            return "over";
        }
    }
}
