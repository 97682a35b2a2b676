package org.softrdma.kv.server.host;

import java.io.Serial;

/**
 * The network has no memory left for the buffers of a connection. Others may have some again when this one is closed.
 */
public final class OutOfBuffersException extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1L;

    /**
     * Makes one.
     *
     * @param cause how the network says it
     */
    public OutOfBuffersException(Throwable cause) {
        super(cause.getMessage(), cause);
    }
}
