package org.softrdma.net.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.mockito.Mockito.mock;

import io.netty.channel.IoEvent;
import io.netty.channel.IoHandle;
import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerContext;
import io.netty.channel.IoRegistration;
import io.netty.util.concurrent.ThreadAwareExecutor;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayDeque;
import java.util.Deque;
import org.junit.jupiter.api.Test;

/** An Error in Netty's or the JDK's part of a look at all sockets ends nothing, and no event of that look stays untold. */
class EnduringIoHandlerTest {
    /** What it throws next; then one event is handled in each run. */
    private final Deque<Throwable> failures = new ArrayDeque<>();

    private final IoHandler handler =
            EnduringIoHandler.around(executor -> new Inner()).newHandler(mock(ThreadAwareExecutor.class));

    private final IoHandlerContext context = mock(IoHandlerContext.class);

    private final class Inner implements IoHandler {
        @Override
        public int run(IoHandlerContext ignored) {
            Throwable failure = failures.pollFirst();
            if (failure instanceof Error error) {
                throw error;
            }
            if (failure instanceof RuntimeException exception) {
                throw exception;
            }
            return 1;
        }

        @Override
        public IoRegistration register(IoHandle handle) {
            return mock(IoRegistration.class);
        }

        @Override
        public void wakeup() {}

        @Override
        public boolean isCompatible(Class<? extends IoHandle> type) {
            return true;
        }
    }

    private static final class Asked implements IoHandle, EnduringIoHandler.EdgeTriggered {
        private int rearmed;
        private boolean closed;

        @Override
        public void rearm() {
            rearmed++;
        }

        @Override
        public boolean isClosed() {
            return closed;
        }

        @Override
        public void handle(IoRegistration registration, IoEvent event) {}

        @Override
        public void close() {
            closed = true;
        }
    }

    private void register(Asked socket) throws Exception {
        IoRegistration ignored = handler.register(socket);
    }

    @Test
    void shouldAskEverySocketAgainAfterALookThatFailed() throws Exception {
        Asked one = new Asked();
        Asked other = new Asked();
        register(one);
        register(other);
        failures.add(new OutOfMemoryError("injected"));

        assertEquals(0, handler.run(context));
        assertEquals(0, one.rearmed);
        assertEquals(1, handler.run(context));
        assertEquals(1, handler.run(context));

        assertEquals(1, one.rearmed);
        assertEquals(1, other.rearmed);
    }

    @Test
    void shouldForgetSocketsThatAreClosed() throws Exception {
        Asked first = new Asked();
        register(first);
        first.close();
        for (int i = 0; i < 1000; i++) {
            register(new Asked());
        }
        failures.add(new OutOfMemoryError("injected"));

        assertEquals(0, handler.run(context));
        assertEquals(1, handler.run(context));

        assertEquals(0, first.rearmed);
    }

    @Test
    void shouldEndWithAHandlerThatIsBroken() {
        failures.add(new UncheckedIOException(new IOException("injected")));

        assertThrows(UncheckedIOException.class, () -> handler.run(context));
    }
}
