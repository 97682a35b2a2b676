package org.softrdma.fabric;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.times;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.softrdma.fabric.fault.Fault;
import org.softrdma.fabric.fault.FaultPlan;
import org.softrdma.fabric.fault.What;
import org.softrdma.fabric.fault.When;
import org.softrdma.fabric.memory.GrainCopier;
import org.softrdma.fabric.memory.Grains;
import org.softrdma.fabric.memory.RegisteredRanges;
import org.softrdma.fabric.memory.VirtualAddresses;
import org.softrdma.fabric.network.Inspector;
import org.softrdma.fabric.network.Network;
import org.softrdma.fabric.network.NetworkSettings;
import org.softrdma.fabric.scheduler.Choices;
import org.softrdma.fabric.scheduler.Scheduler;
import org.softrdma.sim.roce.wire.PacketKind;
import org.softrdma.sim.wire.MessageKind;

/** When faults happen, and how often. */
class FaultInjectorTest {
    private final Scheduler scheduler = new Scheduler(new Choices(1), Scheduler.Limits.DEFAULT);
    private final Network network = new Network(
            scheduler,
            NetworkSettings.DEFAULT,
            new GrainCopier(scheduler, new RegisteredRanges(scheduler, new VirtualAddresses()), Grains.NONE));
    private final Inspector.Passage passage = mock(Inspector.Passage.class);

    @Test
    void shouldHappenAsOftenAsThePlanSaysWhateverOccasionsAreNotTaken() {
        When when = new When.OnMessage(When.ANY, When.ANY, MessageKind.WRITE, 0);
        FaultPlan plan = FaultPlan.NONE.and(new Fault(when, new What.Reset(), 500, 3));
        FaultInjector injector = new FaultInjector(scheduler, network, plan);

        for (int number = 1; number <= 1000; number++) {
            injector.begun(passage, new Inspector.Message(MessageKind.WRITE, number, OptionalLong.empty()));
        }

        verify(passage, times(3)).reset();
    }

    @Test
    void shouldLoseRepeatAndDelayTheDatagramsThatThePlanNames() {
        FaultPlan plan = FaultPlan.NONE
                .and(new When.OnDatagram(When.ANY, When.ANY, 2), new What.Lose())
                .and(new When.OnDatagram(When.ANY, When.ANY, 3), new What.Repeat())
                .and(new When.OnDatagram(When.ANY, When.ANY, 4), new What.Delay(5));
        FaultInjector injector = new FaultInjector(scheduler, network, plan);
        List<Inspector.DatagramPassage> datagrams = new ArrayList<>();
        for (int number = 1; number <= 4; number++) {
            datagrams.add(mock(Inspector.DatagramPassage.class));
            injector.sent(datagrams.getLast(), number);
        }

        verify(datagrams.get(0), never()).lose();
        verify(datagrams.get(1)).lose();
        verify(datagrams.get(2)).repeat();
        verify(datagrams.get(3)).delay(5);
    }

    @Test
    void shouldLoseThePacketThatThePlanNamesByKindAndNumber() {
        FaultPlan plan =
                FaultPlan.NONE.and(new When.OnPacket(When.ANY, When.ANY, PacketKind.READ_RESPONSE, 2), new What.Lose());
        FaultInjector injector = new FaultInjector(scheduler, network, plan);
        List<Optional<Inspector.Packet>> packets = List.of(
                Optional.empty(),
                Optional.of(new Inspector.Packet(PacketKind.READ_RESPONSE, 1)),
                Optional.of(new Inspector.Packet(PacketKind.ACKNOWLEDGEMENT, 2)),
                Optional.of(new Inspector.Packet(PacketKind.READ_RESPONSE, 2)));
        List<Inspector.DatagramPassage> datagrams = new ArrayList<>();
        for (Optional<Inspector.Packet> packet : packets) {
            datagrams.add(mock(Inspector.DatagramPassage.class));
            when(datagrams.getLast().packet()).thenReturn(packet);
            injector.sent(datagrams.getLast(), datagrams.size());
        }

        for (Inspector.DatagramPassage other : datagrams.subList(0, 3)) {
            verify(other, never()).lose();
        }
        verify(datagrams.getLast()).lose();
    }

    @Test
    void shouldRefuseWhatDoesNotHappenToDatagrams() {
        When when = new When.OnDatagram(When.ANY, When.ANY, 0);

        assertThrows(IllegalArgumentException.class, () -> new Fault(when, new What.Corrupt(1), 1000, 1));
        assertThrows(IllegalArgumentException.class, () -> new Fault(new When.AtTime(0), new What.Lose(), 1000, 1));
    }

    @Test
    void shouldAskForEachPlaceOnce() {
        FaultPlan plan = FaultPlan.NONE
                .and(new Fault(new When.AfterBytes(When.ANY, When.ANY, 5), new What.Reset(), 1000, 9))
                .and(new Fault(new When.AfterBytes(When.ANY, When.ANY, 9), new What.Reset(), 1000, 9));
        FaultInjector injector = new FaultInjector(scheduler, network, plan);

        assertEquals(5, injector.next(passage, 0));
        assertEquals(5, injector.next(passage, 5));
        assertEquals(9, injector.next(passage, 6));
        assertEquals(Long.MAX_VALUE, injector.next(passage, 10));
    }
}
