package org.softrdma.cli.server;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.softrdma.kv.server.KvServer;

/** A server that ends in order whatever ends the process: a signal, the end of the input, a failure. */
final class StoppableServer implements AutoCloseable {
    private static final int CLOSE_TIMEOUT_SECONDS = 60;

    private final KvServer server;
    private final CountDownLatch stopped;
    private static final long DRAIN_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(10);

    private volatile boolean graceful;
    private final CountDownLatch closed = new CountDownLatch(1);
    private final Thread hook = new Thread(this::stop, "stop");

    StoppableServer(KvServer server, CountDownLatch stopped) {
        this.server = server;
        this.stopped = stopped;
        Runtime.getRuntime().addShutdownHook(hook);
    }

    /** Where memcached's protocol is spoken over TCP. */
    List<InetSocketAddress> memcachedAddresses() {
        return server.memcachedAddresses();
    }

    /** What {@code stats} answers now. Any thread. */
    Map<String, String> statistics(String group) {
        return server.statistics(group);
    }

    /** Answers what has come before it ends. Any thread. */
    void stopGracefully() {
        graceful = true;
        stopped.countDown();
    }

    /** Where queue pairs are connected. */
    InetSocketAddress rdmaAddress() {
        return server.rdmaAddress();
    }

    /** Waits until it is stopped; by the end of the input as well, if there is one. */
    void await(@Nullable InputStream input) {
        if (input != null) {
            Thread.ofPlatform().daemon().name("input").start(() -> stopAtEnd(input));
        }
        try {
            stopped.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void stopAtEnd(InputStream input) {
        try {
            input.transferTo(OutputStream.nullOutputStream());
        } catch (IOException e) {
            System.getLogger(StoppableServer.class.getName())
                    .log(System.Logger.Level.WARNING, "reading standard input failed: " + e.getMessage());
        } finally {
            stopped.countDown();
        }
    }

    /** A signal came: lets the main thread close everything before the process ends, which it does in any case. */
    private void stop() {
        stopped.countDown();
        try {
            if (!closed.await(CLOSE_TIMEOUT_SECONDS, TimeUnit.SECONDS)) {
                System.getLogger(StoppableServer.class.getName())
                        .log(
                                System.Logger.Level.ERROR,
                                "the server did not close within " + CLOSE_TIMEOUT_SECONDS
                                        + " s; the process ends anyway");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        try {
            if (graceful && !server.drain(DRAIN_TIMEOUT_NS)) {
                System.getLogger(StoppableServer.class.getName())
                        .log(System.Logger.Level.WARNING, "closing connections that are still busy");
            }
            server.close();
        } finally {
            closed.countDown(); // whatever went wrong: the process is to end
        }
    }
}
