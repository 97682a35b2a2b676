package org.softrdma.ibverbs.device;

import java.net.InetSocketAddress;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;
import org.softrdma.ibverbs.Errno;
import org.softrdma.ibverbs.SocketAddressText;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.cm.ConnectionRejectedException;

/** What an event or error of librdmacm means to the application; rdma_get_cm_event(3). */
public final class ConnectionFailures {
    /** InfiniBand's reject reason "invalid service id": nobody listens (IBTA 12.6.7.2). */
    private static final OptionalInt INVALID_SERVICE_ID = OptionalInt.of(8);

    private static final OptionalInt TIMED_OUT = OptionalInt.of(-Errno.ETIMEDOUT);
    private static final OptionalInt OTHER_PROTOCOL = OptionalInt.of(-Errno.EPROTO);

    private ConnectionFailures() {}

    /**
     * An event that came in place of the one that was waited for.
     *
     * @param event the event
     * @param remote the peer
     */
    static VerbsException of(CmEvent event, InetSocketAddress remote) {
        String what = SocketAddressText.of(remote) + ": " + event;
        return switch (event.type()) {
            case ADDR_ERROR, ROUTE_ERROR ->
                event.status().equals(TIMED_OUT)
                        ? failure(VerbsErrorCode.TIMED_OUT, what + ": no answer to the resolution of its address")
                        : failure(VerbsErrorCode.UNREACHABLE, what + ": no RDMA device has a way there");
            case UNREACHABLE ->
                failure(VerbsErrorCode.UNREACHABLE, what + ": it does not answer, or nobody listens there");
            case REJECTED -> rejected(event, what);
            case CONNECT_ERROR ->
                event.status().equals(OTHER_PROTOCOL)
                        ? failure(VerbsErrorCode.PROTOCOL, what + ": it speaks another protocol")
                        : failure(VerbsErrorCode.CONNECTION_LOST, what + ": the connection ended while it was made");
            case DISCONNECTED ->
                failure(VerbsErrorCode.CONNECTION_LOST, what + ": the connection ended while it was made");
            case DEVICE_REMOVAL -> failure(VerbsErrorCode.NO_DEVICE, what + ": the device was removed");
            default -> failure(VerbsErrorCode.OTHER, what + ": an event that does not belong here");
        };
    }

    private static VerbsException rejected(CmEvent event, String what) {
        if (event.status().equals(INVALID_SERVICE_ID)) {
            return failure(VerbsErrorCode.UNREACHABLE, what + ": nobody listens there");
        }
        return new ConnectionRejectedException(
                what + ": it rejected the connection"
                        + (event.status().isPresent() ? "" : ", or nobody listens there, which is not told apart"),
                event.privateData());
    }

    /**
     * Binding or listening failed.
     *
     * @param problem the C function and its error, for people
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
                        what + " is no address of an RDMA device; `rdma link` and `ip address` show which are"
                                + " (rxe and siw do not work on 127.0.0.1)",
                        cause);
            case Errno.EACCES, Errno.EPERM ->
                new VerbsException(
                        VerbsErrorCode.ADDRESS_NOT_AVAILABLE,
                        what + " may not be used; ports below 1024 need rights",
                        cause);
            default -> new VerbsException(VerbsErrorCode.OTHER, what + " cannot be listened on", cause);
        };
    }

    private static VerbsException failure(VerbsErrorCode code, String message) {
        return new VerbsException(code, message);
    }
}
