package org.softrdma.net.transport;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * A socket for datagrams on a Netty loop. It is all that its peers have, so what fails in an event costs datagrams, as the
 * network does, and never the socket: only its owner closes it. Thread: its loop.
 */
abstract class RegisteredDatagramSocket extends RegisteredSocket implements DatagramSocket {
    private static final Logger LOG = LoggerFactory.getLogger(RegisteredDatagramSocket.class);

    /** Made once: when something has failed, there may be no memory for it. */
    private final Runnable rearming = this::rearm;

    RegisteredDatagramSocket(SocketEvents events) {
        super(events);
    }

    /** Raises the event again, since its owner may not have received what is there. */
    @Override
    final void failed(Throwable e) {
        FaultLog.tell(LOG, Level.ERROR, "an event of a datagram socket failed; it is raised again", e);
        LoopGuard.pause();
        try {
            LoopGuard.insist(rearming);
        } catch (RuntimeException | Error again) {
            FaultLog.tell(LOG, Level.ERROR, "cannot raise the event of a datagram socket again", again);
        }
    }
}
