package org.softrdma.ibverbs.device;

import java.net.InetSocketAddress;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;
import org.softrdma.ibverbs.Errno;
import org.softrdma.ibverbs.SocketAddressText;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.cm.ConnectionRejectedException;

/** Translates events and errors of librdmacm for the application; rdma_get_cm_event(3). */
public final class ConnectionFailures {
    /** InfiniBand's reject reason "invalid service id": nothing listens there (IBTA 12.6.7.2). */
    private static final OptionalInt INVALID_SERVICE_ID = OptionalInt.of(8);

    private static final OptionalInt TIMED_OUT = OptionalInt.of(-Errno.ETIMEDOUT);
    private static final OptionalInt OTHER_PROTOCOL = OptionalInt.of(-Errno.EPROTO);

    private ConnectionFailures() {}

    /**
     * The failure that an unexpected event means.
     *
     * @param remote the peer
     */
    static VerbsException of(CmEvent event, InetSocketAddress remote) {
        String what = SocketAddressText.of(remote) + ": " + event;
        return switch (event.type()) {
            case ADDR_ERROR, ROUTE_ERROR ->
                event.status().equals(TIMED_OUT)
                        ? failure(VerbsErrorCode.TIMED_OUT, what + ": resolving its address timed out")
                        : failure(VerbsErrorCode.UNREACHABLE, what + ": no RDMA device has a route to it");
            case UNREACHABLE ->
                failure(VerbsErrorCode.UNREACHABLE, what + ": it does not answer, or nothing listens there");
            case REJECTED -> rejected(event, what);
            case CONNECT_ERROR ->
                event.status().equals(OTHER_PROTOCOL)
                        ? failure(VerbsErrorCode.PROTOCOL, what + ": it speaks another protocol")
                        : failure(VerbsErrorCode.CONNECTION_LOST, what + ": the connection ended during its setup");
            case DISCONNECTED ->
                failure(VerbsErrorCode.CONNECTION_LOST, what + ": the connection ended during its setup");
            case DEVICE_REMOVAL -> failure(VerbsErrorCode.NO_DEVICE, what + ": the device was removed");
            default -> failure(VerbsErrorCode.OTHER, what + ": unexpected event");
        };
    }

    private static VerbsException rejected(CmEvent event, String what) {
        if (event.status().equals(INVALID_SERVICE_ID)) {
            return failure(VerbsErrorCode.UNREACHABLE, what + ": nothing listens there");
        }
        return new ConnectionRejectedException(
                what + ": it rejected the connection"
                        + (event.status().isPresent()
                                ? ""
                                : ", or nothing listens there (the device does not say which)"),
                event.privateData());
    }

    /**
     * The failure to bind or listen.
     *
     * @param problem the C function and its error, for messages
     * @param errno of the call, positive
     * @param local the address
     * @param cause what was thrown, or null
     */
    public static VerbsException ofListening(
            String problem, int errno, InetSocketAddress local, @Nullable Throwable cause) {
        String what = problem + ": " + SocketAddressText.of(local);
        return switch (errno) {
            case Errno.EADDRINUSE ->
                new VerbsException(
                        VerbsErrorCode.ADDRESS_IN_USE, what + " is in use; choose another port, or 0 for any", cause);
            case Errno.EADDRNOTAVAIL, Errno.ENODEV ->
                new VerbsException(
                        VerbsErrorCode.ADDRESS_NOT_AVAILABLE,
                        what + " is not an address of an RDMA device; `rdma link` and `ip address` show which are"
                                + " (rxe and siw do not work on 127.0.0.1)",
                        cause);
            case Errno.EACCES, Errno.EPERM ->
                new VerbsException(
                        VerbsErrorCode.ADDRESS_NOT_AVAILABLE,
                        what + ": permission denied; ports below 1024 need root or CAP_NET_BIND_SERVICE",
                        cause);
            default -> new VerbsException(VerbsErrorCode.OTHER, what + ": cannot listen there", cause);
        };
    }

    private static VerbsException failure(VerbsErrorCode code, String message) {
        return new VerbsException(code, message);
    }
}
