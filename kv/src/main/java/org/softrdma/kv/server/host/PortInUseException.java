package org.softrdma.kv.server.host;

import java.io.IOException;
import java.io.Serial;
import java.io.UncheckedIOException;
import java.net.SocketAddress;
import org.softrdma.net.transport.AddressText;

/** Another socket listens there already. */
public final class PortInUseException extends UncheckedIOException {
    @Serial
    private static final long serialVersionUID = 1L;

    /**
     * Makes one, which says what to do.
     *
     * @param address where
     * @param cause how the network says it
     */
    public PortInUseException(SocketAddress address, Throwable cause) {
        super(
                "cannot listen on " + AddressText.of(address)
                        + ": the port is in use; choose another with -p (0 takes any free one)",
                new IOException(cause));
    }
}
