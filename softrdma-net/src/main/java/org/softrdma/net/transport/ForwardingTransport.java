package org.softrdma.net.transport;

import java.util.List;
import java.util.function.UnaryOperator;

/** A transport that does what another one does, on loops of its own around that one's. */
public abstract class ForwardingTransport implements Transport {
    private final Transport transport;
    private final List<EventLoop> loops;

    /**
     * Does what another one does.
     *
     * @param transport closed with this
     * @param around makes a loop around one of that
     */
    protected ForwardingTransport(Transport transport, UnaryOperator<EventLoop> around) {
        this.transport = transport;
        loops = transport.loops().stream().map(around).toList();
    }

    @Override
    public final String name() {
        return transport.name();
    }

    @Override
    public final List<EventLoop> loops() {
        return loops;
    }

    @Override
    public final int openSockets() {
        return transport.openSockets();
    }

    @Override
    public void close() {
        transport.close();
    }
}
