package org.softrdma.net.transport;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnixDomainSocketAddress;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.agrona.concurrent.NanoClock;

/** An event loop that does what another one does, for those that do some of it in another way. */
public abstract class ForwardingLoop implements DatagramLoop {
    private final EventLoop loop;

    /**
     * Does what another one does.
     *
     * @param loop one that drives datagram sockets too, if this is asked to
     */
    protected ForwardingLoop(EventLoop loop) {
        this.loop = loop;
    }

    @Override
    public DatagramSocket bind(InetSocketAddress local, SocketEvents events) throws IOException {
        return ((DatagramLoop) loop).bind(local, events);
    }

    @Override
    public DatagramSocket join(InetSocketAddress group, List<InetAddress> locals, SocketEvents events)
            throws IOException {
        return ((DatagramLoop) loop).join(group, locals, events);
    }

    @Override
    public int networkUnit(InetAddress local) {
        return ((DatagramLoop) loop).networkUnit(local);
    }

    @Override
    public InetAddress localTo(InetSocketAddress remote) throws IOException {
        return ((DatagramLoop) loop).localTo(remote);
    }

    @Override
    public StreamSocket connect(InetSocketAddress remote, SocketEvents events) throws IOException {
        return loop.connect(remote, events);
    }

    @Override
    public StreamSocket adopt(PendingSocket pending, SocketEvents events) throws IOException {
        return loop.adopt(pending, events);
    }

    @Override
    public Acceptor listen(InetSocketAddress local, int backlog, Consumer<PendingSocket> accepted) throws IOException {
        return loop.listen(local, backlog, accepted);
    }

    @Override
    public Acceptor listen(UnixDomainSocketAddress local, int backlog, Consumer<PendingSocket> accepted)
            throws IOException {
        return loop.listen(local, backlog, accepted);
    }

    @Override
    public void execute(Runnable task) {
        loop.execute(task);
    }

    @Override
    public Runnable careful(Runnable task) {
        return loop.careful(task);
    }

    @Override
    public void whenBroken(Runnable task) {
        loop.whenBroken(task);
    }

    @Override
    public NanoClock clock() {
        return loop.clock();
    }

    @Override
    public Optional<Waits> waits() {
        return loop.waits();
    }

    @Override
    public boolean inLoop() {
        return loop.inLoop();
    }

    @Override
    public Cancellable schedule(Runnable task, long delay, TimeUnit unit) {
        return loop.schedule(task, delay, unit);
    }

    @Override
    public int run(long timeoutNs) {
        return loop.run(timeoutNs);
    }

    @Override
    public Cancellable watch(int descriptor, Runnable readable) throws IOException {
        return loop.watch(descriptor, readable);
    }
}
