package org.softrdma.suites.kv;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import org.softrdma.fabric.FabricNode;
import org.softrdma.kv.client.network.ClientNetwork;
import org.softrdma.kv.client.network.ClientStream;
import org.softrdma.net.memory.BufferOperations;
import org.softrdma.net.transport.EventLoop;
import org.softrdma.net.transport.IoVectors;
import org.softrdma.net.transport.StreamSocket;
import org.softrdma.net.transport.Transport;

/** The network of one client, whose thread runs the event loop while it waits. The client's thread. */
final class FabricClientNetwork implements ClientNetwork {
    private final Transport sockets;
    private final EventLoop loop;

    FabricClientNetwork(FabricNode node) {
        sockets = node.ownSockets();
        loop = sockets.loops().getFirst();
    }

    @Override
    public ClientStream open(InetSocketAddress server) throws IOException {
        return new Stream(server);
    }

    @Override
    public void pause(long timeoutNs) {
        int ignored = loop.run(timeoutNs);
    }

    @Override
    public void wakeUp() {
        loop.execute(() -> {});
    }

    @Override
    public void close() {
        sockets.close();
    }

    private final class Stream implements ClientStream {
        private final IoVectors vectors = new IoVectors(new BufferOperations(), 1);
        private final StreamSocket socket;

        /** Edges that were raised and not used up. */
        private boolean readable;

        private boolean writable;

        Stream(InetSocketAddress server) throws IOException {
            socket = loop.connect(server, mayWrite -> {
                readable = true;
                writable |= mayWrite;
            });
        }

        @Override
        public boolean finishConnect() throws IOException {
            return socket.finishConnect();
        }

        @Override
        public int read(ByteBuffer target) throws IOException {
            int wanted = target.remaining();
            int count = socket.receive(direct(target).address(), wanted);
            if (count < 0) {
                return -1;
            }
            readable = count == wanted;
            target.position(target.position() + count);
            return count;
        }

        @Override
        public void write(ByteBuffer source) throws IOException {
            int wanted = source.remaining();
            vectors.set(0, direct(source).address(), wanted);
            int sent = (int) socket.gather(vectors, 0, 1);
            source.position(source.position() + sent);
            writable = sent == wanted;
        }

        private static MemorySegment direct(ByteBuffer buffer) {
            if (!buffer.isDirect()) {
                throw new IllegalArgumentException("expected a direct buffer");
            }
            return MemorySegment.ofBuffer(buffer);
        }

        @Override
        public boolean await(long timeoutNs, boolean orRoom) {
            if (orRoom) {
                socket.awaitRoom();
            }
            int ignored = loop.run(isReady(orRoom) ? 0 : timeoutNs);
            return isReady(orRoom);
        }

        private boolean isReady(boolean orRoom) {
            return readable || (orRoom && writable);
        }

        @Override
        public void close() {
            socket.close();
        }
    }
}
