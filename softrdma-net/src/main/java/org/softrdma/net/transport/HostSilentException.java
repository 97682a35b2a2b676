package org.softrdma.net.transport;

import java.io.IOException;
import java.util.Set;

/** The peer's host does not answer, neither application nor kernel: it is down, or no packet gets through. */
public final class HostSilentException extends IOException {
    private static final long serialVersionUID = 1;

    /**
     * ENETUNREACH, ETIMEDOUT, EHOSTDOWN and EHOSTUNREACH: the results of a router's reply or of a neighbour's silence.
     */
    private static final Set<Integer> ERRNOS = Set.of(101, 110, 112, 113);

    private static final Set<String> MESSAGES =
            Set.of("Network is unreachable", "Connection timed out", "Host is down", "No route to host");

    /**
     * For a connection that ends because its peer's host is silent.
     *
     * @param cause what the kernel said
     */
    public HostSilentException(IOException cause) {
        super(cause.getMessage(), cause);
    }

    /** A failure by errno, as a {@code HostSilentException} if that is what it means. */
    static IOException ofErrno(int errno, IOException failure) {
        return ERRNOS.contains(errno) ? new HostSilentException(failure) : failure;
    }

    /** A failure of java.nio, as a {@code HostSilentException} if that is what it means. */
    static IOException ofMessage(IOException failure) {
        return MESSAGES.contains(String.valueOf(failure.getMessage())) ? new HostSilentException(failure) : failure;
    }
}
