package org.softrdma.sim.samehost;

import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Scanner;
import java.util.Set;
import org.softrdma.sim.NearProvider;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.ConnectionRequest;
import org.softrdma.verbs.cm.Listener;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * A process that shows a region of one repeated byte. Arguments: port (0 for any), length, byte. It says "port address
 * rkey", and for each line that it gets how many READs it has answered.
 */
final class NearServer {
    private NearServer() {}

    public static void main(String[] arguments) {
        int port = Integer.parseInt(arguments[0]);
        long length = Long.parseLong(arguments[1]);
        byte fill = Byte.parseByte(arguments[2]);
        VerbsDevice device = NearProvider.open(Map.of(), new NearProvider.Memory());
        ProtectionDomain domain = device.allocateProtectionDomain();
        CompletionQueue queue = device.createCompletionQueue(1024);
        MemorySegment memory = device.allocateMemory(length).segment().fill(fill);
        MemoryRegion region = domain.register(memory, Set.of(AccessFlag.REMOTE_READ));
        Listener listener = device.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 16);
        Thread.ofPlatform().daemon().start(() -> accept(listener, domain, queue));
        System.out.println(listener.localAddress().getPort() + " " + region.address() + " " + region.rkey());
        try (Scanner lines = new Scanner(System.in, StandardCharsets.UTF_8)) {
            while (lines.hasNextLine()) {
                lines.nextLine();
                System.out.println(device.counters().get("responderReads"));
            }
        }
        System.exit(0);
    }

    /** Accepts whoever comes, until the listener is closed. */
    static List<QueuePair> accept(Listener listener, ProtectionDomain domain, CompletionQueue queue) {
        List<QueuePair> pairs = new ArrayList<>();
        while (!listener.isClosed()) {
            ConnectionRequest request = listener.next(1_000_000_000L).orElse(null);
            if (request != null) {
                pairs.add(request.createQueuePair(
                        domain, QueuePairAttributes.of(queue, new QueuePairLimits(16, 16, 1, 1, 0))));
                request.accept(ConnectionParameters.ofReads(16));
            }
        }
        return pairs;
    }
}
