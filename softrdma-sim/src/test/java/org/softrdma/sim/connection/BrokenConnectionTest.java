package org.softrdma.sim.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.ArgumentMatchers.eq;
import static org.mockito.Mockito.RETURNS_DEEP_STUBS;
import static org.mockito.Mockito.doThrow;
import static org.mockito.Mockito.inOrder;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.times;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import java.io.IOException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.mockito.InOrder;
import org.softrdma.net.transport.StreamSocket;
import org.softrdma.sim.carrier.StreamBuffers;
import org.softrdma.sim.engine.Counter;
import org.softrdma.sim.engine.Counters;
import org.softrdma.sim.engine.DrivenConnection;
import org.softrdma.sim.engine.RnicEngine;
import org.softrdma.sim.link.QueuePairEnd;
import org.softrdma.verbs.CompletionStatus;

/** A connection that breaks ends first and tells then, and what fails in telling does not matter. */
class BrokenConnectionTest {
    private final OutOfMemoryError noMemory = new OutOfMemoryError("injected");

    private final RnicEngine engine = mock(RnicEngine.class, RETURNS_DEEP_STUBS);
    private final StreamSocket stream = mock(StreamSocket.class);
    private final QueuePairEnd pair = mock(QueuePairEnd.class);
    private final Handshake handshake = mock(Handshake.class);
    private final EstablishedStream established = mock(EstablishedStream.class, RETURNS_DEEP_STUBS);
    private final ConnectionSocket socket = new ConnectionSocket(mock(StreamBuffers.class));
    private final ConnectionLifecycle life = new ConnectionLifecycle(engine, mock(DrivenConnection.class), socket);

    @BeforeEach
    void setUp() {
        Counters<Counter> counters = new Counters<>(Counter.values(), Counter::label);
        when(engine.counters()).thenReturn(counters);
        socket.attach(stream);
        life.attach(pair);
    }

    private void verifyFlushed() {
        verify(pair).enterError(any(), eq(-1L), eq(CompletionStatus.FLUSHED), anyInt());
    }

    @Test
    void shouldFlushAndCloseAndThenTell() {
        life.begin(established);

        life.broken(noMemory);

        InOrder order = inOrder(pair, stream);
        order.verify(pair).enterError(any(), eq(-1L), eq(CompletionStatus.FLUSHED), anyInt());
        order.verify(stream).close();
        order.verify(pair).faulted();
        assertEquals(ConnectionLifecycle.State.CLOSED, life.state());
    }

    @Test
    void shouldEndThoughItsFaultCannotBeCounted() {
        life.begin(established);
        when(engine.counters()).thenThrow(noMemory);

        life.broken(noMemory);

        verify(pair).enterError(any(), eq(-1L), eq(CompletionStatus.FLUSHED), anyInt());
        verify(stream).close();
    }

    @Test
    void shouldEndThoughTellingFails() {
        life.begin(established);
        doThrow(noMemory).when(pair).faulted();

        life.broken(noMemory);

        verifyFlushed();
        verify(stream).close();
    }

    @Test
    void shouldFlushAndCloseThoughTheStreamCannotBeAbandoned() {
        life.begin(established);
        doThrow(noMemory).when(established).abandonRequests();
        doThrow(noMemory).when(established).discardUnsent();

        life.broken(noMemory);

        verifyFlushed();
        verify(pair).flush();
        verify(stream).close();
    }

    @Test
    void shouldEndTheHandshakeThoughThereIsNoMemoryForItsReason() {
        life.attach(handshake);
        doThrow(noMemory).doNothing().when(handshake).failed(any());

        life.broken(new IllegalStateException("a bug"));

        verify(handshake, times(2)).failed(any(IOException.class));
        verify(stream).close();
    }

    @Test
    void shouldEndTheHandshakeThoughTheQueuePairCannotBeFlushed() {
        life.attach(handshake);
        doThrow(noMemory).doNothing().when(handshake).failed(any());
        doThrow(noMemory).when(pair).enterError(any(), anyLong(), any(), anyInt());

        life.broken(noMemory);

        verify(handshake, times(2)).failed(any(IOException.class));
        verify(stream).close();
    }
}
