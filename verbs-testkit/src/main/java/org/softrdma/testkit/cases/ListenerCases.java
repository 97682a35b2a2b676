package org.softrdma.testkit.cases;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.OutputStream;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.softrdma.testkit.ConformanceCase;
import org.softrdma.testkit.LoopbackPair;
import org.softrdma.testkit.ProviderTraits.Trait;
import org.softrdma.testkit.Task;
import org.softrdma.testkit.TwoNodes;
import org.softrdma.testkit.TwoNodesExtension;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.ConnectionRequest;
import org.softrdma.verbs.cm.Connector;
import org.softrdma.verbs.cm.Listener;
import org.softrdma.verbs.device.VerbsDevice;

/** Listeners: addresses, waiting for requests, closing, and peers that do not speak the protocol. */
@ExtendWith(TwoNodesExtension.class)
public final class ListenerCases {
    private static final long SHORT_NS = 20_000_000;
    private static final long STALL_NS = 500_000_000;

    /** Made by JUnit. */
    public ListenerCases() {}

    @Test
    @ConformanceCase(
            number = 261,
            title = "port 0 picks a free port; a port in use is refused, and free again once closed",
            source = "rdma_bind_addr(3), rdma_listen(3) EADDRINUSE")
    void shouldRefuseAPortWhenItIsInUse(TwoNodes nodes) {
        VerbsDevice device = nodes.responder().device();
        InetSocketAddress any = new InetSocketAddress(nodes.settings().address(), 0);
        Listener first = nodes.own(device.listen(any, 4));
        InetSocketAddress taken = first.localAddress();
        assertTrue(taken.getPort() > 0, "port " + taken.getPort());
        assertEquals(any.getAddress(), taken.getAddress());
        Refusals.expectCode(VerbsErrorCode.ADDRESS_IN_USE, () -> device.listen(taken, 4), "listen on a used port");
        assertFalse(first.isClosed(), "the first listener is not closed");
        first.close();
        first.close();
        assertTrue(first.isClosed(), "the listener is closed");
        assertEquals(Optional.empty(), first.next(SHORT_NS));
        Listener again = nodes.own(device.listen(taken, 4));
        assertEquals(taken, again.localAddress());
    }

    @Test
    @ConformanceCase(
            number = 262,
            title = "waiting for a request ends at its timeout and when the listener is closed",
            source = "Listener.next; rdma_get_cm_event(3)")
    void shouldStopWaitingWhenTheListenerIsClosed(TwoNodes nodes) {
        Listener listener = nodes.own(nodes.responder()
                .device()
                .listen(new InetSocketAddress(nodes.settings().address(), 0), 4));
        assertEquals(Optional.empty(), listener.next(0));
        assertEquals(Optional.empty(), listener.next(-1));
        assertEquals(Optional.empty(), listener.next(Long.MIN_VALUE));
        long start = nodes.nanoTime();
        assertEquals(Optional.empty(), listener.next(SHORT_NS));
        assertTrue(nodes.nanoTime() - start >= SHORT_NS / 2, "next ended before its timeout");
        Task<Optional<ConnectionRequest>> waiting = nodes.start("next", () -> listener.next(Long.MAX_VALUE));
        nodes.linger(SHORT_NS);
        assertFalse(waiting.isDone(), "next ended for no reason");
        listener.close();
        assertEquals(Optional.empty(), waiting.get());
    }

    @Test
    @ConformanceCase(
            number = 265,
            title = "a request that was waiting when its listener closed is refused or dropped, not left hanging",
            source = "Listener.close; rdma_destroy_id(3)")
    void shouldRefuseWaitingRequestsWhenTheListenerIsClosed(TwoNodes nodes) {
        Listener listener = nodes.own(nodes.responder()
                .device()
                .listen(new InetSocketAddress(nodes.settings().address(), 0), 4));
        Connector connector = nodes.own(nodes.requester().device().resolve(listener.localAddress(), nodes.timeoutNs()));
        CompletionQueue queue = nodes.requester().completions(8).queue();
        nodes.own(connector.createQueuePair(
                nodes.requester().domain(), QueuePairAttributes.of(queue, QueuePairLimits.of(4, 4))));
        Task<Integer> closing = nodes.start("close", () -> {
            nodes.linger(SHORT_NS);
            listener.close();
            return 0;
        });
        long start = nodes.nanoTime();
        VerbsException refused = org.junit.jupiter.api.Assertions.assertThrows(
                VerbsException.class, () -> connector.connect(ConnectionParameters.DEFAULT, nodes.timeoutNs()));
        assertTrue(nodes.nanoTime() - start < nodes.timeoutNs(), "hung until the deadline: " + refused.code());
        closing.get();
    }

    @Test
    @ConformanceCase(
            number = 266,
            title = "an address of another machine is refused",
            source = "rdma_bind_addr(3) EADDRNOTAVAIL; 192.0.2.0/24 is for documentation (RFC 5737)")
    void shouldRefuseToListenWhenTheAddressIsNotHere(TwoNodes nodes) {
        InetSocketAddress elsewhere = new InetSocketAddress("192.0.2.77", 0);
        Refusals.expectCode(
                VerbsErrorCode.ADDRESS_NOT_AVAILABLE,
                () -> nodes.responder().device().listen(elsewhere, 1),
                "listen on " + elsewhere);
    }

    @Test
    @ConformanceCase(
            number = 267,
            title = "connections over IPv6",
            source = "RFC 5044 section 7 (any TCP connection); rdma_bind_addr(3)")
    void shouldConnectWhenTheAddressIsIpv6(TwoNodes nodes) throws IOException {
        nodes.require(Feature.IPV6);
        Listener listener;
        try {
            listener = nodes.own(nodes.responder().device().listen(new InetSocketAddress(ipv6Beside(nodes), 0), 4));
        } catch (VerbsException e) {
            nodes.require(
                    e.code() != VerbsErrorCode.ADDRESS_NOT_AVAILABLE, "the device does not take the IPv6 address");
            throw e;
        }
        nodes.connect(listener).barrier();
    }

    @Test
    @ConformanceCase(
            number = 269,
            title = "a peer that sends garbage or nothing yields no request and disturbs no other",
            source = "RFC 5044 section 7.1.2 (startup frames); Listener.next")
    void shouldServeOthersWhenAPeerSpeaksNonsense(TwoNodes nodes) throws IOException {
        nodes.requireSockets();
        nodes.require(
                !nodes.traits().has(Trait.LOSES_LISTENER_TO_NONSENSE),
                "a peer that sends garbage may free the listener (siw_cm.c, siw_accept_newconn)");
        InetSocketAddress address = nodes.responderAddress();
        LoopbackPair established = nodes.connect();
        byte[] nonsense = new byte[64 << 10];
        nodes.random().nextBytes(nonsense);
        try (Socket silent = new Socket()) {
            try {
                silent.connect(address, millis(nodes.timeoutNs()));
            } catch (IOException e) {
                nodes.require(false, "the listener is no TCP listener: " + e.getMessage());
            }
            long shortestStall = Long.MAX_VALUE;
            for (int attempt = 0; attempt < 3; attempt++) {
                for (int length : new int[] {7, nonsense.length}) {
                    try (Socket brief = new Socket()) {
                        brief.connect(address, millis(nodes.timeoutNs()));
                        speak(brief, nonsense, length);
                    }
                }
                shortestStall = Math.min(shortestStall, longestRead(nodes, established));
                assertEquals(Optional.empty(), nodes.listener().next(0), "garbage became a request");
            }
            assertTrue(
                    shortestStall < STALL_NS,
                    "each time a peer sent garbage, READs of others stalled for at least " + shortestStall + " ns");
            byte[] almost = "MPA ID Req Frame".getBytes(StandardCharsets.US_ASCII);
            speak(silent, almost, almost.length);
            nodes.connect().barrier();
            assertEquals(Optional.empty(), nodes.listener().next(0), "half a request became one");
        }
    }

    /** Duration of the slowest of some READs while the listener handles its new connections. */
    private static long longestRead(TwoNodes nodes, LoopbackPair pair) {
        long longest = 0;
        for (int i = 0; i < 20; i++) {
            long start = nodes.nanoTime();
            pair.barrier();
            longest = Math.max(longest, nodes.nanoTime() - start);
            nodes.linger(SHORT_NS / 20);
        }
        return longest;
    }

    private static int millis(long nanos) {
        return (int) (nanos / 1_000_000);
    }

    /** An IPv6 address of the network interface with the address of the run; skips the case if it has none. */
    private static InetAddress ipv6Beside(TwoNodes nodes) throws IOException {
        NetworkInterface card = NetworkInterface.getByInetAddress(
                InetAddress.getByName(nodes.settings().address()));
        Optional<InetAddress> found = card == null
                ? Optional.empty()
                : card.inetAddresses().filter(Inet6Address.class::isInstance).findFirst();
        nodes.require(
                found.isPresent(), "the network card of " + nodes.settings().address() + " has no IPv6 address");
        return found.orElseThrow();
    }

    private static void speak(Socket socket, byte[] bytes, int length) {
        try {
            OutputStream out = socket.getOutputStream();
            out.write(bytes, 0, length);
            out.flush();
        } catch (IOException e) {
            // The listener may hang up in the middle.
        }
    }
}
