package org.softrdma.net.transport;

import java.io.IOException;
import java.net.SocketAddress;

/**
 * A stream that does what another one does, for those that do some of it in another way. Nothing is received ahead, lent or sent
 * later, unless they say so: they would not see those bytes. Thread: its event loop.
 */
public abstract class ForwardingStreamSocket implements StreamSocket {
    /** Does what {@link #socket} does. */
    protected ForwardingStreamSocket() {}

    /** The other one, not used otherwise. */
    protected abstract StreamSocket socket();

    @Override
    public int receive(long address, int length) throws IOException {
        return socket().receive(address, length);
    }

    @Override
    public int scatter(IoVectors vectors, int count) throws IOException {
        return socket().scatter(vectors, count);
    }

    @Override
    public long gather(IoVectors vectors, int from, int count) throws IOException {
        return socket().gather(vectors, from, count);
    }

    @Override
    public boolean hasMore() {
        return socket().hasMore();
    }

    @Override
    public void rearm() {
        socket().rearm();
    }

    @Override
    public void pause() {
        socket().pause();
    }

    @Override
    public void awaitRoom() {
        socket().awaitRoom();
    }

    @Override
    public boolean finishConnect() throws IOException {
        return socket().finishConnect();
    }

    @Override
    public boolean isHostSilent() {
        return socket().isHostSilent();
    }

    @Override
    public SocketAddress localAddress() {
        return socket().localAddress();
    }

    @Override
    public SocketAddress remoteAddress() {
        return socket().remoteAddress();
    }

    @Override
    public void shutdownOutput() {
        socket().shutdownOutput();
    }

    @Override
    public void close() {
        socket().close();
    }

    @Override
    public void abort() {
        socket().abort();
    }
}
