package org.softrdma.cli.server;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * What memcached's {@code -l} may say: hosts with commas or semicolons in between, each with a port of its own if it
 * wants one: {@code 10.0.0.1}, {@code host:11212}, {@code ::1}, {@code [::1]:11213}, or {@code *} for all addresses; with
 * {@code notls:} before it if TLS does not encrypt it. No state.
 */
final class ListenAddresses {
    private static final String ALL_ADDRESSES = "0.0.0.0";
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
                InetSocketAddress address = address(isClear ? word.substring(CLEAR.length()) : word, port);
                addresses.add(address);
                (isClear ? clear : encrypted).add(address);
            }
        }
        for (InetSocketAddress address : clear) {
            if (encrypted.contains(address)) {
                throw new IllegalArgumentException("-l: " + address + " stands with and without " + CLEAR);
            }
        }
        return new Listening(addresses, clear);
    }

    private static InetSocketAddress address(String word, int port) throws UnknownHostException {
        if (word.isEmpty()) {
            throw new IllegalArgumentException("-l: expected addresses, separated by commas");
        }
        if (word.startsWith("[")) {
            int end = word.indexOf(']');
            String rest = end < 0 ? "" : word.substring(end + 1);
            if (end < 0 || !(rest.isEmpty() || rest.startsWith(":"))) {
                throw new IllegalArgumentException("-l " + word + ": expected [ADDRESS] or [ADDRESS]:PORT");
            }
            return address(word, word.substring(1, end), rest.isEmpty() ? "" : rest.substring(1), port);
        }
        int colon = word.indexOf(':');
        boolean withPort = colon >= 0 && word.indexOf(':', colon + 1) < 0;
        return withPort
                ? address(word, word.substring(0, colon), word.substring(colon + 1), port)
                : address(word, word, "", port);
    }

    private static InetSocketAddress address(String word, String host, String ownPort, int port)
            throws UnknownHostException {
        if (!ownPort.isEmpty() && (!ownPort.matches("[0-9]{1,5}") || Integer.parseInt(ownPort) > MAX_PORT)) {
            throw new IllegalArgumentException("-l " + word + ": expected a port, 0 to " + MAX_PORT);
        }
        boolean all = host.equals("*") || host.isEmpty();
        return new InetSocketAddress(
                InetAddress.getByName(all ? ALL_ADDRESSES : host),
                ownPort.isEmpty() ? port : Integer.parseInt(ownPort));
    }
}
