package org.softrdma.stores.connection;

import java.net.InetSocketAddress;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.softrdma.stores.StoreClientContext;
import org.softrdma.stores.StoreException;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.WorkCompletion;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.cm.Connector;
import org.softrdma.verbs.device.VerbsDevice;

/** How a client comes to a server: it connects, SENDs a hello, and waits for the welcome. Stateless. */
public final class Greeting {
    private static final int MOST_READS = 16;

    private Greeting() {}

    /**
     * Connects a queue pair that READs.
     *
     * @param receives posts its RECVs
     * @throws org.softrdma.verbs.VerbsException if there is no connection in time
     */
    public static QueuePair connect(
            VerbsDevice device,
            ProtectionDomain domain,
            QueuePairAttributes attributes,
            StoreClientContext context,
            InetSocketAddress server,
            Consumer<QueuePair> receives) {
        try (Connector connector = device.resolve(server, context.connectTimeoutNs())) {
            QueuePair queuePair = connector.createQueuePair(domain, attributes);
            try {
                receives.accept(queuePair);
                int reads = Math.min(MOST_READS, device.capabilities().maxOutboundReads());
                byte[] ignored =
                        connector.connect(new ConnectionParameters(reads, 0, new byte[0]), context.connectTimeoutNs());
                return queuePair;
            } catch (RuntimeException e) {
                queuePair.close();
                throw e;
            }
        }
    }

    /**
     * Waits until the SEND of the hello has completed, and the RECV of the welcome.
     *
     * @param completions of these two alone
     * @param deadlineNs of the context's clock
     * @param reader reads the welcome; null for the completion of the SEND
     * @throws StoreException if the connection ends, or there is no welcome in time
     */
    public static <W> W await(
            CompletionQueue completions,
            StoreClientContext context,
            long deadlineNs,
            Function<WorkCompletion, @Nullable W> reader) {
        WorkCompletion[] one = WorkCompletion.array(1);
        W welcome = null;
        boolean sent = false;
        while (welcome == null || !sent) {
            if (completions.poll(one) == 0) {
                if (context.nanoClock().nanoTime() - deadlineNs > 0) {
                    throw new StoreException("no reply to HELLO within the time limit of a connect");
                }
                context.idleStrategy().idle();
                continue;
            }
            if (!one[0].isSuccess()) {
                throw new StoreException("the connection has ended before the server's HELLO: " + one[0].status());
            }
            W read = reader.apply(one[0]);
            sent |= read == null;
            welcome = read == null ? welcome : read;
        }
        return welcome;
    }

    /**
     * Refuses a server whose pairs have other lengths than the client's.
     *
     * @throws StoreException if they do
     */
    public static void requireLengths(StoreClientContext context, int maxKeyLength, int maxValueLength) {
        if (maxKeyLength != context.maxKeyLength() || maxValueLength != context.maxValueLength()) {
            throw new StoreException("the server has maxKeyLength=" + maxKeyLength + ", maxValueLength="
                    + maxValueLength + ", the client " + context.maxKeyLength() + ", " + context.maxValueLength()
                    + ": they must be the same");
        }
    }

    /**
     * Refuses a request that was not taken.
     *
     * @throws IllegalStateException if it was not
     */
    public static void requireAccepted(PostStatus status) {
        if (status != PostStatus.ACCEPTED) {
            throw new IllegalStateException(status + ": a queue has room for every request");
        }
    }
}
