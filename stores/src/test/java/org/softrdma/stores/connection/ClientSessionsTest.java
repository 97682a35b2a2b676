package org.softrdma.stores.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;

import org.junit.jupiter.api.Test;

/** Whom a server remembers. */
class ClientSessionsTest {
    private static final class Plain extends ClientSession {
        Plain(int serial) {
            super(serial);
        }
    }

    private final ClientSessions<Plain> sessions = new ClientSessions<>(3, Plain::new);

    private Plain went(long client, long atNs) {
        Plain session = sessions.of(client);
        session.connected(true, atNs - 1);
        session.connected(false, atNs);
        return session;
    }

    @Test
    void shouldRememberAsManyAsItMay() {
        Plain first = went(1, 10);
        Plain second = went(2, 20);
        assertSame(first, sessions.of(1));
        assertSame(second, sessions.of(2));
        assertNotEquals(first.serial(), second.serial());
    }

    @Test
    void shouldForgetWhoWentFirst() {
        Plain last = went(1, 30);
        Plain first = went(2, 10);
        Plain second = went(3, 20);
        Plain fourth = went(4, 40);
        assertSame(last, sessions.of(1));
        assertSame(second, sessions.of(3));
        assertSame(fourth, sessions.of(4));
        Plain again = sessions.of(2);
        assertNotSame(first, again);
        assertEquals(5, again.serial(), "no session before it has had this number");
    }

    @Test
    void shouldForgetNobodyWhoIsConnected() {
        Plain oldest = sessions.of(1);
        oldest.connected(true, 1);
        Plain gone = went(2, 10);
        Plain younger = sessions.of(3);
        younger.connected(true, 3);
        Plain fourth = sessions.of(4);
        fourth.connected(true, 4);
        Plain fifth = sessions.of(5);
        assertSame(oldest, sessions.of(1));
        assertSame(younger, sessions.of(3));
        assertSame(fourth, sessions.of(4));
        assertSame(fifth, sessions.of(5), "there are more than it should remember, and all are connected");
        assertNotSame(gone, sessions.of(2));
    }

    /** The clock's origin is any time; its difference counts. */
    @Test
    void shouldForgetWhoWentFirstThoughTheClockOverflows() {
        Plain first = went(1, Long.MAX_VALUE);
        Plain second = went(2, Long.MIN_VALUE + 5);
        Plain third = went(3, Long.MIN_VALUE + 6);
        Plain fourth = went(4, Long.MIN_VALUE + 7);
        assertNotSame(third, fourth);
        assertSame(second, sessions.of(2));
        assertNotSame(first, sessions.of(1));
    }
}
