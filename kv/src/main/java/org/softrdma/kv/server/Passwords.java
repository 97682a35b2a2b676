package org.softrdma.kv.server;

import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.List;

/**
 * Who may use the server: memcached's file of lines {@code user:password}, each of which is what a client sends, in
 * UTF-8, as {@code user password}. Any thread.
 */
public final class Passwords {
    private volatile List<byte[]> logins;

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
        List<String> lines = lines(file);
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

    /** The lines of a file; what is wrong with it is said as people say it. */
    private static List<String> lines(Path file) throws IOException {
        try {
            return Files.readAllLines(file, StandardCharsets.UTF_8);
        } catch (NoSuchFileException e) {
            throw new IOException(file + ": there is no such file", e);
        } catch (AccessDeniedException e) {
            throw new IOException(file + ": this user may not read it", e);
        } catch (CharacterCodingException e) {
            throw new IOException(file + ": it is not in UTF-8", e);
        } catch (IOException e) {
            throw new IOException(file + ": cannot be read: " + e.getMessage(), e);
        }
    }

    /**
     * Lets in the users of other passwords from now on, and no others. Who is in stays.
     *
     * @param others read again
     */
    public void become(Passwords others) {
        logins = others.logins;
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
