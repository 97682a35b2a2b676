package org.softrdma.net.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnixDomainSocketAddress;
import org.junit.jupiter.api.Test;

class ListenExceptionTest {
    private static final InetSocketAddress LOCAL = new InetSocketAddress(InetAddress.getLoopbackAddress(), 80);

    /** Root may listen anywhere, so a test that listens does not see this. */
    @Test
    void shouldSayThatAPortBelow1024NeedsAPrivilege() throws Exception {
        ListenException epoll = ListenException.ofErrno(13, LOCAL, new IOException("bind"));
        ListenException nio = ListenException.ofCause(new BindException("Permission denied"), LOCAL);

        assertEquals(ListenException.Reason.NOT_PERMITTED, epoll.reason());
        assertEquals(epoll.getMessage(), nio.getMessage());
        assertTrue(
                String.valueOf(epoll.getMessage())
                        .startsWith("cannot listen on 127.0.0.1:80: ports below 1024 need root"),
                epoll::getMessage);
    }

    /** Root may make files anywhere. */
    @Test
    void shouldSayThatADirectoryIsNotForThisProcess() throws Exception {
        UnixDomainSocketAddress file = UnixDomainSocketAddress.of("/run/other/socket");
        ListenException epoll = ListenException.ofErrno(13, file, new IOException("bind"));
        ListenException nio = ListenException.ofCause(new BindException("Permission denied"), file);

        assertEquals(ListenException.Reason.NOT_PERMITTED, epoll.reason());
        assertEquals(ListenException.Reason.NOT_PERMITTED, nio.reason());
        assertEquals("cannot listen on /run/other/socket: this process may not make files there", epoll.getMessage());
        assertEquals(epoll.getMessage(), nio.getMessage());
    }

    @Test
    void shouldNotNamePortZeroToWhoeverAskedForAnyPort() {
        InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

        assertEquals(
                "cannot listen on any port of 127.0.0.1: no interface of this machine has that address",
                ListenException.of(ListenException.Reason.NOT_HERE, any).getMessage());
    }

    @Test
    void shouldPassOnWhatItDoesNotKnow() {
        ListenException other = ListenException.ofErrno(23, LOCAL, new IOException("too many open files"));

        assertEquals(ListenException.Reason.OTHER, other.reason());
        assertEquals("cannot listen on 127.0.0.1:80: too many open files", other.getMessage());
    }
}
