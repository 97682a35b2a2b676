package org.softrdma.kv.server.netty;

import io.netty.util.internal.PlatformDependent;
import java.util.function.Consumer;
import java.util.function.Function;
import org.softrdma.kv.server.host.ClientChannel;
import org.softrdma.kv.server.host.ClientHandler;
import org.softrdma.kv.server.host.InputBudget;
import org.softrdma.kv.server.host.PortSettings;
import org.softrdma.kv.server.host.ServerNetwork;
import org.softrdma.kv.server.host.ServerPort;

/** TCP and Unix sockets by Netty, whose buffers are direct memory. */
public final class NettyNetwork implements ServerNetwork {
    private final InputBudget inputBudget = new InputBudget(PlatformDependent.maxDirectMemory());

    @Override
    public ServerPort listen(
            PortSettings settings,
            Function<? super ClientChannel, ? extends ClientHandler> clients,
            Consumer<? super Throwable> failed) {
        return new MemcachedPort(settings, inputBudget, clients, failed);
    }

    @Override
    public long bufferBytes() {
        return PlatformDependent.maxDirectMemory();
    }
}
