package org.softrdma.kv.server.host;

import java.io.IOException;

/** TLS of a port that is open. Any thread. */
public interface PortSecurity {
    /**
     * Reads the files of certificates and key again, for connections that come from now on.
     *
     * @throws IOException if one of them is not good, and nothing is changed; the message says which
     */
    void refresh() throws IOException;

    /** Clients that did not get as far as an encrypted connection. */
    long handshakeErrors();

    /** When the certificates were read, on {@link System#nanoTime}. */
    long refreshedNs();
}
