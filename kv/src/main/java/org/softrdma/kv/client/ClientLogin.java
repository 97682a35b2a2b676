package org.softrdma.kv.client;

import java.nio.charset.StandardCharsets;
import org.softrdma.kv.memcached.TextProtocol;

/**
 * A user and a password, for a server that lets nobody else in: memcached's {@code -Y}, ASCII authentication. They travel
 * as they are; only TLS hides them. Immutable; any thread.
 */
public final class ClientLogin {
    /** Bytes of user, blank and password that a server reads. */
    public static final int MAX_LENGTH = 1024;

    private static final byte[] LINE_END = TextProtocol.line("");

    private final String user;
    private final byte[] command;

    /**
     * A login.
     *
     * @param user without blanks, colons and control characters
     * @param password without control characters
     * @throws IllegalArgumentException if no server could know them; the message does not tell the password
     */
    public ClientLogin(String user, String password) {
        if (user.isEmpty() || user.chars().anyMatch(each -> each <= ' ' || each == ':')) {
            throw new IllegalArgumentException(
                    "user '" + user + "': expected a name without blanks, colons and control characters");
        }
        if (password.chars().anyMatch(each -> each < ' ')) {
            throw new IllegalArgumentException("the password of user " + user
                    + " has a control character, such as the end of a line: expected none");
        }
        byte[] value = (user + " " + password).getBytes(StandardCharsets.UTF_8);
        if (value.length > MAX_LENGTH) {
            throw new IllegalArgumentException("user and password have " + value.length
                    + " bytes with the blank between them: expected at most " + MAX_LENGTH);
        }
        byte[] head = TextProtocol.line("set login 0 0 " + value.length);
        this.user = user;
        this.command = new byte[head.length + value.length + LINE_END.length];
        System.arraycopy(head, 0, command, 0, head.length);
        System.arraycopy(value, 0, command, head.length, value.length);
        System.arraycopy(LINE_END, 0, command, head.length + value.length, LINE_END.length);
    }

    /** The user. */
    public String user() {
        return user;
    }

    /** What logs in. */
    void send(MemcachedLink link) {
        link.write(command);
    }

    /** Without the password. */
    @Override
    public String toString() {
        return "user " + user;
    }
}
