package org.softrdma.sim.device;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.softrdma.net.transport.Acceptor;
import org.softrdma.sim.engine.RnicEngine;
import org.softrdma.sim.engine.RunOnce;
import org.softrdma.sim.link.PeerQuestion;
import org.softrdma.sim.link.Wire;
import org.softrdma.verbs.cm.DatagramListener;

/** Lets a service of datagrams be found. The wire answers; application threads close. */
class SoftDatagramListener implements DatagramListener {
    private final RnicEngine engine;
    private final Runnable onClose;
    private final RunOnce end;
    private volatile @Nullable Acceptor acceptor;

    /**
     * Not open yet.
     *
     * @param engine the first one
     * @param onClose called once on close
     */
    SoftDatagramListener(RnicEngine engine, Runnable onClose) {
        this.engine = engine;
        this.onClose = onClose;
        end = new RunOnce(engine, this::endListening);
    }

    /** On the engine's thread. */
    final void open(Wire wire, InetSocketAddress local, Predicate<PeerQuestion> questions) throws IOException {
        acceptor = wire.listenForDatagrams(local, questions);
    }

    @Override
    public final InetSocketAddress localAddress() {
        Acceptor current = acceptor;
        if (current == null) {
            throw new IllegalStateException("the listener is not open");
        }
        return (InetSocketAddress) current.localAddress();
    }

    @Override
    public void close() {
        engine.checkThread();
        end.run();
    }

    private void endListening() {
        Acceptor current = acceptor;
        try {
            if (current != null) {
                current.close();
            }
        } finally {
            onClose.run();
        }
    }
}
