package org.softrdma.kv.server.netty;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Says in a line that a listening socket cannot accept, most likely for lack of descriptors, and not again before a
 * minute has passed: Netty tries each second. Behind Netty's own handler, which makes that pause. Owned by the event
 * loop thread of its channel.
 */
final class AcceptFailures extends ChannelInboundHandlerAdapter {
    private static final Logger LOG = LoggerFactory.getLogger(AcceptFailures.class);
    private static final long QUIET_NS = TimeUnit.MINUTES.toNanos(1);

    private boolean told;
    private long toldNs;

    private AcceptFailures() {}

    /**
     * Logs those of a socket that listens.
     *
     * @param listening that is bound
     */
    static void logged(Channel listening) {
        listening.pipeline().addLast(new AcceptFailures());
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        if (!(cause instanceof IOException)) {
            ctx.fireExceptionCaught(cause);
            return;
        }
        long nowNs = System.nanoTime();
        if (!told || nowNs - toldNs > QUIET_NS) {
            told = true;
            toldNs = nowNs;
            LOG.warn(
                    "accept on {} failed, trying again every second: {}",
                    ctx.channel().localAddress(),
                    cause.getMessage());
        }
    }
}
