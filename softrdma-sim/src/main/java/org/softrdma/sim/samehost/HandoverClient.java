package org.softrdma.sim.samehost;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import org.softrdma.net.kernel.LocalSocket;

/**
 * Goes to the handover server of a peer and takes what it hands over. Whatever fails is no fault of the connection, which
 * goes on
 * by TCP. Background thread; each step has a time limit.
 */
final class HandoverClient {
    private final long timeoutNs;

    /**
     * Makes a client.
     *
     * @param timeoutNs most for each question
     */
    HandoverClient(long timeoutNs) {
        this.timeoutNs = timeoutNs;
    }

    /**
     * Goes there for the first time.
     *
     * @param peer gets what is handed over
     * @param ends of the connection, whose client end this process holds
     * @param server its server end
     * @throws IOException if nobody is there, or this side is not let in
     */
    void take(PeerMemory peer, TcpEnds ends, InetSocketAddress server) throws IOException {
        LocalSocket socket = connect(server);
        boolean kept = false;
        try {
            if (!HandoverServer.isWelcome(socket.peer(), LocalSocket.effectiveUser())) {
                throw new IOException("another user answers for " + server);
            }
            ByteBuffer hello = HandoverMessage.write(HandoverMessage.HELLO);
            ends.put(hello);
            socket.send(HandoverMessage.bytes(hello), peer.counts().descriptor(), true);
            byte[] answer = HandoverMessage.empty();
            try (HandedFile life = new HandedFile(socket.receive(answer))) {
                ByteBuffer welcome = ByteBuffer.wrap(answer);
                HandoverMessage.expect(welcome, HandoverMessage.WELCOME);
                int domain = welcome.getInt();
                peer.welcome(socket, HandoverMessage.keys(welcome), domain, life.take());
            }
            kept = true;
        } finally {
            if (!kept) {
                socket.close();
            }
        }
        takeAgain(peer);
    }

    private LocalSocket connect(InetSocketAddress server) throws IOException {
        try {
            return LocalSocket.connect(HandoverServer.name(server), timeoutNs);
        } catch (IOException e) {
            return LocalSocket.connect(HandoverServer.name(new InetSocketAddress(server.getPort())), timeoutNs);
        }
    }

    /** Takes what has come since. */
    void takeAgain(PeerMemory peer) throws IOException {
        peer.converse(socket -> {
            int seen = peer.seen();
            byte[] bytes = HandoverMessage.empty();
            boolean more = true;
            while (more) {
                socket.send(
                        HandoverMessage.bytes(
                                HandoverMessage.write(HandoverMessage.NEXT).putInt(seen)),
                        LocalSocket.NONE,
                        true);
                try (HandedFile file = new HandedFile(socket.receive(bytes))) {
                    ByteBuffer answer = ByteBuffer.wrap(bytes);
                    int kind = HandoverMessage.kind(answer);
                    int now = answer.getInt();
                    more = kind != HandoverMessage.END;
                    take(peer, kind, seen, now, answer, file);
                    seen = now;
                }
            }
            peer.seen(seen);
        });
    }

    private static void take(PeerMemory peer, int kind, int seen, int now, ByteBuffer answer, HandedFile file)
            throws IOException {
        if (kind == HandoverMessage.CHUNK && now > seen) {
            peer.addChunk(answer.getInt(), file.take());
        } else if (kind == HandoverMessage.MEMORY && now > seen) {
            int number = answer.getInt();
            peer.addMemory(number, answer.getLong(), file.take());
        } else if (kind == HandoverMessage.LIST && seen < 0) {
            peer.addDirectory(file.take());
        } else if (kind != HandoverMessage.END || file.isThere()) {
            throw new IOException("a message of kind " + kind + " about file " + now + ": expected what comes behind "
                    + seen + ", or the end");
        }
    }
}
