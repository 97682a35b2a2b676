package org.softrdma.run.card;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;
import org.softrdma.run.kernel.CallRefusedException;
import org.softrdma.sim.device.SoftRdmaDevice;
import org.softrdma.sim.roce.wire.NumberedPort;
import org.softrdma.verbs.AddressHandle;
import org.softrdma.verbs.ProtectionDomain;

/**
 * A program's address handle: from an address of this host to another host. Which UDP port a datagram goes to, the number of the queue
 * pair there says ({@link NumberedPort}), so the card has a handle for each port that was sent to.
 */
public final class CardAddress {
    private final SoftRdmaDevice device;
    private final ProtectionDomain domain;
    private final InetAddress local;
    private final InetAddress remote;
    /** By the ports' indexes; as long as is needed for the last one. */
    private @Nullable AddressHandle[] handles = {};

    CardAddress(SoftRdmaDevice device, ProtectionDomain domain, InetAddress local, InetAddress remote)
            throws CallRefusedException {
        this.device = device;
        this.domain = domain;
        this.local = local;
        this.remote = remote;
        AddressHandle ignored = towards(0);
    }

    /** The handle by which datagrams to a queue pair go. */
    AddressHandle towards(int pair) throws CallRefusedException {
        int index = NumberedPort.index(pair);
        AddressHandle known = index < handles.length ? handles[index] : null;
        return known == null ? open(index) : known;
    }

    private AddressHandle open(int index) throws CallRefusedException {
        @Nullable AddressHandle[] more = new AddressHandle[Math.max(handles.length, index + 1)];
        System.arraycopy(handles, 0, more, 0, handles.length);
        AddressHandle opened = CardErrors.of(
                () -> device.createAddressHandle(domain, local, new InetSocketAddress(remote, NumberedPort.at(index))));
        more[index] = opened;
        handles = more;
        return opened;
    }

    /** Takes it away. */
    public void close() {
        for (AddressHandle each : handles) {
            if (each != null) {
                each.close();
            }
        }
    }
}
