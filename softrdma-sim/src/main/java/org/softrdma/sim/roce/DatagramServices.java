package org.softrdma.sim.roce;

import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import org.softrdma.net.kernel.Shortage;
import org.softrdma.net.transport.Acceptor;
import org.softrdma.net.transport.AddressText;
import org.softrdma.net.transport.ListenException;
import org.softrdma.sim.link.PeerQuestion;
import org.softrdma.sim.roce.cm.CmPeer;
import org.softrdma.sim.roce.wire.AddressHeader;
import org.softrdma.sim.roce.wire.Gid;
import org.softrdma.sim.roce.wire.PrivateData;
import org.softrdma.sim.roce.wire.ServiceReply;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.cm.ConnectionRejectedException;
import org.softrdma.verbs.cm.DatagramService;

/**
 * Finds services of datagrams, and lets them be found, by SIDR_REQ and SIDR_REP (service identifier resolution). Those of
 * this device are at the address of its queue pairs. Thread of the first engine, except {@link #resolve}.
 */
final class DatagramServices {
    private static final int FIRST_CHOSEN = 0x8000;
    private static final int LAST_CHOSEN = 0xEFFF;
    private static final int TRIALS = 256;

    private final RocePorts ports;
    private final InetAddress address;

    /**
     * Neither asks nor answers yet.
     *
     * @param ports of the first engine
     * @param address of the queue pairs of datagrams
     */
    DatagramServices(RocePorts ports, InetAddress address) {
        this.ports = ports;
        this.address = address;
    }

    // ---- asking

    /** Asks; the result is the answer, or a {@link VerbsException}. Any thread. */
    CompletableFuture<DatagramService> resolve(InetSocketAddress service, byte[] privateData) {
        CompletableFuture<DatagramService> result = new CompletableFuture<>();
        ports.engine().execute(() -> {
            try {
                ask(service, privateData, result);
            } catch (IOException e) {
                fail(
                        result,
                        new VerbsException(
                                Shortage.is(e) ? VerbsErrorCode.NO_RESOURCES : VerbsErrorCode.UNREACHABLE,
                                "cannot ask " + AddressText.of(service) + ": " + e.getMessage(),
                                e));
            } catch (RuntimeException | Error e) {
                fail(result, e);
            }
        });
        return result;
    }

    private static void fail(CompletableFuture<DatagramService> result, Throwable cause) {
        boolean ignored = result.completeExceptionally(cause); // unless whoever waits has given up
    }

    private void ask(InetSocketAddress service, byte[] privateData, CompletableFuture<DatagramService> result)
            throws IOException {
        RocePort port = ports.towards(ports.localTo(service), service.getAddress());
        CmPeer peer = new CmPeer(Gid.of(service.getAddress()), ports.settings().peerPort());
        AddressHeader addresses = new AddressHeader(
                ports.random().nextInt(RocePort.FIRST_SPREADING_PORT, Character.MAX_VALUE),
                port.address(),
                peer.address());
        port.manager()
                .resolve(
                        peer,
                        AddressHeader.serviceId(AddressHeader.PORT_SPACE_UDP, service.getPort()),
                        addresses.with(PrivateData.of(privateData)),
                        reply -> answered(service, peer.port(), reply, result),
                        port.nowNs());
        port.turn();
    }

    private static void answered(
            InetSocketAddress service,
            int port,
            Optional<ServiceReply> answer,
            CompletableFuture<DatagramService> result) {
        if (answer.isEmpty()) {
            fail(
                    result,
                    new VerbsException(
                            VerbsErrorCode.UNREACHABLE,
                            AddressText.of(service) + " does not answer at UDP port " + port
                                    + "; does it speak RoCEv2, and at this roce-peer-port?"));
            return;
        }
        ServiceReply reply = answer.get();
        switch (reply.status()) {
            case ServiceReply.VALID -> {
                boolean ignored = result.complete(new DatagramService(
                        new InetSocketAddress(service.getAddress(), port),
                        reply.queuePair(),
                        reply.queueKey(),
                        reply.privateData().bytes()));
            }
            case ServiceReply.NO_SERVICE ->
                fail(
                        result,
                        new VerbsException(
                                VerbsErrorCode.UNREACHABLE,
                                "nobody offers datagrams at " + AddressText.of(service)
                                        + "; is the server running, and does it listen on this address and port?"));
            case ServiceReply.REJECTED ->
                fail(
                        result,
                        new ConnectionRejectedException(
                                AddressText.of(service) + " refused to say where its datagrams go",
                                reply.privateData().bytes()));
            default ->
                fail(
                        result,
                        new VerbsException(
                                VerbsErrorCode.CONNECTION_LOST,
                                AddressText.of(service) + " has no queue pair for its datagrams, status "
                                        + reply.status() + " (IBA volume 1, 12.11.2)"));
        }
    }

    // ---- answering

    /**
     * Hears whoever asks.
     *
     * @param local the address of the queue pairs, or the wildcard, and a port or 0
     * @param questions gets what they ask
     * @throws IOException if the address or port cannot be had
     */
    Acceptor listen(InetSocketAddress local, Predicate<PeerQuestion> questions) throws IOException {
        if (!local.getAddress().isAnyLocalAddress() && !local.getAddress().equals(address)) {
            throw ListenException.of(
                    ListenException.Reason.NOT_HERE,
                    "cannot listen for datagrams on " + AddressText.of(local) + ": this device's queue pairs are at "
                            + address.getHostAddress() + ", choose another by roce-address",
                    new BindException());
        }
        RocePort port = ports.listening(address);
        if (local.getPort() != 0) {
            return hearing(port, local, questions)
                    .orElseThrow(() -> ListenException.of(ListenException.Reason.IN_USE, local));
        }
        for (int i = 0; i < TRIALS; i++) {
            int chosen = ports.random().nextInt(FIRST_CHOSEN, LAST_CHOSEN);
            Optional<Acceptor> made = hearing(port, new InetSocketAddress(local.getAddress(), chosen), questions);
            if (made.isPresent()) {
                return made.get();
            }
        }
        throw ListenException.of(ListenException.Reason.NO_PORT, local);
    }

    private static Optional<Acceptor> hearing(
            RocePort port, InetSocketAddress local, Predicate<PeerQuestion> questions) {
        long service = AddressHeader.serviceId(AddressHeader.PORT_SPACE_UDP, local.getPort());
        boolean free = port.manager()
                .listen(
                        service,
                        (peer, request, question) ->
                                questions.test(new ServiceQuestion(port, peer, request, question)));
        return free ? Optional.of(new Hearing(port, service, local)) : Optional.empty();
    }

    /** One that is heard. */
    private record Hearing(RocePort port, long service, InetSocketAddress localAddress) implements Acceptor {
        @Override
        public void close() {
            port.manager().stopAnswering(service);
        }
    }
}
