package org.softrdma.kv.server.netty;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.channel.unix.Errors.NativeIoException;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.net.Inet4Address;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.softrdma.kv.server.host.ClientChannel;
import org.softrdma.kv.server.host.ClientHandler;
import org.softrdma.kv.server.host.InputBudget;
import org.softrdma.kv.server.host.PortInUseException;
import org.softrdma.kv.server.host.PortSecurity;
import org.softrdma.kv.server.host.PortSettings;
import org.softrdma.kv.server.host.ServerNetwork;
import org.softrdma.kv.server.host.ServerPort;
import org.softrdma.kv.server.host.TlsSettings;
import org.softrdma.kv.server.host.Wildcards;
import org.softrdma.net.transport.AddressText;

/** Where memcached clients connect, a TCP port or a Unix socket: Netty's threads and sockets. Closed by the server. */
public final class MemcachedPort implements ServerPort {
    private static final Logger LOG = LoggerFactory.getLogger(MemcachedPort.class);

    private static final WriteBufferWaterMark OUTPUT_LIMITS =
            new WriteBufferWaterMark(ClientChannel.LOW_OUTPUT_BYTES, ClientChannel.HIGH_OUTPUT_BYTES);
    private static final int CLOSE_TIMEOUT_MS = 10_000;
    private static final int PERMISSION_BITS = 9;

    /** Bytes of a Unix socket's path: sun_path without its last zero, unix(7). */
    private static final int MAX_SOCKET_PATH = 107;

    /** Java's limit is a few bytes lower. */
    private static final int MAX_DIRECT_PATH = 90;

    /** Linux's number; epoll is there only. */
    private static final int EADDRINUSE = 98;

    private final PortSettings settings;
    private final InputBudget inputBudget;
    private final Function<? super ClientChannel, ? extends ClientHandler> clients;
    private final Consumer<? super Throwable> failed;
    private final PortSockets sockets;
    private final EventLoopGroup loops;
    private final ChannelGroup channels = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
    private final List<Channel> listening = new ArrayList<>();
    private final @Nullable TlsPort tls;
    private volatile boolean closing;

    /**
     * Opens it; see {@link ServerNetwork#listen}.
     *
     * @param inputBudget of all connections
     */
    MemcachedPort(
            PortSettings settings,
            InputBudget inputBudget,
            Function<? super ClientChannel, ? extends ClientHandler> clients,
            Consumer<? super Throwable> failed) {
        this.settings = settings;
        this.inputBudget = inputBudget;
        this.clients = clients;
        this.failed = failed;
        this.tls = tls(settings);
        PortLoops opened = PortLoops.open(settings.io(), settings.threads(), "kv-memcached", this::broken);
        sockets = opened.sockets();
        loops = opened.loops();
        loops.forEach(loop -> loop.terminationFuture().addListener(_ -> ended(loop)));
        try {
            Path file = settings.unixSocket();
            if (file == null) {
                for (InetSocketAddress address : settings.addresses()) {
                    if (!isServedByIpv6(address)) {
                        listening.add(listenTcp(address));
                    }
                }
            } else {
                listening.add(listenUnix(file));
            }
        } catch (RuntimeException e) {
            closing = true;
            stopAccepting();
            loops.shutdownGracefully(0, CLOSE_TIMEOUT_MS, TimeUnit.MILLISECONDS).awaitUninterruptibly(CLOSE_TIMEOUT_MS);
            throw e;
        }
    }

    /** At once, on the loop's thread, because there may be no memory for anything else. */
    private void broken(Throwable cause) {
        if (!closing) {
            failed.accept(cause);
        }
    }

    private static @Nullable TlsPort tls(PortSettings settings) {
        try {
            TlsSettings wanted = settings.tls();
            return wanted == null ? null : new TlsPort(wanted);
        } catch (IOException e) {
            throw new UncheckedIOException(e.getMessage(), e);
        }
    }

    /** A thread ends when the port is closed, or by an Error that Netty only logs. */
    private void ended(EventExecutor loop) {
        if (!closing) {
            failed.accept(new IllegalStateException("a thread of the memcached port has ended: " + loop));
        }
    }

    /** True for {@code 0.0.0.0} if the socket of {@code ::} at the same port takes IPv4, too. */
    private boolean isServedByIpv6(InetSocketAddress address) {
        InetSocketAddress ipv6 = new InetSocketAddress(Wildcards.IPV6, address.getPort());
        return address.equals(ipv4Beside(ipv6))
                && settings.addresses().contains(ipv6)
                && sockets.takesBothFamilies(Wildcards.IPV6);
    }

    /** {@code 0.0.0.0} at the same port, if it is listened on, too. */
    private @Nullable InetSocketAddress ipv4Beside(InetSocketAddress ipv6) {
        InetSocketAddress ipv4 = new InetSocketAddress(Wildcards.IPV4, ipv6.getPort());
        return ipv6.getPort() != 0 && settings.addresses().contains(ipv4) ? ipv4 : null;
    }

    /** The address that somebody came to; null if we do not listen there, though our socket does. */
    private @Nullable InetSocketAddress reached(InetSocketAddress listening, Channel client) {
        boolean overIpv4 =
                client.remoteAddress() instanceof InetSocketAddress peer && peer.getAddress() instanceof Inet4Address;
        return overIpv4 && sockets.takesBothFamilies(listening.getAddress()) ? ipv4Beside(listening) : listening;
    }

    private Channel listenTcp(InetSocketAddress address) {
        ServerBootstrap bootstrap = bootstrap(client -> {
                    InetSocketAddress reached = reached(address, client);
                    if (reached == null) {
                        ChannelFuture _ = client.close();
                    } else {
                        serve(client, settings.clear().contains(reached) ? null : tls);
                    }
                })
                .channelFactory(() -> sockets.tcp(address.getAddress()))
                .option(ChannelOption.SO_REUSEADDR, true)
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childOption(ChannelOption.SO_KEEPALIVE, true);
        return bind(bootstrap, address);
    }

    private Channel listenUnix(Path file) {
        try {
            removeDeadSocket(file);
            return listenWithRights(file);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot listen on " + file + ": " + e.getMessage(), e);
        }
    }

    /**
     * A socket has the rights of the process's umask when it is bound, and whoever connects before they are changed
     * stays connected. So it is bound in a directory that only its owner can enter, and then moved to its place.
     */
    private Channel listenWithRights(Path file) throws IOException {
        if (length(file) > MAX_SOCKET_PATH) {
            throw new IOException("the path has " + length(file) + " bytes, and the kernel allows " + MAX_SOCKET_PATH
                    + "; choose a shorter one with -s");
        }
        Path parent = file.toAbsolutePath().getParent();
        if (parent == null || !Files.isDirectory(parent)) {
            throw new IOException("there is no directory " + parent + "; make it, or choose another with -s");
        }
        Path directory = Files.createTempDirectory(parent, ".");
        try {
            Path hidden = directory.resolve("s");
            Channel bound = bindUnix(hidden);
            try {
                Files.setPosixFilePermissions(hidden, permissions(settings.unixSocketMask()));
                Files.move(hidden, file, StandardCopyOption.ATOMIC_MOVE);
            } catch (IOException e) {
                bound.close().awaitUninterruptibly(CLOSE_TIMEOUT_MS);
                Files.deleteIfExists(hidden);
                throw e;
            }
            return bound;
        } finally {
            Files.delete(directory);
        }
    }

    private Channel bindUnix(Path file) throws IOException {
        ServerBootstrap unix = bootstrap(client -> serve(client, null)).channel(sockets.unix());
        Path parent = file.toAbsolutePath().getParent();
        if (length(file) <= MAX_DIRECT_PATH || parent == null) {
            return bind(unix, sockets.address(file));
        }
        try (ShortPath link = new ShortPath(parent)) {
            return bind(unix, sockets.address(link.path.resolve(file.getFileName())));
        }
    }

    /** A link to a longer path: limits are for the path that is named, not for where links lead. */
    private static final class ShortPath implements AutoCloseable {
        private final Path directory;
        private final Path path;

        ShortPath(Path longer) throws IOException {
            directory = Files.createTempDirectory("kv");
            path = directory.resolve("l");
            Files.createSymbolicLink(path, longer.toAbsolutePath());
        }

        @Override
        public void close() throws IOException {
            Files.delete(path);
            Files.delete(directory);
        }
    }

    private static int length(Path file) {
        return file.toString().getBytes(StandardCharsets.UTF_8).length;
    }

    /** A server that was killed leaves its socket file; one that still has a server is not ours to remove. */
    private static void removeDeadSocket(Path file) throws IOException {
        if (!Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
            return;
        }
        if (!Files.readAttributes(file, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS)
                .isOther()) {
            throw new IOException("the file is there and is not a socket; choose another with -s");
        }
        if (!isAnswered(file)) {
            Files.delete(file);
            return;
        }
        throw new IOException("another server listens there; choose another with -s");
    }

    private static boolean isAnswered(Path file) throws IOException {
        if (length(file) > MAX_DIRECT_PATH) {
            try (ShortPath link = new ShortPath(file)) {
                return isAnswered(link.path);
            }
        }
        try (SocketChannel probe = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            return probe.connect(UnixDomainSocketAddress.of(file));
        } catch (IOException e) {
            return false;
        }
    }

    private void removeSocket() {
        Path file = settings.unixSocket();
        if (file != null) {
            try {
                Files.deleteIfExists(file);
            } catch (IOException e) {
                LOG.debug("cannot delete {}; the next server does", file, e);
            }
        }
    }

    private static Set<PosixFilePermission> permissions(int mask) {
        Set<PosixFilePermission> granted = EnumSet.noneOf(PosixFilePermission.class);
        PosixFilePermission[] all = PosixFilePermission.values(); // from the owner's r to the others' x
        for (int i = 0; i < PERMISSION_BITS; i++) {
            if ((mask >>> (PERMISSION_BITS - 1 - i) & 1) != 0) {
                granted.add(all[i]);
            }
        }
        return granted;
    }

    private void serve(Channel client, @Nullable TlsPort encryption) {
        channels.add(client);
        if (encryption != null) {
            client.pipeline().addLast(encryption.handler(client.alloc()));
        }
        client.pipeline().addLast(new NettyConnection(clients, inputBudget));
    }

    private ServerBootstrap bootstrap(Consumer<Channel> accepted) {
        ServerBootstrap bootstrap = new ServerBootstrap()
                .group(loops)
                .option(ChannelOption.SO_BACKLOG, settings.backlog())
                .childOption(ChannelOption.WRITE_BUFFER_WATER_MARK, OUTPUT_LIMITS)
                .childOption(ChannelOption.RECVBUF_ALLOCATOR, new InputBuffers(inputBudget))
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        accepted.accept(channel);
                    }
                });
        return sockets == PortSockets.NIO && settings.unixSocket() != null
                ? bootstrap // Java's Unix sockets do not know the option
                : bootstrap.childOption(
                        ChannelOption.ALLOW_HALF_CLOSURE, true); // or answers are lost at the input's end
    }

    private static Channel bind(ServerBootstrap bootstrap, SocketAddress address) {
        ChannelFuture bound = bootstrap.bind(address).awaitUninterruptibly();
        if (!bound.isSuccess()) {
            Throwable cause = bound.cause();
            if (isInUse(cause)) {
                throw new PortInUseException(address, cause);
            }
            String message = "cannot listen on " + AddressText.of(address) + ": " + cause.getMessage();
            throw new UncheckedIOException(message, new IOException(cause));
        }
        AcceptFailures.logged(bound.channel());
        return bound.channel();
    }

    private static boolean isInUse(Throwable cause) {
        return cause instanceof NativeIoException failure
                ? failure.expectedErr() == -EADDRINUSE
                : cause instanceof BindException
                        && String.valueOf(cause.getMessage()).contains("in use");
    }

    @Override
    public SocketAddress localAddress() {
        Path file = settings.unixSocket();
        return file == null ? listening.getFirst().localAddress() : UnixDomainSocketAddress.of(file);
    }

    @Override
    public List<SocketAddress> localAddresses() {
        return settings.unixSocket() == null
                ? listening.stream().map(Channel::localAddress).toList()
                : List.of(localAddress());
    }

    @Override
    public void stopAccepting() {
        for (Channel each : listening) {
            each.close().awaitUninterruptibly(CLOSE_TIMEOUT_MS);
        }
    }

    @Override
    public @Nullable PortSecurity security() {
        return tls;
    }

    /** How it does its I/O. */
    public PortSockets sockets() {
        return sockets;
    }

    /** The threads that run connections and the store. */
    public EventLoopGroup loops() {
        return loops;
    }

    @Override
    public void close() {
        closing = true;
        stopAccepting();
        removeSocket();
        channels.close().awaitUninterruptibly(CLOSE_TIMEOUT_MS);
        loops.shutdownGracefully(0, CLOSE_TIMEOUT_MS, TimeUnit.MILLISECONDS).awaitUninterruptibly(CLOSE_TIMEOUT_MS);
    }
}
