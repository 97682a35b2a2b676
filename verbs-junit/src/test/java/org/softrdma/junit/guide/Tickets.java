package org.softrdma.junit.guide;

import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.HostMemory;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.WorkCompletion;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.ConnectionRequest;
import org.softrdma.verbs.cm.Connector;
import org.softrdma.verbs.cm.Listener;
import org.softrdma.verbs.device.VerbsDevice;
import org.softrdma.verbs.device.VerbsProviders;

// docs: tickets
/** Numbers that nobody gets twice. {@code Tickets server HOST PORT}, {@code Tickets client HOST PORT COUNT}. */
final class Tickets {
    private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(10);

    public static void main(String... arguments) {
        InetSocketAddress server = new InetSocketAddress(arguments[1], Integer.parseInt(arguments[2]));
        if (arguments[0].equals("server")) {
            serve(server);
        } else {
            IO.println(take(server, Integer.parseInt(arguments[3])));
        }
    }

    /** Lets clients count until the process is ended. None of this runs for a ticket: the device counts. */
    private static void serve(InetSocketAddress address) {
        List<QueuePair> clients = new ArrayList<>();
        try (VerbsDevice device = VerbsProviders.named("sim").open(Map.of());
                ProtectionDomain domain = device.allocateProtectionDomain();
                CompletionQueue completions = device.createCompletionQueue(16);
                HostMemory memory = device.allocateMemory(Long.BYTES);
                MemoryRegion next = domain.register(
                        memory.segment(), EnumSet.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_ATOMIC));
                Listener listener = device.listen(address, 16)) {
            byte[] place = ByteBuffer.allocate(Long.BYTES + Integer.BYTES)
                    .putLong(next.address())
                    .putInt(next.rkey())
                    .array();
            IO.println("listening on port " + listener.localAddress().getPort());
            while (true) {
                ConnectionRequest request = listener.next(Long.MAX_VALUE).orElseThrow();
                clients.removeIf(Tickets::closedIfGone);
                clients.add(
                        request.createQueuePair(domain, QueuePairAttributes.of(completions, QueuePairLimits.of(1, 1))));
                request.accept(ConnectionParameters.DEFAULT.withPrivateData(place));
            }
        } finally {
            clients.forEach(QueuePair::close);
        }
    }

    private static boolean closedIfGone(QueuePair client) {
        boolean gone = client.disconnected().toCompletableFuture().isDone();
        if (gone) {
            client.close();
        }
        return gone;
    }

    /** Takes some numbers, one by one. */
    static List<Long> take(InetSocketAddress server, int count) {
        List<Long> tickets = new ArrayList<>();
        WorkCompletion[] done = WorkCompletion.array(1);
        try (VerbsDevice device = VerbsProviders.named("sim").open(Map.of());
                ProtectionDomain domain = device.allocateProtectionDomain();
                CompletionQueue completions = device.createCompletionQueue(2);
                HostMemory memory = device.allocateMemory(Long.BYTES);
                MemoryRegion before = domain.register(memory.segment(), EnumSet.of(AccessFlag.LOCAL_WRITE));
                Connector connector = device.resolve(server, TIMEOUT_NS);
                QueuePair pair = connector.createQueuePair(
                        domain, QueuePairAttributes.of(completions, QueuePairLimits.of(1, 1)))) {
            ByteBuffer place = ByteBuffer.wrap(connector.connect(ConnectionParameters.DEFAULT, TIMEOUT_NS));
            long address = place.getLong();
            int rkey = place.getInt();
            while (tickets.size() < count) {
                pair.postFetchAndAdd(1, before, 0, address, rkey, 1, SendFlags.SIGNALLED);
                while (completions.poll(done) == 0) {
                    Thread.onSpinWait();
                }
                if (!done[0].isSuccess()) {
                    throw new IllegalStateException(done[0].toString());
                }
                tickets.add(memory.segment().get(ValueLayout.JAVA_LONG, 0));
            }
        }
        return tickets;
    }
}
// docs: end
