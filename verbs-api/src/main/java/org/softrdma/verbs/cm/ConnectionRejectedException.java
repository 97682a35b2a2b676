package org.softrdma.verbs.cm;

import java.io.Serial;
import org.jspecify.annotations.Nullable;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;

/** The peer rejected a connection request (C: {@code RDMA_CM_EVENT_REJECTED}). */
public final class ConnectionRejectedException extends VerbsException {
    @Serial
    private static final long serialVersionUID = 1L;

    private final byte[] privateData;

    /**
     * A rejection.
     *
     * @param message who rejected what
     * @param privateData what the peer sent with the rejection
     */
    public ConnectionRejectedException(String message, byte[] privateData) {
        this(message, privateData, null);
    }

    private ConnectionRejectedException(String message, byte[] privateData, @Nullable Throwable cause) {
        super(VerbsErrorCode.REJECTED, message, cause);
        this.privateData = privateData.clone();
    }

    @Override
    public ConnectionRejectedException forCaller() {
        return new ConnectionRejectedException(String.valueOf(getMessage()), privateData, this);
    }

    /** What the peer sent with the rejection; empty if nothing. */
    public byte[] privateData() {
        return privateData.clone();
    }
}
