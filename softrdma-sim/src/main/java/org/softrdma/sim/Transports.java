package org.softrdma.sim;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.softrdma.net.kernel.Shortage;
import org.softrdma.net.transport.NettyTransport;
import org.softrdma.net.transport.SocketOptions;
import org.softrdma.net.transport.Transport;
import org.softrdma.verbs.VerbsErrorCode;
import org.softrdma.verbs.VerbsException;

/** The transports by name: which of them work here, and which one a device gets. Any thread. */
final class Transports {
    private static final String AUTO = "auto";
    private static final String EPOLL = "epoll";
    private static final String URING = "uring";
    private static final String NIO = "nio";

    /** Values of the option {@code transport}. */
    static final Map<String, String> CHOICES = Map.of(EPOLL, EPOLL, URING, URING, NIO, NIO, AUTO, AUTO);

    /**
     * What {@code auto} takes for engine threads: the first that works here. A READ costs a responder less CPU by io_uring
     * than by epoll (docs/studies/performance.md).
     */
    private static final List<String> FOR_ENGINES = List.of(URING, EPOLL, NIO);

    /** In manual progress: a thread that spins gets its answers sooner by epoll, because it receives without asking first. */
    private static final List<String> FOR_MANUAL_PROGRESS = List.of(EPOLL, NIO);

    private Transports() {}

    /** Which ones {@code auto} takes here, and why not better ones. */
    static String describe() {
        StringBuilder obstacles = new StringBuilder();
        String forEngines = firstUsable(FOR_ENGINES, obstacles);
        String manual = firstUsable(FOR_MANUAL_PROGRESS, new StringBuilder());
        return label(forEngines)
                + (manual.equals(forEngines) ? "" : " (in manual progress by " + label(manual) + ")")
                + obstacles;
    }

    private static String firstUsable(List<String> names, StringBuilder obstacles) {
        for (String name : names) {
            try {
                require(name);
                if (name.equals(URING)) { // a trial needs less memory than a loop
                    create(name, 1, false, new SocketOptions(0, 0, 0)).close();
                }
                return name;
            } catch (IOException e) {
                obstacles
                        .append("; ")
                        .append(label(name))
                        .append(" does not work here: ")
                        .append(e.getMessage());
            }
        }
        throw new AssertionError("java.nio has no obstacles");
    }

    private static String label(String name) {
        return switch (name) {
            case URING -> "io_uring";
            case NIO -> "java.nio";
            default -> name;
        };
    }

    /** Says why a transport does not work here. */
    private static void require(String name) throws IOException {
        switch (name) {
            case EPOLL -> NettyTransport.requireEpoll();
            case URING -> NettyTransport.requireUring();
            default -> {
                // java.nio works everywhere.
            }
        }
    }

    /**
     * Opens a transport.
     *
     * @param choice one of {@link #CHOICES}
     * @param threads number of loops; ignored in manual progress
     * @param manual the calling thread will run the one loop
     * @param options of every connection
     * @throws VerbsException {@code NO_DEVICE} if it does not work here; {@code NO_RESOURCES} if it cannot be opened now
     */
    static Transport open(String choice, int threads, boolean manual, SocketOptions options) {
        return choice.equals(AUTO)
                ? openFirst(manual ? FOR_MANUAL_PROGRESS : FOR_ENGINES, threads, manual, options)
                : openNamed(choice, threads, manual, options);
    }

    private static Transport openNamed(String name, int threads, boolean manual, SocketOptions options) {
        try {
            require(name);
            return create(name, threads, manual, options);
        } catch (IOException e) {
            if (Shortage.is(e)) {
                throw new VerbsException(
                        VerbsErrorCode.NO_RESOURCES,
                        "transport=" + name + " cannot be opened now: " + e.getMessage(),
                        e);
            }
            throw new VerbsException(
                    VerbsErrorCode.NO_DEVICE,
                    "transport=" + name + " is not available here: " + e.getMessage() + "; use transport="
                            + (name.equals(EPOLL) ? NIO : EPOLL),
                    e);
        }
    }

    /** What works here in general but not now, for want of descriptors or memory, is no reason to take java.nio. */
    private static Transport openFirst(List<String> names, int threads, boolean manual, SocketOptions options) {
        StringBuilder reasons = new StringBuilder("no transport can be opened");
        for (String name : names) {
            boolean works = false;
            try {
                require(name);
                works = true;
                return create(name, threads, manual, options);
            } catch (IOException e) {
                reasons.append("; ").append(label(name)).append(": ").append(e.getMessage());
                // io_uring may want memory that there never is, locked memory for one.
                if (!name.equals(URING) && (works || Shortage.is(e))) {
                    throw new VerbsException(VerbsErrorCode.NO_RESOURCES, reasons.toString(), e);
                }
            }
        }
        throw new AssertionError("java.nio has no obstacles");
    }

    private static Transport create(String name, int threads, boolean manual, SocketOptions options)
            throws IOException {
        try {
            return switch (name) {
                case EPOLL -> NettyTransport.epoll(threads, manual, options);
                case URING -> NettyTransport.uring(threads, manual, options);
                default -> NettyTransport.nio(threads, manual, options);
            };
        } catch (RuntimeException e) { // of Netty: there is no descriptor left for a loop, or no memory
            Throwable cause = e;
            while (cause.getCause() != null) {
                cause = cause.getCause();
            }
            throw new IOException(String.valueOf(cause.getMessage()), e);
        }
    }
}
