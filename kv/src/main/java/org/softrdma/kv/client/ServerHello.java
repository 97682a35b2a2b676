package org.softrdma.kv.client;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.softrdma.kv.client.place.ArenaTable;
import org.softrdma.kv.client.place.ChunkTable;
import org.softrdma.kv.client.place.Registration;
import org.softrdma.kv.message.HelloDescriptor;
import org.softrdma.kv.message.TokenPlace;

/**
 * What a server has answered to {@code rdma hello}: how its items are READ, or why the client is a plain one.
 *
 * @param plainReason why no items are READ, following the name of the server; empty if they are
 * @param port of its RDMA port
 * @param token to be shown there, in hexadecimal digits
 * @param bootId a number that changes when the server restarts
 * @param registration how its items are registered
 * @param tokenPlace where it wants to see the token
 */
record ServerHello(
        String plainReason, int port, String token, String bootId, Registration registration, TokenPlace tokenPlace) {
    private static final int WORDS = 7;
    private static final Pattern OTHER_VERSION =
            Pattern.compile("CLIENT_ERROR rdma version (?:[0-9]+ )?not supported, expected ([0-9]{1,9})");
    private static final String REFUSED = "CLIENT_ERROR rdma refused";
    /** What memcached answers to every command of somebody who has not logged in. */
    static final String LOGIN_WANTED = "CLIENT_ERROR unauthenticated";

    /** A server whose items are not READ. */
    static ServerHello plain(String reason) {
        return new ServerHello(reason, 0, "", "", new ArenaTable(), TokenPlace.PRIVATE_DATA);
    }

    /** The same server, whose items are not READ all the same. */
    ServerHello butPlain(String reason) {
        return new ServerHello(reason, port, token, bootId, registration, tokenPlace);
    }

    /** True if no items are READ. */
    boolean isPlain() {
        return !plainReason.isEmpty();
    }

    /**
     * Takes an answer apart.
     *
     * @param line the answer
     * @param server its name
     * @throws KvException if that is not in the protocol
     */
    static ServerHello parse(String line, String server) {
        if (line.equals("ERROR")) {
            return plain("is a memcached without RDMA: it does not know 'rdma hello'");
        }
        Matcher other = OTHER_VERSION.matcher(line);
        if (other.matches()) {
            return plain("speaks version " + other.group(1) + " of 'rdma hello', and this client version "
                    + HelloDescriptor.VERSION + ": update the older of the two");
        }
        if (line.startsWith(REFUSED)) {
            return plain("answered 'rdma hello' with '" + line + "'");
        }
        String[] words = line.split(" ", -1);
        TokenPlace place = TokenPlace.of(words[words.length - 1]).orElse(null);
        if (words.length != WORDS
                || place == null
                || !words[0].equals("RDMA")
                || !words[1].equals(Integer.toString(HelloDescriptor.VERSION))
                || !words[2].matches("[0-9]{1,5}")
                || Integer.parseInt(words[2]) > 0xFFFF
                || !words[3].matches("[0-9a-f]{" + 2 * HelloDescriptor.TOKEN_LENGTH + "}")) {
            throw new KvException(server + " answered rdma hello with '" + line + "'"
                    + (line.equals(LOGIN_WANTED)
                            ? ": it requires a login (-Y), and this client has none to show"
                                    + " (KvClientContext.login, or --user of kv)"
                            : ""));
        }
        Registration named = switch (words[5]) {
            case "arena" -> new ArenaTable();
            case "chunk" -> new ChunkTable();
            default ->
                throw new KvException(
                        server + " registers memory by " + words[5] + ", this client knows arena and chunk only");
        };
        return new ServerHello("", Integer.parseInt(words[2]), words[3], words[4], named, place);
    }
}
