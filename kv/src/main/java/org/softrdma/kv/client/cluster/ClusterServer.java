package org.softrdma.kv.client.cluster;

import java.net.InetSocketAddress;

/**
 * A server of a cluster. All clients of a cluster must write its name the same way: {@link Ketama} hashes it.
 *
 * @param host name or address, as given
 * @param port its memcached port
 * @param weight its share of the keys relative to the other servers, at least 1
 */
public record ClusterServer(String host, int port, int weight) {
    /** memcached's port. */
    public static final int DEFAULT_PORT = 11211;

    private static final int MAX_PORT = 65535;

    /** Checks the values. */
    public ClusterServer {
        if (host.isEmpty() || port < 1 || port > MAX_PORT || weight < 1) {
            throw new IllegalArgumentException("server " + host + ":" + port + ", weight " + weight
                    + ": expected a host, a port of 1 to " + MAX_PORT + " and a weight of at least 1");
        }
    }

    /**
     * Parses {@code HOST[:PORT[:WEIGHT]]}, with an IPv6 address in brackets.
     *
     * @param text for example {@code cache1}, {@code cache1:11212}, {@code [::1]:11211:3}
     * @throws IllegalArgumentException if it is anything else
     */
    public static ClusterServer parse(String text) {
        int hostEnd = text.startsWith("[") ? text.indexOf(']') + 1 : text.indexOf(':');
        String host = hostEnd < 0 ? text : text.substring(0, hostEnd);
        String rest = text.substring(host.length());
        String[] numbers = rest.split(":", -1);
        if (numbers.length > 3 || !numbers[0].isEmpty() || host.startsWith("[") != host.endsWith("]")) {
            throw expected(text);
        }
        try {
            int port = numbers.length > 1 ? Integer.parseInt(numbers[1]) : DEFAULT_PORT;
            int weight = numbers.length > 2 ? Integer.parseInt(numbers[2]) : 1;
            return new ClusterServer(host.replaceAll("^\\[|]$", ""), port, weight);
        } catch (IllegalArgumentException e) {
            throw expected(text);
        }
    }

    private static IllegalArgumentException expected(String text) {
        return new IllegalArgumentException("server \"" + text + "\": expected HOST, HOST:PORT or HOST:PORT:WEIGHT");
    }

    /** Its address, looked up now; unresolved if there is no such host. */
    public InetSocketAddress address() {
        return new InetSocketAddress(host, port);
    }

    /** What {@link Ketama} hashes: without the port if that is memcached's, as libmemcached does it. */
    String hashedName() {
        return port == DEFAULT_PORT ? host : host + ":" + port;
    }

    @Override
    public String toString() {
        return (host.indexOf(':') < 0 ? host : "[" + host + "]") + ":" + port;
    }
}
