package org.softrdma.sim.roce;

import java.util.List;
import java.util.random.RandomGenerator;
import org.softrdma.sim.engine.RnicEngine;
import org.softrdma.sim.link.QueuePairNumbers;
import org.softrdma.sim.link.Wire;
import org.softrdma.sim.roce.cm.CommunicationManager;

/**
 * Makes RoCEv2 over UDP.
 *
 * @param settings of the wire
 */
public record RoceFactory(RoceSettings settings) implements Wire.Factory {
    private static final List<String> INITIALISED = List.of(
            "sim.device.UnconnectedSoftQueuePair",
            "sim.roce.AddressedQueuePair$1",
            "sim.roce.PassiveConnect",
            "sim.roce.RoceAgreement$1",
            "sim.roce.RoceConnection",
            "sim.roce.RocePorts$1",
            "sim.roce.RoceConnection$State",
            "sim.roce.UnreliableEnd",
            "sim.roce.cm.CmConnection$2",
            "sim.roce.cm.CmState",
            "sim.roce.rc.AnswerQueue$Kind",
            "sim.roce.rc.CongestionWindow",
            "sim.roce.rc.MessageOpcodes$1",
            "sim.roce.rc.Responder$Message",
            "sim.roce.unreliable.Drop",
            "sim.roce.unreliable.UnreliableResponder$Message",
            "sim.roce.wire.Bth",
            "sim.roce.wire.PacketCheck",
            "sim.roce.wire.PrivateData",
            "sim.roce.wire.RoceOpcode");

    @Override
    public Wire open(List<RnicEngine> engines, RandomGenerator random, QueuePairNumbers numbers) {
        CommunicationManager.prepare();
        return new RoceWire(settings, engines, random, numbers);
    }

    @Override
    public List<String> initialised() {
        return INITIALISED;
    }
}
