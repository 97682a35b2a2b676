package org.softrdma.net.transport;

import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.extension.ExtensionContext;

/** The transports by name, for tests. */
public final class TransportKinds {
    /** Transports of Linux, and the portable one. */
    public static final String EPOLL = "epoll";

    /** io_uring. */
    public static final String URING = "uring";

    /** java.nio. */
    public static final String NIO = "nio";

    /** All of them. */
    public static Stream<String> names() {
        return Stream.of(EPOLL, URING, NIO);
    }

    /** Opens one by name. */
    public static Transport open(String name, boolean manual, SocketOptions options) throws IOException {
        return switch (name) {
            case EPOLL -> NettyTransport.epoll(1, manual, options);
            case URING -> NettyTransport.uring(1, manual, options);
            case NIO -> NettyTransport.nio(1, manual, options);
            default -> throw new IllegalArgumentException(name);
        };
    }

    /** Opens one by name, with threads of a name of their own. */
    public static Transport service(String name, String threadName, int threads, SocketOptions options, Runnable ended)
            throws IOException {
        return switch (name) {
            case EPOLL -> NettyTransport.epoll(threadName, threads, options, ended);
            case URING -> NettyTransport.uring(threadName, threads, options, ended);
            case NIO -> NettyTransport.nio(threadName, threads, options, ended);
            default -> throw new IllegalArgumentException(name);
        };
    }

    /** Those that a test runs on: all, or in ci/verify one that works here, if it is tagged "sampled"; its name decides. */
    public static Stream<String> of(ExtensionContext test) {
        if (Integer.getInteger("softrdma.sample", 1) == 1 || !test.getTags().contains("sampled")) {
            return names();
        }
        List<String> working = names().filter(name -> obstacle(name).isEmpty()).toList();
        int turn = Math.floorMod(test.getRequiredTestMethod().getName().hashCode(), working.size());
        return Stream.of(working.get(turn));
    }

    private static Optional<String> obstacle(String name) {
        return switch (name) {
            case EPOLL -> Optional.ofNullable(NettyTransport.epollUnavailable());
            case URING -> NettyTransport.uringObstacle();
            default -> Optional.empty();
        };
    }

    /** Skips the rest of a test if a transport does not work here. */
    public static void require(String name) {
        Optional<String> obstacle = obstacle(name);
        Assumptions.assumeTrue(obstacle.isEmpty(), () -> name + " does not work here: " + obstacle.orElse(""));
    }

    private TransportKinds() {}
}
