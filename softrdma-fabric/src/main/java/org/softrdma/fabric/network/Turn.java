package org.softrdma.fabric.network;

import java.util.ArrayList;
import java.util.List;
import org.softrdma.fabric.scheduler.Choices;
import org.softrdma.net.transport.StreamSocket;

/**
 * A turn of a loop whose sockets do as those of io_uring: they receive ahead, and send together at the end of the turn
 * ({@link StreamSocket#gatherLater}). The turn is open while something is to be sent at its end; meanwhile other sockets of the
 * loop may have events, but no task or timer runs. The loop's thread.
 */
final class Turn {
    /** Sends of a turn at most, as of io_uring's. */
    private static final int MOST = 32;

    /** Times of a thousand that a send cannot wait for the end, and that only a part has come ahead of a receive. */
    private static final int REFUSED = 100;

    private static final int PARTS = 200;

    private final Choices choices;
    private final List<FabricSocket> later = new ArrayList<>();
    private boolean inEvent;

    Turn(Choices choices) {
        this.choices = choices;
    }

    /** Something is to be sent at its end. */
    boolean isOpen() {
        return !later.isEmpty();
    }

    /** Raises what is due of a socket. */
    void raise(FabricSocket socket) {
        inEvent = true;
        try {
            socket.raise();
        } finally {
            inEvent = false;
        }
    }

    /** Takes a socket that has something to be sent at its end; false if that must go at once. */
    boolean take(FabricSocket socket) {
        if (!inEvent || later.size() == MOST || choices.chance(REFUSED)) {
            return false;
        }
        later.add(socket);
        return true;
    }

    /** How many bytes have come ahead of those that are there and wanted, 1 or more of them. */
    int ahead(int bytes) {
        return bytes > 1 && choices.chance(PARTS) ? 1 + choices.below(bytes - 1) : bytes;
    }

    /** Sends, and then tells each; what they gather now goes at once. */
    void end() {
        List<FabricSocket> sent = List.copyOf(later);
        later.clear();
        sent.forEach(FabricSocket::settle);
        sent.forEach(FabricSocket::tellSent);
    }
}
