package org.softrdma.kv.server.netty;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.AdaptiveRecvByteBufAllocator;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.util.UncheckedBooleanSupplier;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Limits the memory of input that has come and waits, because its connection has stopped in the middle of it. While the
 * budget is used up, every connection receives into small buffers: it is served, however many others wait. Any thread.
 */
public final class InputBudget implements RecvByteBufAllocator {
    /** The part of the network's buffers that waiting input may take; as much as waiting output. */
    private static final int SHARE = 4;

    private static final int SMALL_BYTES = 4096;

    /** As Netty's own default for sockets. */
    private static final int MOST_BUFFERS_PER_READ = 16;

    private final AtomicLong waiting = new AtomicLong();
    private final RecvByteBufAllocator buffers =
            new AdaptiveRecvByteBufAllocator().maxMessagesPerRead(MOST_BUFFERS_PER_READ);
    private final long limit;

    /**
     * Nothing waits yet.
     *
     * @param bufferBytes of the network, for input and output of all connections
     */
    public InputBudget(long bufferBytes) {
        this.limit = bufferBytes / SHARE;
    }

    /** A buffer of input will not be used up at once. */
    public void waits(ByteBuf input) {
        waiting.addAndGet(input.capacity());
    }

    /** A buffer that waited is used up. */
    public void ended(ByteBuf input) {
        waiting.addAndGet(-input.capacity());
    }

    /** True while it is used up. */
    public boolean isShort() {
        return waiting.get() > limit;
    }

    /** Netty's channels want the extension; the interface still names {@code Handle}, which is deprecated for it. */
    @Override
    public ExtendedHandle newHandle() {
        return new Sizing((ExtendedHandle) buffers.newHandle());
    }

    /** Netty's sizes, unless the budget is used up. */
    private final class Sizing extends DelegatingHandle implements ExtendedHandle {
        private final ExtendedHandle adaptive;

        Sizing(ExtendedHandle adaptive) {
            super(adaptive);
            this.adaptive = adaptive;
        }

        @Override
        public int guess() {
            int size = adaptive.guess();
            return isShort() ? Math.min(size, SMALL_BYTES) : size;
        }

        @Override
        public ByteBuf allocate(ByteBufAllocator allocator) {
            return isShort() ? allocator.ioBuffer(guess()) : adaptive.allocate(allocator);
        }

        @Override
        public boolean continueReading(UncheckedBooleanSupplier maybeMore) {
            return adaptive.continueReading(maybeMore);
        }
    }
}
