package org.softrdma.sim;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.softrdma.sim.transport.NettyTransport;
import org.softrdma.sim.transport.SocketOptions;
import org.softrdma.sim.transport.Transport;
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
     * What {@code auto} takes: the first that works here. Epoll stays in front until a measurement shows that io_uring
     * costs less for what this device does; then {@code URING} goes before it, and nothing else changes.
     */
    private static final List<String> PREFERENCE = List.of(EPOLL, NIO);

    private Transports() {}

    /** Which one {@code auto} takes here, and why not the others. */
    static String describe() {
        StringBuilder text = new StringBuilder();
        for (String name : PREFERENCE) {
            Optional<String> obstacle = obstacle(name);
            if (obstacle.isEmpty()) {
                text.append(label(name));
                break;
            }
            text.append("no ")
                    .append(label(name))
                    .append(" (")
                    .append(obstacle.get())
                    .append("), but ");
        }
        return text + uring();
    }

    private static String uring() {
        String state = obstacle(URING)
                .map(reason -> "io_uring does not work here: " + reason)
                .orElse("io_uring works too: transport=uring");
        return PREFERENCE.contains(URING) ? "" : "; " + state;
    }

    private static String label(String name) {
        return switch (name) {
            case URING -> "io_uring";
            case NIO -> "java.nio";
            default -> name;
        };
    }

    /** Why a transport does not work here, empty if it does. */
    private static Optional<String> obstacle(String name) {
        return switch (name) {
            case EPOLL -> Optional.ofNullable(NettyTransport.epollUnavailable());
            case URING -> NettyTransport.uringObstacle();
            default -> Optional.empty();
        };
    }

    /**
     * Opens a transport.
     *
     * @param choice one of {@link #CHOICES}
     * @param threads number of loops; ignored in manual progress
     * @param manual the calling thread will run the one loop
     * @param options of every connection
     * @throws VerbsException {@code NO_DEVICE} if it does not work here
     */
    static Transport open(String choice, int threads, boolean manual, SocketOptions options) {
        if (!choice.equals(AUTO)) {
            return openNamed(choice, threads, manual, options);
        }
        for (String name : PREFERENCE.subList(0, PREFERENCE.size() - 1)) {
            try {
                return openNamed(name, threads, manual, options);
            } catch (VerbsException e) {
                // The next one: what does not work, and why, is what `softrdma providers` says.
            }
        }
        return openNamed(PREFERENCE.getLast(), threads, manual, options);
    }

    private static Transport openNamed(String name, int threads, boolean manual, SocketOptions options) {
        obstacle(name).ifPresent(reason -> {
            throw unavailable(name, reason, null);
        });
        try {
            return switch (name) {
                case EPOLL -> NettyTransport.epoll(threads, manual, options);
                case URING -> NettyTransport.uring(threads, manual, options);
                default -> NettyTransport.nio(threads, manual, options);
            };
        } catch (IOException e) {
            throw unavailable(name, String.valueOf(e.getMessage()), e);
        }
    }

    private static VerbsException unavailable(String name, String reason, @Nullable Throwable cause) {
        return new VerbsException(
                VerbsErrorCode.NO_DEVICE,
                "transport=" + name + " is not available here: " + reason + "; use transport="
                        + (name.equals(EPOLL) ? NIO : EPOLL),
                cause);
    }
}
