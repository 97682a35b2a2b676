package org.softrdma.sanitiser.device;

import java.net.InetSocketAddress;
import java.util.Optional;
import org.softrdma.verbs.cm.DatagramRequest;
import org.softrdma.verbs.cm.DatagramRequestListener;

/** A listener for questions for datagrams, which are the provider's own: they name no object. Any thread. */
final class SanitisedDatagramRequestListener implements DatagramRequestListener {
    private final DatagramRequestListener listener;
    private final Lifetime lifetime;

    SanitisedDatagramRequestListener(DatagramRequestListener listener, Lifetime lifetime) {
        this.listener = listener;
        this.lifetime = lifetime;
    }

    @Override
    public InetSocketAddress localAddress() {
        return listener.localAddress();
    }

    @Override
    public Optional<DatagramRequest> next(long timeoutNs) {
        return listener.next(timeoutNs);
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
