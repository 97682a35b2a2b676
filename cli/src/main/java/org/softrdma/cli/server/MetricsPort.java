package org.softrdma.cli.server;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Function;
import org.softrdma.cli.command.UserErrorException;
import org.softrdma.kv.server.host.Wildcards;

/**
 * Where Prometheus asks for the statistics of a server: {@code /metrics}, over HTTP. Each request has a thread of its
 * own, so a client that sends half a request keeps nobody else from an answer; the JDK's server ends it after a while,
 * and takes only so many connections.
 */
final class MetricsPort implements AutoCloseable {
    private static final int BACKLOG = 16;
    private static final int OK = 200;
    private static final int NOT_FOUND = 404;
    private static final int NOT_ALLOWED = 405;
    private static final int NO_BODY = -1;
    private static final String PATH = "/metrics";

    /** How the JDK's server is bounded: documented in its module, read once, when the first server is made. */
    private static final Map<String, String> LIMITS = Map.of(
            "sun.net.httpserver.maxReqTime", "10", // seconds, though the page says milliseconds
            "sun.net.httpserver.maxRspTime", "10",
            "jdk.httpserver.maxConnections", "100");

    private final HttpServer server;
    private final ExecutorService threads = Executors.newThreadPerTaskExecutor(
            Thread.ofVirtual().name("metrics-", 0).factory());

    /**
     * Opens it.
     *
     * @param address that it listens on; port 0 for any free one
     * @param ipv6Only if {@code ::} means no IPv4; Java's server takes both wherever it listens on a wildcard
     * @param statistics gives the names and values of a group of {@code stats}
     */
    MetricsPort(InetSocketAddress address, boolean ipv6Only, Function<String, Map<String, String>> statistics) {
        LIMITS.forEach((name, value) -> {
            if (System.getProperty(name) == null) {
                System.setProperty(name, value);
            }
        });
        Metrics metrics = new Metrics(statistics);
        try {
            server = HttpServer.create(address, BACKLOG);
        } catch (IOException e) {
            throw new UserErrorException(
                    "--metrics-port " + address.getPort() + ": cannot listen: " + e.getMessage(), e);
        }
        server.createContext("/", exchange -> {
            InetAddress peer = exchange.getRemoteAddress().getAddress();
            if (Wildcards.isMeant(address.getAddress(), ipv6Only, peer)) {
                answer(exchange, metrics);
            } else {
                exchange.close();
            }
        });
        server.setExecutor(threads);
        server.start();
    }

    private static void answer(HttpExchange exchange, Metrics metrics) throws IOException {
        try (exchange) {
            if (!exchange.getRequestURI().getPath().equals(PATH)) {
                exchange.sendResponseHeaders(NOT_FOUND, NO_BODY);
            } else if (!exchange.getRequestMethod().equals("GET")) {
                exchange.sendResponseHeaders(NOT_ALLOWED, NO_BODY);
            } else {
                byte[] text = metrics.text().getBytes(StandardCharsets.UTF_8);
                exchange.getResponseHeaders().set("Content-Type", "text/plain; version=0.0.4; charset=utf-8");
                exchange.sendResponseHeaders(OK, text.length);
                exchange.getResponseBody().write(text);
            }
        }
    }

    /** Where it listens. */
    InetSocketAddress address() {
        return server.getAddress();
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}
