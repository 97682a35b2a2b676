package org.softrdma.kv.server.netty;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.AdaptiveRecvByteBufAllocator;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.util.UncheckedBooleanSupplier;
import org.softrdma.kv.server.host.InputBudget;

/** Netty's sizes of buffers for input, unless its budget is used up. Any thread. */
final class InputBuffers implements RecvByteBufAllocator {
    /** As Netty's own default for sockets. */
    private static final int MOST_BUFFERS_PER_READ = 16;

    private final RecvByteBufAllocator buffers =
            new AdaptiveRecvByteBufAllocator().maxMessagesPerRead(MOST_BUFFERS_PER_READ);
    private final InputBudget budget;

    /**
     * For all connections of a port.
     *
     * @param budget of them
     */
    InputBuffers(InputBudget budget) {
        this.budget = budget;
    }

    /** Netty's channels want the extension; the interface still names {@code Handle}, which is deprecated for it. */
    @Override
    public ExtendedHandle newHandle() {
        return new Sizing((ExtendedHandle) buffers.newHandle());
    }

    private final class Sizing extends DelegatingHandle implements ExtendedHandle {
        private final ExtendedHandle adaptive;

        Sizing(ExtendedHandle adaptive) {
            super(adaptive);
            this.adaptive = adaptive;
        }

        @Override
        public int guess() {
            int size = adaptive.guess();
            return budget.isShort() ? Math.min(size, InputBudget.SMALL_BYTES) : size;
        }

        @Override
        public ByteBuf allocate(ByteBufAllocator allocator) {
            return budget.isShort() ? allocator.ioBuffer(guess()) : adaptive.allocate(allocator);
        }

        @Override
        public boolean continueReading(UncheckedBooleanSupplier maybeMore) {
            return adaptive.continueReading(maybeMore);
        }
    }
}
