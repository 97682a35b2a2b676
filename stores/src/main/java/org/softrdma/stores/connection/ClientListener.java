package org.softrdma.stores.connection;

import java.net.InetSocketAddress;
import java.util.Optional;
import java.util.function.Consumer;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.cm.ConnectionRequest;
import org.softrdma.verbs.cm.Listener;
import org.softrdma.verbs.device.VerbsDevice;

/** Where a server takes connections, one at a time. Owned by the server's thread. */
public final class ClientListener implements AutoCloseable {
    private static final int BACKLOG = 64;

    private final Listener listener;
    private final Consumer<ConnectionRequest> taker;

    /**
     * Listens.
     *
     * @param taker accepts a connection, or fails: then the peer learns of it from its connection
     * @throws VerbsException if the device cannot
     */
    public ClientListener(VerbsDevice device, InetSocketAddress address, Consumer<ConnectionRequest> taker) {
        listener = device.listen(address, BACKLOG);
        this.taker = taker;
    }

    /** Where it listens. */
    public InetSocketAddress address() {
        return listener.localAddress();
    }

    /**
     * Takes the next connection, if there is one.
     *
     * @param hasRoom false to reject it
     * @return the amount of work
     */
    public int accept(boolean hasRoom) {
        Optional<ConnectionRequest> next = listener.next(0);
        if (next.isEmpty()) {
            return 0;
        }
        try (ConnectionRequest request = next.get()) {
            if (hasRoom) { // else closing the request rejects it
                taker.accept(request);
            }
        } catch (VerbsException e) {
            // The peer is gone, or there is no memory for it: it will learn either from its connection.
        }
        return 1;
    }

    @Override
    public void close() {
        listener.close();
    }
}
