package org.softrdma.sim.samehost;

import java.io.IOException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.softrdma.net.kernel.LocalSocket;
import org.softrdma.net.kernel.SealedMemory;

/**
 * Answers at the Unix socket beside a listener's port. It lets in processes of this user only, and hands files only to
 * the one that holds the other end of a connection that was accepted. It never waits for a client: each gets one
 * answer
 * for one question, and is sent away if it does not take it.
 *
 * <p>A thread of its own; {@link #close} may come from any other.
 */
final class HandoverServer implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(HandoverServer.class);
    private static final int BACKLOG = 128;
    /** Clients beyond this number are sent away, the one who came first first. */
    private static final int MOST_GUESTS = 4096;

    private static final long JOIN_MS = 5_000;
    /** Without an end. */
    private static final int NO_LIMIT = -1;
    /** Between two attempts to let a client in, while there is no descriptor or no memory for one. */
    private static final int PAUSE_MS = 100;

    private final LocalSocket listening;
    private final int user;
    private final AcceptedPeers peers;
    private final SharedFiles files;
    private final int[] secrets;
    private final SocketOwner owners = new SocketOwner();
    private final List<Guest> guests = new ArrayList<>();
    private final Thread thread;
    private volatile boolean closing;
    // Its thread's.
    /** Why the last attempt to serve has failed, until the next one. */
    private @Nullable Throwable failure;

    /** The log has it that attempts fail. */
    private boolean told;

    /**
     * Listens.
     *
     * @param name of the socket
     * @param peers who may come
     * @param files what they get
     * @param secrets constants of the rkeys
     * @throws IOException if the name is in use
     */
    HandoverServer(String name, AcceptedPeers peers, SharedFiles files, int[] secrets) throws IOException {
        this.peers = peers;
        this.files = files;
        this.secrets = secrets.clone();
        user = LocalSocket.effectiveUser();
        listening = LocalSocket.listen(name, BACKLOG);
        thread = Thread.ofPlatform().daemon().name(name).unstarted(this::run);
    }

    /** Begins to answer. */
    void start() {
        thread.start();
    }

    /**
     * The name of the socket for a listener.
     *
     * @param listener its address; any address of its port if it is the wildcard
     */
    static String name(InetSocketAddress listener) {
        return "softrdma-same-host-1/" + listener.getPort() + "/" + text(listener.getAddress());
    }

    /** An interface, which a link-local address needs, by its number: one side knows its name, and the other does not. */
    private static String text(InetAddress address) {
        if (address.isAnyLocalAddress()) {
            return "*";
        }
        String text = address.getHostAddress();
        int scope = text.indexOf('%');
        return scope < 0 || !(address instanceof Inet6Address scoped)
                ? text
                : text.substring(0, scope + 1) + scoped.getScopeId();
    }

    /** True if a process may come in: of this user, and with a number, which it has not in another container. */
    static boolean isWelcome(LocalSocket.Peer peer, int user) {
        return peer.user() == user && peer.process() > 0;
    }

    private void run() {
        while (!closing) {
            try {
                rest();
                serve();
                told = false;
            } catch (IOException | RuntimeException | Error e) {
                failure = e; // nothing else here: there may be no memory for it
            }
        }
        guests.forEach(Guest::close);
        listening.close();
    }

    /** Waits if there was no descriptor or no memory for who has come: the kernel would report them again at once. */
    private void rest() {
        Throwable cause = failure;
        if (cause == null || closing) {
            return;
        }
        failure = null;
        LockSupport.parkNanos(this, TimeUnit.MILLISECONDS.toNanos(PAUSE_MS));
        if (!told) {
            told = true;
            LOG.warn("{} lets nobody in, trying again every {} ms", thread.getName(), PAUSE_MS, cause);
        }
    }

    private void serve() throws IOException {
        List<LocalSocket> sockets = new ArrayList<>();
        sockets.add(listening);
        guests.forEach(guest -> sockets.add(guest.socket));
        List<Guest> asked = new ArrayList<>(guests);
        boolean[] ready = LocalSocket.await(sockets, NO_LIMIT);
        for (int i = 1; i < ready.length; i++) {
            if (ready[i]) {
                answer(asked.get(i - 1));
            }
        }
        if (ready[0] && !closing) {
            admit(listening.accept());
        }
    }

    private void admit(LocalSocket socket) {
        try {
            LocalSocket.Peer peer = socket.peer();
            if (isWelcome(peer, user)) {
                if (guests.size() >= MOST_GUESTS) {
                    guests.removeFirst().close();
                }
                guests.add(new Guest(socket, peer.process()));
                return;
            }
            LOG.info("process {} of user {} was sent away", peer.process(), peer.user());
        } catch (IOException e) {
            LOG.debug("a client left at once", e);
        }
        socket.close();
    }

    private void answer(Guest guest) {
        try {
            byte[] bytes = HandoverMessage.empty();
            try (HandedFile file = new HandedFile(guest.socket.receive(bytes))) {
                ByteBuffer message = ByteBuffer.wrap(bytes);
                if (HandoverMessage.kind(message) == HandoverMessage.HELLO && guest.accepted == null) {
                    greet(guest, TcpEnds.get(message), file.take());
                } else {
                    handOver(guest, ByteBuffer.wrap(bytes));
                }
            }
        } catch (IOException | RuntimeException | Error e) {
            guests.remove(guest);
            guest.close();
            LOG.debug("a client was sent away, or left", e);
        }
    }

    private void greet(Guest guest, TcpEnds ends, int page) throws IOException {
        SealedMemory counts = SealedMemory.open(page, ReadCounts.BYTES);
        AcceptedPeers.Accepted accepted = peers.find(ends);
        if (accepted == null || !owners.holds(guest.process, ends)) {
            counts.close();
            throw new IOException("process " + guest.process + " holds no accepted connection " + ends);
        }
        accepted.admit(
                counts,
                guest.socket,
                life -> guest.socket.send(
                        HandoverMessage.bytes(HandoverMessage.welcome(accepted.domain(), secrets)), life, false));
        guest.accepted = accepted;
    }

    private void handOver(Guest guest, ByteBuffer message) throws IOException {
        HandoverMessage.expect(message, HandoverMessage.NEXT);
        AcceptedPeers.Accepted accepted = guest.accepted;
        if (accepted == null || accepted.hasEnded()) {
            throw new IOException("nothing for process " + guest.process);
        }
        int after = message.getInt();
        if (after < 0) {
            byte[] list = HandoverMessage.bytes(
                    HandoverMessage.write(HandoverMessage.LIST).putInt(0));
            files.directory(descriptor -> guest.socket.send(list, descriptor, false));
            return;
        }
        files.next(after, (item, seen) -> {
            if (item == null) {
                guest.socket.send(
                        HandoverMessage.bytes(
                                HandoverMessage.write(HandoverMessage.END).putInt(seen)),
                        LocalSocket.NONE,
                        false);
                return;
            }
            ByteBuffer answer = HandoverMessage.write(
                            item.allocation() ? HandoverMessage.MEMORY : HandoverMessage.CHUNK)
                    .putInt(seen)
                    .putInt(item.number())
                    .putLong(item.memory().length());
            guest.socket.send(HandoverMessage.bytes(answer), item.memory().descriptor(), false);
        });
    }

    /** Nobody is let in any more. Those who have something keep it. */
    @Override
    public void close() {
        closing = true;
        listening.shutdown();
        try {
            thread.join(JOIN_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** A process that has come. HandoverServer's thread. */
    private static final class Guest {
        private final LocalSocket socket;
        private final int process;
        /** The connection whose other end it holds, once it has said so. */
        private AcceptedPeers.@Nullable Accepted accepted;

        Guest(LocalSocket socket, int process) {
            this.socket = socket;
            this.process = process;
        }

        void close() {
            socket.close();
        }
    }
}
