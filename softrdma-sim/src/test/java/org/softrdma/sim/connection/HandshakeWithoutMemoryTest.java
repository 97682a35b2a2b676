package org.softrdma.sim.connection;

import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.ArgumentMatchers.eq;
import static org.mockito.Mockito.RETURNS_DEEP_STUBS;
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.doThrow;
import static org.mockito.Mockito.inOrder;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.mockito.InOrder;
import org.softrdma.sim.engine.Counter;
import org.softrdma.sim.engine.Counters;
import org.softrdma.sim.engine.RnicEngine;
import org.softrdma.sim.link.QueuePairEnd;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.cm.ConnectionParameters;

/** Whoever waits for a handshake hears that it is over, though there is no memory for the reason. */
class HandshakeWithoutMemoryTest {
    private static final InetSocketAddress REMOTE = new InetSocketAddress(InetAddress.getLoopbackAddress(), 1);

    private final OutOfMemoryError noMemory = new OutOfMemoryError("injected");
    private final RnicEngine engine = mock(RnicEngine.class, RETURNS_DEEP_STUBS);
    private final Connection connection = mock(Connection.class);
    private final QueuePairEnd pair = mock(QueuePairEnd.class);

    HandshakeWithoutMemoryTest() {
        Counters<Counter> counters = new Counters<>(Counter.values(), Counter::label);
        when(engine.counters()).thenReturn(counters);
        when(connection.engine()).thenReturn(engine);
        when(connection.settings())
                .thenReturn(new IwarpSettings(IwarpSettings.LARGEST_PAYLOAD, 4096, 262_144, true, false, 2, 0));
    }

    @Test
    void shouldEndTheConnectWhenItsStreamEnds() {
        doThrow(noMemory).when(pair).enterError(any(), anyLong(), any(), anyInt());
        ActiveHandshake handshake = new ActiveHandshake(connection, pair, REMOTE, ConnectionParameters.DEFAULT);
        CompletableFuture<byte[]> result = handshake.start();

        assertThrows(OutOfMemoryError.class, () -> handshake.streamEnded("a test's"));

        assertTrue(handshake.isDone());
        assertSame(ActiveHandshake.FAILED, result.getNow(new byte[1]));
    }

    @Test
    void shouldBelongToTheConnectionBeforeAnythingCanFail() {
        doAnswer(call -> {
                    call.<Runnable>getArgument(0).run();
                    return null;
                })
                .when(connection)
                .execute(any());
        when(pair.isInError()).thenThrow(noMemory);
        ActiveHandshake handshake = new ActiveHandshake(connection, pair, REMOTE, ConnectionParameters.DEFAULT);

        assertThrows(OutOfMemoryError.class, handshake::start);

        InOrder order = inOrder(connection, pair);
        order.verify(connection).attach(handshake);
        order.verify(pair).isInError();
    }

    @Test
    void shouldFlushAnAcceptedQueuePairBeforeItSaysWhatBroke() {
        when(connection.isInHandshake()).thenReturn(true);
        when(engine.submit(any())).thenAnswer(call -> {
            call.<RnicEngine.Task>getArgument(0).run();
            return new CompletableFuture<Void>();
        });
        PassiveHandshake handshake = new PassiveHandshake(connection, ignored -> {}, () -> {});

        assertThrows(RuntimeException.class, () -> handshake.accept(pair, ConnectionParameters.DEFAULT));

        InOrder order = inOrder(connection, pair);
        order.verify(connection).broken(any());
        order.verify(pair).enterError(eq(ConnectionLifecycle.FAULT), eq(-1L), eq(CompletionStatus.FLUSHED), eq(0));
    }
}
