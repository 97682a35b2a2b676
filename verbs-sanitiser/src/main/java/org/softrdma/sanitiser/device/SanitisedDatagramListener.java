package org.softrdma.sanitiser.device;

import java.net.InetSocketAddress;
import org.softrdma.verbs.cm.DatagramListener;

/** A listener for datagrams. Any thread. */
final class SanitisedDatagramListener implements DatagramListener {
    private final DatagramListener listener;
    private final Lifetime lifetime;

    SanitisedDatagramListener(DatagramListener listener, Lifetime lifetime) {
        this.listener = listener;
        this.lifetime = lifetime;
    }

    @Override
    public InetSocketAddress localAddress() {
        return listener.localAddress();
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
