package org.softrdma.stores.herd.transport;

import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;
import org.softrdma.stores.StoreClientContext;
import org.softrdma.stores.StoreCounters;
import org.softrdma.stores.herd.wire.HerdReplyDescriptor;
import org.softrdma.stores.herd.wire.HerdWrittenAnswer;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.device.VerbsDevice;

/** Reliable connections of a client to a server. */
public final class RcChannels implements HerdChannels {
    private final VerbsDevice device;
    private final ProtectionDomain domain;
    private final InetSocketAddress server;
    private final HerdAnswers answers;
    private final boolean polled;
    private @Nullable HerdWrittenAnswer answer;

    /**
     * No connection yet.
     *
     * @param device of the client; stays open until this is closed
     * @param server where it is
     * @param answers how they come
     * @param polled true for answer slots in memory that the device writes in order for who polls it
     */
    public RcChannels(VerbsDevice device, InetSocketAddress server, HerdAnswers answers, boolean polled) {
        this.device = device;
        this.server = server;
        this.answers = answers;
        this.polled = polled;
        domain = device.allocateProtectionDomain();
    }

    @Override
    public HerdChannel connect(StoreClientContext context, StoreCounters counters, long client) {
        RcChannel.Connecting by = new RcChannel.Connecting(device, domain, context, counters, client, server);
        if (answers == HerdAnswers.SENT) {
            return new RcSendChannel(by);
        }
        HerdWrittenAnswer whole = answer;
        if (whole == null) {
            whole = new HerdWrittenAnswer(HerdReplyDescriptor.length(context.maxValueLength()));
            answer = whole; // its memory is freed by the collector, so there is one for all connections
        }
        return new RcWriteChannel(by, whole, polled);
    }

    @Override
    public void close() {
        domain.close();
    }
}
