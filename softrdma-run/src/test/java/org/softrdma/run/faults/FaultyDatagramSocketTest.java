package org.softrdma.run.faults;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.softrdma.fabric.fault.FaultPlan;
import org.softrdma.fabric.fault.What;
import org.softrdma.fabric.fault.When;
import org.softrdma.net.memory.NativeMemory;
import org.softrdma.net.transport.DatagramBatch;
import org.softrdma.net.transport.DatagramSocket;
import org.softrdma.net.transport.EventLoop;

/** Datagrams of one byte on a network that loses, doubles and delays them. */
class FaultyDatagramSocketTest {
    private static final InetSocketAddress HERE = new InetSocketAddress(InetAddress.ofLiteral("10.0.0.1"), 4791);
    private static final InetSocketAddress THERE = new InetSocketAddress(InetAddress.ofLiteral("10.0.0.2"), 4791);

    private final DatagramSocket socket = mock(DatagramSocket.class);
    private final EventLoop loop = mock(EventLoop.class);
    private final List<Byte> sent = new ArrayList<>();
    private final List<Runnable> later = new ArrayList<>();
    private final List<Byte> arriving = new ArrayList<>();
    private final MemorySegment memory = Arena.ofAuto().allocate(64);
    private final Set<InetSocketAddress> own = new HashSet<>();
    private int ready;
    private int room = Integer.MAX_VALUE;

    @BeforeEach
    void script() throws IOException {
        when(socket.localAddress()).thenReturn(HERE);
        when(socket.send(any(), anyInt(), anyInt())).thenAnswer(call -> {
            DatagramBatch batch = call.getArgument(0);
            if (room == 0) {
                return 0;
            }
            room--;
            sent.add(NativeMemory.getByte(batch.address(call.getArgument(1))));
            return 1;
        });
        when(loop.schedule(any(), anyLong(), any())).thenAnswer(call -> {
            later.add(call.getArgument(0));
            return (EventLoop.Cancellable) () -> {};
        });
    }

    private FaultyDatagramSocket faulty(FaultPlan plan) {
        CardFaults faults = CardFaults.of(plan, false, 1, line -> {}, () -> 0);
        return new FaultyDatagramSocket(socket, writable -> ready++, loop, faults, own);
    }

    /** Loses the first one of a direction, doubles the second, and delays the third. */
    private static FaultPlan plan(String from, String to) {
        return FaultPlan.NONE
                .and(new When.OnDatagram(from, to, 1), new What.Lose())
                .and(new When.OnDatagram(from, to, 2), new What.Repeat())
                .and(new When.OnDatagram(from, to, 3), new What.Delay(5));
    }

    private DatagramBatch datagrams(int count) {
        DatagramBatch batch = new DatagramBatch(count);
        for (int i = 0; i < count; i++) {
            memory.set(ValueLayout.JAVA_BYTE, i, (byte) (i + 1));
            batch.add(memory.address() + i, 1, THERE);
        }
        return batch;
    }

    private void runLater() {
        List.copyOf(later).forEach(Runnable::run);
        later.clear();
    }

    @Test
    void shouldLoseDoubleAndDelayWhatIsSent() throws IOException {
        FaultyDatagramSocket faulty = faulty(plan("10.0.0.1", "10.0.0.2"));
        assertEquals(1, faulty.maxSegments());
        assertEquals(4, faulty.send(datagrams(4), 0, 4));
        assertEquals(List.of((byte) 2, (byte) 2, (byte) 4), sent);
        memory.fill((byte) 9); // whoever sends uses the memory again
        runLater();
        assertEquals((byte) 3, sent.getLast());
    }

    @Test
    void shouldHaveOneOccasionForADatagramThatWaitsForRoom() throws IOException {
        FaultyDatagramSocket faulty = faulty(FaultPlan.NONE.and(new When.OnDatagram("*", "*", 2), new What.Lose()));
        room = 0;
        assertEquals(0, faulty.send(datagrams(2), 0, 2));
        room = 1;
        assertEquals(2, faulty.send(datagrams(2), 0, 2));
        assertEquals(List.of((byte) 1), sent);
    }

    private List<Byte> receive(FaultyDatagramSocket faulty, InetSocketAddress from) throws IOException {
        when(socket.receive(any())).thenAnswer(call -> {
            DatagramBatch batch = call.getArgument(0);
            int count = arriving.size();
            if (count > 0) { // a train of all
                for (int i = 0; i < count; i++) {
                    NativeMemory.putByte(batch.address(0) + i, arriving.get(i));
                }
                batch.received(0, count, 1, 0).set(from);
                arriving.clear();
                return 1;
            }
            return 0;
        });
        DatagramBatch batch = new DatagramBatch(4);
        for (int i = 0; i < 4; i++) {
            batch.addBuffer(memory.address() + 8L * i, 8);
        }
        int received = faulty.receive(batch);
        List<Byte> all = new ArrayList<>();
        for (int i = 0; i < received; i++) {
            assertEquals(from, batch.peer(i).toSocketAddress());
            for (int at = 0; at < batch.length(i); at++) {
                all.add(memory.get(ValueLayout.JAVA_BYTE, 8L * i + at));
            }
        }
        return all;
    }

    @Test
    void shouldLoseDoubleAndDelayWhatComesFromElsewhere() throws IOException {
        FaultyDatagramSocket faulty = faulty(plan("10.0.0.2", "10.0.0.1"));
        arriving.addAll(List.of((byte) 1, (byte) 2, (byte) 3, (byte) 4));
        assertEquals(List.of((byte) 2, (byte) 4), receive(faulty, THERE));
        runLater();
        assertEquals(2, ready);
        assertEquals(List.of((byte) 2, (byte) 3), receive(faulty, THERE));
    }

    /** It had its occasion when it was sent. */
    @Test
    void shouldLeaveAloneWhatComesFromThisNetwork() throws IOException {
        FaultyDatagramSocket faulty = faulty(plan("*", "*"));
        arriving.addAll(List.of((byte) 1, (byte) 2));
        assertEquals(List.of((byte) 1, (byte) 2), receive(faulty, HERE));
    }
}
