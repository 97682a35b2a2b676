package org.softrdma.kv.server.host;

import java.util.function.Consumer;
import java.util.function.Function;

/**
 * A network by io_uring, which another module brings: the first of these that {@link java.util.ServiceLoader} finds.
 * Called by the thread that starts the server.
 */
public interface UringNetwork extends ServerNetwork {
    /**
     * Opens the port, as every network does.
     *
     * @throws NetworkUnavailableException if io_uring is not to be had here, or not for such a port; another network may
     *     serve it
     */
    @Override
    ServerPort listen(
            PortSettings settings,
            Function<? super ClientChannel, ? extends ClientHandler> clients,
            Consumer<? super Throwable> failed);
}
