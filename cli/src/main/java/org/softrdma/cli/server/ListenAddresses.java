package org.softrdma.cli.server;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.softrdma.kv.server.host.Wildcards;

/**
 * What memcached's {@code -l} may say: hosts with commas or semicolons in between, each with a port of its own if it
 * wants one: {@code 10.0.0.1}, {@code host:11212}, {@code ::1}, {@code [::1]:11213}, or {@code *} for all addresses; with
 * {@code notls:} before it if TLS does not encrypt it. As with memcached, a name means all of its addresses, and a
 * wildcard those of its family. No state.
 */
final class ListenAddresses {
    private static final String ALL_ADDRESSES = "*";
    private static final String CLEAR = "notls:";
    private static final int MAX_PORT = 65535;

    private ListenAddresses() {}

    /**
     * Where to listen.
     *
     * @param addresses all, in their order
     * @param clear those that TLS does not encrypt
     */
    record Listening(List<InetSocketAddress> addresses, Set<InetSocketAddress> clear) {}

    /**
     * The addresses of some lists.
     *
     * @param lists values of {@code -l}; without any, all addresses of this host
     * @param port of those that name none
     * @throws UnknownHostException if a host is unknown
     * @throws IllegalArgumentException if a word is no address, or one address is to be encrypted and not
     */
    static Listening of(List<String> lists, int port) throws UnknownHostException {
        List<InetSocketAddress> addresses = new ArrayList<>();
        Set<InetSocketAddress> clear = new HashSet<>();
        Set<InetSocketAddress> encrypted = new HashSet<>();
        for (String list : lists.isEmpty() ? List.of(ALL_ADDRESSES) : lists) {
            for (String word : list.split("[,;]", -1)) {
                boolean isClear = word.startsWith(CLEAR);
                List<InetSocketAddress> some = addresses(isClear ? word.substring(CLEAR.length()) : word, port);
                addresses.addAll(some);
                (isClear ? clear : encrypted).addAll(some);
            }
        }
        for (InetSocketAddress address : clear) {
            if (encrypted.contains(address)) {
                throw new IllegalArgumentException("-l: " + address + " stands with and without " + CLEAR);
            }
        }
        return new Listening(addresses, clear);
    }

    private static List<InetSocketAddress> addresses(String word, int port) throws UnknownHostException {
        if (word.isEmpty()) {
            throw new IllegalArgumentException("-l: expected addresses, separated by commas");
        }
        if (word.startsWith("[")) {
            int end = word.indexOf(']');
            String rest = end < 0 ? "" : word.substring(end + 1);
            if (end < 0 || !(rest.isEmpty() || rest.startsWith(":"))) {
                throw new IllegalArgumentException("-l " + word + ": expected [ADDRESS] or [ADDRESS]:PORT");
            }
            return addresses(word, word.substring(1, end), rest.isEmpty() ? "" : rest.substring(1), port);
        }
        int colon = word.indexOf(':');
        boolean withPort = colon >= 0 && word.indexOf(':', colon + 1) < 0;
        return withPort
                ? addresses(word, word.substring(0, colon), word.substring(colon + 1), port)
                : addresses(word, word, "", port);
    }

    private static List<InetSocketAddress> addresses(String word, String host, String ownPort, int port)
            throws UnknownHostException {
        if (!ownPort.isEmpty() && (!ownPort.matches("[0-9]{1,5}") || Integer.parseInt(ownPort) > MAX_PORT)) {
            throw new IllegalArgumentException("-l " + word + ": expected a port, 0 to " + MAX_PORT);
        }
        int number = ownPort.isEmpty() ? port : Integer.parseInt(ownPort);
        if (host.equals(ALL_ADDRESSES) || host.isEmpty()) {
            return Wildcards.everywhere(number);
        }
        return Arrays.stream(InetAddress.getAllByName(host))
                .distinct()
                .map(each -> new InetSocketAddress(each, number))
                .toList();
    }
}
