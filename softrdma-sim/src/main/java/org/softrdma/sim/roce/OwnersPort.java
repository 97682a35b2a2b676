package org.softrdma.sim.roce;

import java.net.InetSocketAddress;
import org.softrdma.net.transport.EventLoop;
import org.softrdma.sim.link.QueuePairNumbers;
import org.softrdma.sim.roce.cm.CmPort;
import org.softrdma.sim.roce.cm.CommunicationManager;

/**
 * A port's connection manager for the owner of the device.
 *
 * @param ports of the engine
 * @param port of these
 * @param numbers of the device's queue pairs
 */
record OwnersPort(RocePorts ports, RocePort port, QueuePairNumbers numbers) implements CmPort {
    @Override
    public InetSocketAddress localAddress() {
        return port.localAddress();
    }

    @Override
    public CommunicationManager manager() {
        return port.manager();
    }

    @Override
    public void send() {
        port.turn();
    }

    @Override
    public long nowNs() {
        return port.nowNs();
    }

    @Override
    public int transferUnit() {
        return ports.transferUnit(localAddress().getAddress());
    }

    @Override
    public int heldPackets() {
        return port.heldPackets(transferUnit());
    }

    @Override
    public void keep(int queuePair) {
        numbers.keep(queuePair);
    }

    @Override
    public void forget(int queuePair) {
        numbers.giveBack(queuePair);
    }

    @Override
    public Runnable later(Runnable task, long delayNs) {
        EventLoop.Cancellable scheduled =
                ports.engine().schedule(ports.engine().loop().careful(task), delayNs);
        return scheduled::cancel;
    }
}
