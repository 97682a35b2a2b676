package org.softrdma.sanitiser.device;

import java.net.InetSocketAddress;
import java.util.Optional;
import org.softrdma.verbs.cm.ConnectionRequest;
import org.softrdma.verbs.cm.Listener;

/** A listener. Any thread. */
final class SanitisedListener implements Listener {
    private final Listener listener;
    private final InetSocketAddress listening;
    private final QueuePairMaker maker;
    private final Lifetime lifetime;

    SanitisedListener(Listener listener, QueuePairMaker maker) {
        this.listener = listener;
        this.maker = maker;
        listening = listener.localAddress();
        lifetime = maker.lifetime("listener at " + listening);
    }

    @Override
    public InetSocketAddress localAddress() {
        return listener.localAddress();
    }

    @Override
    public Optional<ConnectionRequest> next(long timeoutNs) {
        return listener.next(timeoutNs).map(request -> new SanitisedConnectionRequest(request, listening, maker));
    }

    @Override
    public boolean isClosed() {
        return listener.isClosed();
    }

    @Override
    public void close() {
        listener.close();
        lifetime.end();
    }

    @Override
    public String toString() {
        return listener.toString();
    }
}
