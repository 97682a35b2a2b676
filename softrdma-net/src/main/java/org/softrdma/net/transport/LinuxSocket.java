package org.softrdma.net.transport;

import io.netty.channel.unix.DomainSocketAddress;
import io.netty.channel.unix.Errors;
import io.netty.channel.unix.Socket;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.NotYetConnectedException;
import java.nio.file.InvalidPathException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The calls of a connection by raw address, each of which is over when it returns. Thread: its loop. */
abstract class LinuxSocket extends RegisteredStream {
    private static final Logger LOG = LoggerFactory.getLogger(LinuxSocket.class);

    final Socket socket;
    private final LinuxEventLoop loop;

    LinuxSocket(LinuxEventLoop loop, Socket socket, SocketEvents events, SocketAddress remote) {
        super(events, remote);
        this.loop = loop;
        this.socket = socket;
    }

    @Override
    public int receive(long address, int length) throws IOException {
        checkOpen();
        try {
            return socket.recvAddress(address, 0, length);
        } catch (Errors.NativeIoException e) {
            throw HostSilentException.ofErrno(-e.expectedErr(), e);
        }
    }

    @Override
    public int scatter(IoVectors vectors, int count) throws IOException {
        checkOpen();
        return ReadVector.call(socket.intValue(), vectors.entry(0), count);
    }

    @Override
    public long gather(IoVectors vectors, int from, int count) throws IOException {
        checkOpen();
        try {
            if (count == 1) {
                int length = Math.toIntExact(vectors.length(from));
                return socket.sendAddress(vectors.base(from), 0, length);
            }
            return socket.writevAddresses(vectors.entry(from), count);
        } catch (Errors.NativeIoException e) {
            throw HostSilentException.ofErrno(-e.expectedErr(), e);
        }
    }

    @Override
    public final boolean isHostSilent() {
        return !isClosed() && !isUnix() && loop.isHostSilent(socket);
    }

    /** Refuses a closed socket: its descriptor's number may belong to another socket by now. */
    final void checkOpen() throws IOException {
        if (isClosed()) {
            throw new ClosedChannelException();
        }
    }

    @Override
    public final boolean finishConnect() throws IOException {
        checkOpen();
        boolean connected;
        try {
            connected = socket.finishConnect();
        } catch (ConnectException e) {
            throw LinuxEventLoop.withoutErrno(e);
        }
        if (!connected) {
            awaitRoom();
        }
        return connected;
    }

    private boolean isUnix() {
        return !(remoteAddress() instanceof InetSocketAddress);
    }

    @Override
    public final SocketAddress localAddress() {
        return isUnix() ? named(socket.localDomainSocketAddress()) : socket.localAddress();
    }

    /** The address of a Unix socket; its path is empty if it has none, or one that Java cannot say, such as an abstract one. */
    static UnixDomainSocketAddress named(@Nullable DomainSocketAddress address) {
        try {
            return UnixDomainSocketAddress.of(address == null ? "" : address.path());
        } catch (InvalidPathException e) {
            return UnixDomainSocketAddress.of("");
        }
    }

    @Override
    public void shutdownOutput() {
        if (isClosed()) {
            return;
        }
        try {
            socket.shutdown(false, true);
        } catch (IOException | NotYetConnectedException e) {
            // The second is Netty's form of ENOTCONN: the peer has reset the connection.
            LOG.debug("cannot shut down the output of {}", socket, e);
        }
    }

    @Override
    final void resetOnClose() throws IOException {
        socket.setSoLinger(0);
    }

    @Override
    final void closeDescriptor() {
        loop.closeQuietly(socket);
    }
}
