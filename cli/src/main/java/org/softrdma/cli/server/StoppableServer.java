package org.softrdma.cli.server;

import java.io.InputStream;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.softrdma.cli.command.ProcessStop;
import org.softrdma.kv.server.KvServer;

/** A server that ends in order whatever ends the process: a signal, the end of the input, a failure. */
final class StoppableServer implements AutoCloseable {
    /** What clients have not finished by then is cut off: containers are killed 10 s after they were told to stop. */
    static final long DRAIN_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(5);

    private static final Logger LOG = LoggerFactory.getLogger(StoppableServer.class);

    private final KvServer server;
    private final ProcessStop stop;
    private volatile boolean graceful;

    StoppableServer(KvServer server, CountDownLatch stopped) {
        this.server = server;
        stop = new ProcessStop(stopped);
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
        stop.stop();
    }

    /** Where queue pairs are connected. */
    List<InetSocketAddress> rdmaAddresses() {
        return server.rdmaAddresses();
    }

    /** Waits until it is stopped; by the end of the input as well, if there is one. */
    void await(@Nullable InputStream input) {
        if (LOG.isInfoEnabled()) {
            LOG.info("settings: {}", server.statistics("settings"));
        }
        stop.await(input, line -> {});
        LOG.info("the server stops");
    }

    @Override
    public void close() {
        try {
            if (graceful && !server.drain(DRAIN_TIMEOUT_NS)) {
                LOG.warn("closing connections that are still busy");
            }
            server.close();
        } finally {
            stop.closed(); // whatever went wrong: the process is to end
        }
    }
}
