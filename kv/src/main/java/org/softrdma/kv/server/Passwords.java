package org.softrdma.kv.server;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.List;

/**
 * Who may use the server: memcached's file of lines {@code user:password}, each of which is what a client sends, in
 * UTF-8, as {@code user password}. Immutable.
 */
public final class Passwords {
    private final List<byte[]> logins;

    private Passwords(List<byte[]> logins) {
        this.logins = logins;
    }

    /**
     * Reads a file.
     *
     * @param file with at least one line
     * @throws IOException if it cannot be read, or a line is not {@code user:password}; the message says which
     */
    public static Passwords read(Path file) throws IOException {
        List<byte[]> logins = new ArrayList<>();
        List<String> lines = Files.readAllLines(file, StandardCharsets.UTF_8);
        for (int i = 0; i < lines.size(); i++) {
            String line = lines.get(i);
            int colon = line.indexOf(':');
            if (colon < 1 || line.indexOf(' ') >= 0) {
                throw new IOException(file + ", line " + (i + 1) + ": expected user:password, without blanks");
            }
            String login = line.substring(0, colon) + ' ' + line.substring(colon + 1);
            logins.add(login.getBytes(StandardCharsets.UTF_8));
        }
        if (logins.isEmpty()) {
            throw new IOException(file + " is empty: expected a line user:password for each user");
        }
        return new Passwords(logins);
    }

    /** True if this is {@code user password} of a user; takes as long whichever byte is wrong. */
    boolean allow(byte[] login) {
        boolean allowed = false;
        for (byte[] each : logins) {
            allowed |= MessageDigest.isEqual(each, login);
        }
        return allowed;
    }
}
