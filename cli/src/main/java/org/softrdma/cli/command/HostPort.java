package org.softrdma.cli.command;

import java.net.InetSocketAddress;

/** Addresses in options: {@code cache1}, {@code 10.0.0.1:11211}, {@code ::1}, {@code [::1]:11211}. */
public final class HostPort {
    private static final int MOST_PORT = 0xFFFF;

    private HostPort() {}

    /**
     * A server's address.
     *
     * @param option that has it
     * @param text its value
     * @param port that it has unless it says another
     * @throws UserErrorException if it is none, or there is no such host
     */
    public static InetSocketAddress server(String option, String text, int port) {
        int colon = colon(text);
        return resolved(option, text, colon, colon < 0 ? port : port(text, colon), 1, "HOST or HOST:PORT");
    }

    /**
     * An address to listen on, which names a port; 0 is any free one.
     *
     * @param option that has it
     * @param text its value
     * @throws UserErrorException if it is none, or there is no such host
     */
    public static InetSocketAddress listener(String option, String text) {
        int colon = colon(text);
        return resolved(option, text, colon, port(text, colon), 0, "HOST:PORT");
    }

    /** Where the port begins, or -1. Colons of an IPv6 address lie within brackets, if a port follows. */
    private static int colon(String text) {
        int colon = text.lastIndexOf(':');
        return colon >= 0 && (text.indexOf(':') == colon || text.charAt(colon - 1) == ']') ? colon : -1;
    }

    /** Negative, if it is none. */
    private static int port(String text, int colon) {
        String digits = text.substring(colon + 1);
        return colon >= 0 && digits.matches("[0-9]{1,5}") ? Integer.parseInt(digits) : -1;
    }

    private static InetSocketAddress resolved(
            String option, String text, int colon, int port, int lowest, String expected) {
        String host = (colon < 0 ? text : text.substring(0, colon)).replaceAll("^\\[|]$", "");
        if (host.isEmpty() || port < lowest || port > MOST_PORT) {
            throw new UserErrorException(option + " " + text + ": expected " + expected);
        }
        InetSocketAddress address = new InetSocketAddress(host, port);
        if (address.isUnresolved()) {
            throw new UserErrorException(option + " " + text + ": unknown host " + host);
        }
        return address;
    }
}
