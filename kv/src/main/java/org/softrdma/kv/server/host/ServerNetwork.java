package org.softrdma.kv.server.host;

import java.util.function.Consumer;
import java.util.function.Function;

/**
 * How clients reach the memcached port: TCP or a Unix socket, unless {@code ServerEnvironment.network} says otherwise. It also
 * has the threads of the connections. Called by the thread that starts the server.
 */
public interface ServerNetwork {
    /**
     * Opens the port.
     *
     * @param settings where and how
     * @param clients makes what runs the requests of a client that has connected
     * @param failed told when a thread of connections has ended
     * @return the open port; closed by the server
     * @throws RuntimeException if the port cannot be opened; the message says why
     */
    ServerPort listen(
            PortSettings settings,
            Function<? super ClientChannel, ? extends ClientHandler> clients,
            Consumer<? super Throwable> failed);

    /** Bytes that the buffers of all connections may take; {@link Long#MAX_VALUE} if there is no limit. Any thread. */
    long bufferBytes();
}
