package org.softrdma.net.transport;

import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;

/** A socket cannot listen: the reason as a constant, and a message that says what to do. */
public final class ListenException extends IOException {
    private static final long serialVersionUID = 1;

    private static final int EACCES = 13;
    private static final int EADDRINUSE = 98;
    private static final int EADDRNOTAVAIL = 99;
    private static final String ANY = " (0 takes any free one)";

    /** Why. */
    public enum Reason {
        /** Another socket listens there, or a file is there that a Unix socket would need. */
        IN_USE,
        /** The port is for privileged processes, or the directory of a Unix socket not for this one. */
        NOT_PERMITTED,
        /** No interface has the address. */
        NOT_HERE,
        /** Any port would do, and none is free. */
        NO_PORT,
        /** See the message. */
        OTHER
    }

    private final Reason reason;

    private ListenException(Reason reason, SocketAddress local, IOException cause) {
        super("cannot listen on " + where(local) + ": " + advice(reason, local, cause), cause);
        this.reason = reason;
    }

    private ListenException(Reason reason, String message, IOException cause) {
        super(message, cause);
        this.reason = reason;
    }

    /** Of a wire that knows better what to do. */
    public static ListenException of(Reason reason, String message, IOException cause) {
        return new ListenException(reason, message, cause);
    }

    /** From the errno of bind(2) or listen(2) on Linux. */
    static ListenException ofErrno(int errno, SocketAddress local, IOException cause) {
        Reason reason = switch (errno) {
            case EADDRINUSE -> inUse(local);
            case EACCES -> Reason.NOT_PERMITTED;
            case EADDRNOTAVAIL -> Reason.NOT_HERE;
            default -> Reason.OTHER;
        };
        return new ListenException(reason, local, cause);
    }

    /** Of a transport that has no kernel below it. */
    public static ListenException of(Reason reason, InetSocketAddress local) {
        return new ListenException(reason, local, new BindException(reason.name()));
    }

    /** From java.nio, whose {@link BindException} has several meanings. */
    static ListenException ofCause(IOException cause, SocketAddress local) throws IOException {
        Reason reason = Reason.OTHER;
        if (cause instanceof BindException) {
            String message = String.valueOf(cause.getMessage());
            boolean refused = message.startsWith("Permission");
            if (local instanceof InetSocketAddress tcp) {
                reason = !isHere(tcp.getAddress()) ? Reason.NOT_HERE : refused ? Reason.NOT_PERMITTED : inUse(local);
            } else if (refused) {
                reason = Reason.NOT_PERMITTED;
            } else if (message.startsWith("Address already in use")) {
                reason = Reason.IN_USE;
            }
        }
        return new ListenException(reason, local, cause);
    }

    private static boolean isHere(InetAddress host) throws IOException {
        return host.isAnyLocalAddress() || NetworkInterface.getByInetAddress(host) != null;
    }

    private static boolean isAnyPort(SocketAddress local) {
        return local instanceof InetSocketAddress tcp && tcp.getPort() == 0;
    }

    /** Who asked for any port did not name port 0 to a user. */
    private static String where(SocketAddress local) {
        return isAnyPort(local)
                ? "any port of " + ((InetSocketAddress) local).getAddress().getHostAddress()
                : AddressText.of(local);
    }

    private static Reason inUse(SocketAddress local) {
        return isAnyPort(local) ? Reason.NO_PORT : Reason.IN_USE;
    }

    private static String advice(Reason reason, SocketAddress local, IOException cause) {
        if (local instanceof UnixDomainSocketAddress) {
            return fileAdvice(reason, cause);
        }
        return switch (reason) {
            case IN_USE -> "the port is in use; choose another" + ANY;
            case NOT_PERMITTED ->
                "ports below 1024 need root or CAP_NET_BIND_SERVICE (net.ipv4.ip_unprivileged_port_start); choose"
                        + " another"
                        + ANY;
            case NOT_HERE -> "no interface of this machine has that address";
            case NO_PORT -> "no port is free (net.ipv4.ip_local_port_range)";
            case OTHER -> String.valueOf(cause.getMessage());
        };
    }

    private static String fileAdvice(Reason reason, IOException cause) {
        return switch (reason) {
            case IN_USE -> "the file is there already; choose another, or delete it if no server listens there";
            case NOT_PERMITTED -> "this process may not make files there";
            default -> String.valueOf(cause.getMessage());
        };
    }

    /** Why. */
    public Reason reason() {
        return reason;
    }
}
