package org.softrdma.sim.connection;

import java.util.List;
import java.util.random.RandomGenerator;
import org.softrdma.sim.engine.RnicEngine;
import org.softrdma.sim.link.QueuePairNumbers;
import org.softrdma.sim.link.Wire;

/**
 * Makes iWARP over TCP.
 *
 * @param settings of the wire
 */
public record IwarpFactory(IwarpSettings settings) implements Wire.Factory {
    private static final List<String> INITIALISED = List.of(
            "sim.carrier.MpaOutbound",
            "sim.connection.ActiveHandshake",
            "sim.connection.Connection$1",
            "sim.connection.Connection$Cause",
            "sim.connection.ConnectionLifecycle",
            "sim.connection.ConnectionLifecycle$State",
            "sim.connection.IwarpListener",
            "sim.connection.PassiveHandshake",
            "sim.connection.PeerHost",
            "sim.connection.StreamObserver",
            "sim.rdmap.AccessCauses$1",
            "sim.rdmap.Added",
            "sim.rdmap.InboundReadQueue",
            "sim.rdmap.Incoming$1",
            "sim.rdmap.Outgoing$1",
            "sim.wire.MpaFrame",
            "sim.wire.Terminate",
            "sim.wire.TerminateCause");

    @Override
    public Wire open(List<RnicEngine> engines, RandomGenerator random, QueuePairNumbers numbers) {
        return new IwarpWire(settings, engines);
    }

    @Override
    public List<String> initialised() {
        return INITIALISED;
    }
}
