package org.softrdma.stores.herd.transport;

import org.softrdma.stores.herd.wire.HerdWelcome;
import org.softrdma.verbs.RemoteRegion;

/** The server, as its transport knows it. On the server's thread. */
public interface HerdHost {
    /**
     * A client is there. Another peer with the same name is gone when this returns.
     *
     * @param peer its end
     * @param client as it has named itself
     * @param slots where it may WRITE
     * @return what it is told
     */
    HerdWelcome arrives(HerdPeer peer, long client, RemoteRegion slots);

    /**
     * A client is gone. Its slots are gone too.
     *
     * @param peer its end
     */
    void left(HerdPeer peer);
}
